package locks

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
)

// manyBehind is how many tasks, one behind the other, must stand behind suspended code to be a finding, and how many waiters that no code
// awaits. A few of both are normal.
const manyBehind = 1000

// chained describes suspended code that waits for a promise and has a long chain of tasks behind it, each the continuation of the one
// before, as in a queue made of ContinueWith.
func (g *grapher) chained(groups []*waiters) []answer.Verdict {
	var out []answer.Verdict
	for _, w := range groups {
		for _, op := range w.ops {
			if op.behind < manyBehind || op.thing.cause != tasks.CausePromise || !op.own {
				continue
			}
			v := answer.Conclude(answer.FindingPromises, words.ChainBehind.Of(words.N(op.behind), words.MethodObject.Of(words.Method(op.method.String()), words.Object(op.box)), g.thingText(op.thing)),
				answer.StrengthRecorded, words.ContinueEachOther.Of())
			v.Count, v.Show = op.behind, []string{"dumpasync -address " + addressText(op.box)}
			v.Sites = []answer.Site{{Method: op.method, Does: string(op.thing.kind), Count: op.behind}}
			out = append(out, v)
		}
	}
	return out
}

// abandonedWaiters describes the semaphores without permits with many waiters that no code awaits: each permit that is given back goes to one of
// them and is lost.
func (g *grapher) abandonedWaiters() []answer.Verdict {
	var out []answer.Verdict
	for _, l := range g.s.locks {
		n := 0
		for i := range l.Async {
			if l.Async[i].Abandoned {
				n++
			}
		}
		if n < manyBehind {
			continue
		}
		v := answer.Conclude(answer.FindingPermits, words.AbandonedWaiters.Of(words.N(n), g.lockText(l), l.Counts), answer.StrengthLikely, words.WithoutContinuation.Of())
		v.Count, v.Severity, v.Show = n, answer.SeverityWarning, []string{"dumpobj " + addressText(l.Address), "locks"}
		v.Thing, v.Class = g.lockText(l).Text, g.s.classes[l.Address]
		out = append(out, v)
	}
	return out
}
