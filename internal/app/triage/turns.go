package triage

import (
	"context"
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// patiently bounds the time after which all who wait for a semaphore have had their turns, as in package locks.
const patiently = 10 * time.Second

// answered reports whether a semaphore passes on as fast as a server answers: all that have entered it wait for servers of HttpClient, and have done so for so short a time that, if
// each call takes twice as long as the oldest of them, all who wait have had their turns soon.
func (q *Answers) answered(ctx context.Context, x *answer.Verdict) bool {
	if x.Kind != answer.FindingPermits || len(x.BehindMethods) == 0 {
		return false
	}
	late, known := q.clockLag(ctx)
	if !known {
		return false
	}
	ages, oldest := q.callAges(), time.Duration(0)
	for _, a := range x.BehindMethods {
		age, known := ages[a]
		if !known || age+late >= slowRequest {
			return false
		}
		oldest = max(oldest, age)
	}
	n := len(x.BehindMethods)
	turns := (len(x.Waiting) + n - 1) / n
	return time.Duration(turns)*max(2*oldest, oldest+late) <= patiently
}

// clockLag returns how much later than the newest time that the process has noted the dump can be: the first timer has not fired yet. known is false if no timer limits it, or
// the pool that fires them starves. Without such a limit an age is only a least one: a process that stands still notes no time.
func (q *Answers) clockLag(ctx context.Context) (late time.Duration, known bool) {
	if q.timers == nil || q.starved() {
		return 0, false
	}
	list, err := q.timers(ctx)
	if err != nil {
		return 0, false
	}
	for i := range list.Timers {
		due := list.Timers[i].DueIn
		if due.Err() != nil {
			continue
		}
		if d := max(milliseconds(due), 0); !known || d < late {
			late, known = d, true
		}
	}
	return late, known
}

// starved reports whether the thread pool starves, or can't be read.
func (q *Answers) starved() bool {
	p, err := q.ThreadPool.get()
	return err != nil || slices.ContainsFunc(p.Verdicts, func(x answer.Verdict) bool { return x.Kind == answer.FindingStarved })
}

// callAges returns for how long suspended code has waited for a server of HttpClient, by its boxes, as far as that is known.
func (q *Answers) callAges() map[target.Addr]time.Duration {
	out := map[target.Addr]time.Duration{}
	list, err := q.HTTPClients.get()
	if err != nil {
		return out
	}
	for i := range list.Pools {
		p := &list.Pools[i]
		for _, w := range slices.Concat(p.Waiting, p.Running) {
			if w.Stack == nil || w.Age.Err() != nil {
				continue
			}
			for k := range w.Stack.Frames {
				a := w.Stack.Frames[k].Object
				out[a] = max(out[a], milliseconds(w.Age))
			}
		}
	}
	return out
}
