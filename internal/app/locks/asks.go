package locks

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// asks reports whether a holder waits for another process or a device: a server, a socket, a pipe, a child process.
func (g *grapher) asks(h *holder) bool {
	if t := h.thread; t != nil {
		if w := g.of[t]; w != nil {
			return w.remote != "" || w.outside != nil
		}
		if t.OS == nil || t.Managed == nil {
			return false
		}
		switch g.s.activityOf(t).Activity {
		case threads.ActivitySocket, threads.ActivityProcess:
			return true
		case threads.ActivityFile:
			return !g.s.transfers(t)
		}
		return false
	}
	op := g.s.standing[h.box]
	return op != nil && op.thing.cause == tasks.CauseStream
}

// answers returns the pace of a holder that asks. How long a call of HttpClient has waited may be known: it takes twice as long in all, unless it is late already.
func (g *grapher) answers(h *holder) pace {
	age, late, known := g.callAge(h)
	switch {
	case !known:
		return pace{asks: true}
	case age >= slowCall:
		return pace{}
	}
	return pace{moves: true, timed: true, turn: max(2*age, age+late)}
}

// manyTurns is how many turns at what asks others are no longer the usual moment of a lock, if nothing says how long one takes.
const manyTurns = 16

// askers judges a lock with as many holders that ask others, for which threads or operations wait. A few turns are normal, and nothing says how long each takes. Many turns are
// worth a warning, and that all requests of the process stand there.
func (g *grapher) askers(v *answer.Verdict, l *lock, waiting, holders int) (tells bool) {
	if waiting < manyTurns*max(holders, 1) && !g.allRequests(l) {
		return false
	}
	v.Severity, v.Statement = answer.SeverityWarning, v.Plus(words.NoAge.Of())
	return true
}

// fewRequests is how many requests may be all that a process serves at a moment.
const fewRequests = 5

// allRequests reports whether all requests that the process serves wait for a semaphore, or have entered it.
func (g *grapher) allRequests(l *lock) bool {
	in := map[*operation]bool{}
	if u := g.s.uses[l]; u != nil {
		for i := range u.holders {
			if op := g.s.standing[u.holders[i].box]; op != nil {
				in[op] = true
			}
		}
	}
	all := map[target.Addr]bool{} // one request may have several operations: it is known by the outermost method
	for _, op := range g.s.ops {
		if op.request == "" {
			continue
		}
		if op.thing.lock != l && !in[op] {
			return false
		}
		all[op.path[len(op.path)-1]] = true
	}
	return len(all) >= fewRequests
}
