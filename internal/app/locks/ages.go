package locks

import (
	"context"
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// slowCall is how long a call of HttpClient has waited that is no longer the usual moment of a server that answers, as for a silent dependency.
const slowCall = 5 * time.Second

// A moment is the time of the dump as far as it is known, in milliseconds since boot.
type moment struct {
	now ticks.Moment // the newest times that the process has noted: the dump may be later
	// late is how much later it can be: the first timer has not fired yet. Without known no timer limits it: a process that stands still notes no time, and a
	// pool that starves fires no timer.
	late  time.Duration
	known bool
}

// moment returns the time of the dump.
func (s *survey) moment() *moment {
	if s.taken == nil {
		list, now, err := threadpool.New(s.r.b, s.r.walker, s.r.threads, s.r.unread).TimersAt(s.ctx)
		if err != nil {
			list, now = &answer.Timers{}, ticks.Moment{Ticks: answer.Missing[int64](err)}
		}
		if s.pool == nil {
			_ = s.queued() // without an answer it is not known whether the pool starves
		}
		s.taken = momentOf(list, s.pool)
		s.taken.now = now
	}
	return s.taken
}

// momentOf returns how late the dump can be, by the timers and the pool that fires them. pool is nil if it can't be read.
func momentOf(list *answer.Timers, pool *answer.ThreadPool) *moment {
	m := &moment{}
	if pool != nil && !slices.ContainsFunc(pool.Verdicts, func(v answer.Verdict) bool { return v.Kind == answer.FindingStarved }) {
		m.late, m.known = clockLag(list)
	}
	return m
}

// Times for which nobody has got a lock though others wait. After longWait it does not move. After standWait it does not either, if several wait and the code of its
// holder does not leave it in a moment. Less than briefWait is usual.
const (
	longWait  = 5 * time.Second
	standWait = 2 * time.Second
	briefWait = time.Second
)

// A lockAge is for how long the first of those who wait for a lock has waited: none of them has got it since.
type lockAge struct {
	least time.Duration
	most  time.Duration // 0 if it is not known; of a Lock it may, rarely, be more
	known bool
}

// age returns the age of the waits for a monitor or a Lock. A Lock keeps the lower 16 bits of the time, so a wait of 65.6 seconds looks like one of 0.1
// seconds. That is rare.
func (s *survey) age(l *lock) (out lockAge) {
	if l == nil || l.since.Low == 0 || l.Waiters.Value == 0 {
		return out
	}
	m := s.moment()
	closely := m.known && m.now.Same // timers limit how much later the dump can be
	if m.now.Ticks.Err() != nil || !closely && l.since.Bits < 32 {
		return out
	}
	late := time.Duration(0)
	if closely {
		late = max(m.late, time.Millisecond)
	}
	least, ok := ticks.After(l.since.Low, l.since.Bits, m.now.Ticks.Value, late.Milliseconds())
	if !ok {
		return out
	}
	out.least, out.known = time.Duration(least)*time.Millisecond, true
	if closely {
		out.most = out.least + late
	}
	return out
}

// waited is age unless a collection may be under way, for which the program may have stood still all the time.
func (s *survey) waited(l *lock) lockAge {
	if s.paused {
		return lockAge{}
	}
	return s.age(l)
}

// callAge returns for how long a suspended method has waited for a server of HttpClient, and by how much more it can be. known is false if no timer limits that.
func (g *grapher) callAge(h *holder) (age, late time.Duration, known bool) {
	s := g.s
	if s.callAges == nil {
		s.callAges = map[target.Addr]time.Duration{}
		if s.readCalls != nil {
			s.callAges = s.readCalls()
		}
	}
	age, known = s.callAges[h.box]
	if known && age >= slowCall {
		return age, 0, true
	}
	m := s.moment()
	return age, m.late, known && m.known && age+m.late < slowCall // else it may be old
}

// callsOf returns for how long suspended code has waited for a server of HttpClient, by its boxes, as far as that can be read.
func callsOf(ctx context.Context, p *process.Process) map[target.Addr]time.Duration {
	list, err := web.HTTPClients(ctx, p, web.ClientOptions{Unnamed: true})
	if err != nil {
		return map[target.Addr]time.Duration{}
	}
	return callAges(list)
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

// callAges is callsOf for a list.
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
