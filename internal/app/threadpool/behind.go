package threadpool

import (
	"slices"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// behindLocks judges a pool that looks starved by what its workers wait for. Workers that have not begun to wait for the lock that they enter run. If fewer
// than half of the workers wait for anything but a lock that passes on, the others may go on in a moment, and the starvation is less sure.
func behindLocks(p *answer.ThreadPool, q *answer.WorkQueues, v answer.Verdict, waits ReadWaits) answer.Verdict {
	if v.Kind != answer.FindingStarved || waits == nil {
		return v
	}
	w, err := waits()
	if err != nil {
		return v
	}
	waiting := waitingWorkers(p)
	enter := entering(p, w)
	if len(enter) > 0 && 2*(len(waiting)-len(enter)) < active(p) {
		v = weigh(running(p, enter), q)
		v.Because(words.WorkersEnter.Of(words.N(len(enter))))
		return v
	}
	behind := passing(w, waiting)
	for thread := range enter {
		behind[thread] = true
	}
	if len(behind) > 0 && 2*(len(waiting)-len(behind)) < active(p) {
		v.Severity, v.Strength = answer.SeverityWarning, answer.StrengthPossible
		v.Because(words.WorkersGoOn.Of(words.N(len(behind))))
	}
	return v
}

// briefly bounds the time after which all items that wait have a worker again.
const briefly = time.Second

// inPauses judges a pool that looks starved by the workers that stand in short sleeps outside of loops, while workers take items: they go on by themselves, and
// all items that wait have their turn within a second.
func inPauses(p *answer.ThreadPool, q *answer.WorkQueues, v answer.Verdict, pauses ReadPauses) answer.Verdict {
	if v.Kind != answer.FindingStarved || pauses == nil || stalled(p, stallMs) {
		return v
	}
	longest, brief := time.Duration(0), map[uint32]bool{}
	for i := range p.Workers {
		w := &p.Workers[i]
		if !w.Waits || w.Activity.Kind != answer.ActivitySleep {
			continue
		}
		if length, known := pauses(w.Thread.OSID); known && length <= briefly {
			longest, brief[w.Thread.OSID] = max(longest, length), true
		}
	}
	if n := len(brief); n == 0 || p.Queued.Value > pile*uint64(n) || time.Duration((int(p.Queued.Value)+n-1)/n)*longest > briefly {
		return v
	}
	v = weigh(running(p, brief), q)
	v.Because(words.WorkersPause.Of(words.N(len(brief)), words.Duration(longest)))
	return v
}

// waitingWorkers returns the OS ids of the workers that wait for something other than work.
func waitingWorkers(p *answer.ThreadPool) map[uint32]bool {
	out := map[uint32]bool{}
	for i := range p.Workers {
		if p.Workers[i].Waits {
			out[p.Workers[i].Thread.OSID] = true
		}
	}
	return out
}

// entering returns the OS ids of the workers in a method that enters a lock which have not begun to wait for it: no list of waits has them. They are not
// known if some waits are not.
func entering(p *answer.ThreadPool, w *answer.Waits) map[uint32]bool {
	out := map[uint32]bool{}
	if len(w.Noted()) > 0 {
		return out
	}
	for i := range p.Workers {
		x := &p.Workers[i]
		if x.Waits && x.Activity.Kind == answer.ActivityLock && !slices.ContainsFunc(w.Threads, func(t answer.ThreadWait) bool { return t.Thread.OSID == x.Thread.OSID }) {
			out[x.Thread.OSID] = true
		}
	}
	return out
}

// running returns a copy of p with some workers that don't wait.
func running(p *answer.ThreadPool, enter map[uint32]bool) *answer.ThreadPool {
	out := *p
	out.Workers = slices.Clone(p.Workers)
	for i := range out.Workers {
		if x := &out.Workers[i]; enter[x.Thread.OSID] {
			x.Waits = false
		}
	}
	return &out
}

// passing returns the OS ids of the threads of waiting that get their lock in a moment, or wait for a lock that a running thread holds.
func passing(w *answer.Waits, waiting map[uint32]bool) map[uint32]bool {
	out := map[uint32]bool{}
	for i := range w.Threads {
		if t := &w.Threads[i]; t.Soon && waiting[t.Thread.OSID] {
			out[t.Thread.OSID] = true
		}
	}
	for i := range w.Verdicts {
		v := &w.Verdicts[i]
		if v.Says != words.HeldLock.Kind() || v.Kind != answer.NoFinding && v.Severity != answer.SeverityWarning {
			continue
		}
		for _, s := range v.Sites {
			if waiting[s.Thread] {
				out[s.Thread] = true
			}
		}
	}
	return out
}
