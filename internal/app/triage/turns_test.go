package triage

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// TestAnswered: a semaphore passes on while the server of all that have entered it answers. An age is a least one, so a timer that has not fired must limit what the time of the
// dump may be.
func TestAnswered(t *testing.T) {
	ask := func(kind answer.FindingKind, waiting int, due []int64, starved bool, ages ...int64) bool {
		pool := answer.HTTPPool{}
		x := answer.Conclude(kind, words.Text("wait"), answer.StrengthLikely)
		for i, age := range ages {
			a := target.Addr(i + 1)
			x.BehindMethods = append(x.BehindMethods, a)
			w := answer.HTTPWait{Age: answer.Known(age), Stack: &answer.AsyncWork{Frames: []answer.AsyncFrame{{Object: a + 100}, {Object: a}}}}
			if age < 0 {
				w.Age = answer.Of[int64](0, target.ErrNotInDump)
			}
			pool.Running = append(pool.Running, w)
		}
		x.Waiting = make([]target.Addr, waiting)
		threads := &answer.ThreadPool{}
		if starved {
			threads.Verdicts = []answer.Verdict{answer.Conclude(answer.FindingStarved, words.Text("starved"), answer.StrengthLikely)}
		}
		q := &Answers{
			HTTPClients: Got(&answer.HTTPClients{Pools: []answer.HTTPPool{pool}}, nil),
			ThreadPool:  Got(threads, nil),
			timers: func(context.Context) (*answer.Timers, error) {
				out := &answer.Timers{}
				for _, ms := range due {
					out.Timers = append(out.Timers, answer.Timer{DueIn: answer.Known(ms)})
				}
				return out, nil
			},
		}
		return q.answered(t.Context(), &x)
	}
	second := time.Second.Milliseconds()
	soon := []int64{60 * second, second}
	assert.True(t, ask(answer.FindingPermits, 17, soon, false, 20, 0, 24))
	assert.True(t, ask(answer.FindingPermits, 17, []int64{-3}, false, 20), "a timer is late by some milliseconds")
	for name, not := range map[string]bool{
		"no call is known":         ask(answer.FindingPermits, 17, soon, false),
		"a deadlock":               ask(answer.FindingDeadlock, 17, soon, false, 20),
		"an age is not known":      ask(answer.FindingPermits, 17, soon, false, 20, -1),
		"a call is old":            ask(answer.FindingPermits, 17, soon, false, 20, 8*second),
		"it may be old":            ask(answer.FindingPermits, 17, []int64{13 * second}, false, 20),
		"no timer limits the time": ask(answer.FindingPermits, 17, nil, false, 20),
		"the pool fires no timers": ask(answer.FindingPermits, 17, soon, true, 20),
		"many wait for long calls": ask(answer.FindingPermits, 17, soon, false, 2*second),
		"too many wait for few":    ask(answer.FindingPermits, 600, soon, false, 20),
	} {
		assert.False(t, not, name)
	}
}
