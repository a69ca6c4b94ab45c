package locks

import (
	"context"
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// slowCall is how long a call of HttpClient has waited that is no longer the usual moment of a server that answers, as for a silent dependency.
const slowCall = 5 * time.Second

// serverCalls are the calls of HttpClient that wait for a server.
type serverCalls struct {
	ages map[target.Addr]time.Duration // by the suspended methods that await them, as far as that is known
	// late is how much later than the newest time that the process has noted the dump can be: the first timer has not fired yet. Without known no timer
	// limits it, and an age is only a least one: a process that stands still notes no time.
	late  time.Duration
	known bool
}

// callAge returns for how long a suspended method has waited for a server of HttpClient, and by how much more it can be. known is false if no timer limits that,
// or the pool that fires them starves.
func (g *grapher) callAge(h *holder) (age, late time.Duration, known bool) {
	s := g.s
	if s.asked == nil {
		s.asked = &serverCalls{}
		if s.readCalls != nil {
			s.asked = s.readCalls()
		}
		if s.pool == nil && s.queued() != nil || slices.ContainsFunc(s.pool.Verdicts, func(v answer.Verdict) bool { return v.Kind == answer.FindingStarved }) {
			s.asked.known = false
		}
	}
	age, known = s.asked.ages[h.box]
	if known && age >= slowCall {
		return age, 0, true
	}
	return age, s.asked.late, known && s.asked.known && age+s.asked.late < slowCall // else it may be old
}

// callsOf reads the calls of HttpClient. It returns none if they can't be read.
func callsOf(ctx context.Context, p *process.Process) *serverCalls {
	out := &serverCalls{}
	list, err := web.HTTPClients(ctx, p, web.ClientOptions{Unnamed: true})
	if err != nil {
		return out
	}
	out.ages = callAges(list)
	if timers, err := threadpool.Timers(ctx, p); err == nil {
		out.late, out.known = clockLag(timers)
	}
	return out
}

// clockLag returns in how long the first timer is due.
func clockLag(list *answer.Timers) (late time.Duration, known bool) {
	for i := range list.Timers {
		due := list.Timers[i].DueIn
		if due.Err() != nil {
			continue
		}
		if d := time.Duration(max(due.Value, 0)) * time.Millisecond; !known || d < late {
			late, known = d, true
		}
	}
	return late, known
}

// callAges returns for how long suspended code has waited for a server of HttpClient, by its boxes, as far as that is known.
func callAges(list *answer.HTTPClients) map[target.Addr]time.Duration {
	out := map[target.Addr]time.Duration{}
	for i := range list.Pools {
		p := &list.Pools[i]
		for _, w := range slices.Concat(p.Waiting, p.Running) {
			if w.Stack == nil || w.Age.Err() != nil {
				continue
			}
			for k := range w.Stack.Frames {
				a := w.Stack.Frames[k].Object
				out[a] = max(out[a], time.Duration(w.Age.Value)*time.Millisecond)
			}
		}
	}
	return out
}
