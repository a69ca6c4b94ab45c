package threadpool

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A timerCheck compares the timers of a queue with what repeats them. The class library changes all of it under the monitor or the lock of the queue
// (Timer.cs), so that nothing can be compared while a thread has it.
type timerCheck struct {
	r      *Reader
	q      *timerDoubles
	at     objects.Instance
	steady bool // no thread has the monitor or the lock
	found  int64
	last   target.Addr // the timer before, in the same list
}

func (r *Reader) newTimerCheck(queue objects.Object) *timerCheck {
	q, at, err := objects.BindObject[*timerDoubles](r.b, queue)
	c := &timerCheck{r: r, q: q, at: at, steady: err == nil && r.unlocked(queue.Addr)}
	if c.steady && q.Lock.Has() { // since .NET 9
		a, err := q.Lock.Addr(at)
		var l dac.ManagedLock
		if err == nil {
			l, err = r.rt.ManagedLock(a)
		}
		c.steady = err == nil && !l.Held
	}
	return c
}

// unlocked reports whether no thread has the monitor of the object at a. It reports false if that is unknown.
func (r *Reader) unlocked(a target.Addr) bool {
	h, err := r.rt.ObjectHeader(a)
	if err != nil {
		return false
	}
	if _, thin := r.rt.ThinLock(h); thin {
		return false
	}
	if i := h.SyncBlockIndex(); i != 0 {
		b, err := r.rt.SyncBlock(i)
		return err == nil && !b.Held && b.Object == a
	}
	return true
}

// timer returns an error if the next timer of a list, which the queue has for timers that are due soon or for others, contradicts it. Timers of the other
// list are due after the queue's threshold.
func (c *timerCheck) timer(short bool, s *queuedTimer, x objects.Instance) error {
	before := c.last
	c.last = x.Object()
	if c.found++; !c.steady {
		return nil
	}
	if back, err := s.Previous.Object(x); err == nil && back.Addr != before {
		return target.CorruptHeapf("the timer before it is %016x in its queue, and %016x in itself", uint64(before), uint64(back.Addr))
	}
	if listed, err := s.Short.Bool(x); err == nil && listed != short {
		return target.CorruptHeapf("it is in the wrong list of its queue")
	}
	if short {
		return nil
	}
	threshold, err := c.q.Threshold.Int(c.at)
	start, serr := s.Start.Int(x)
	due, derr := s.Due.Uint(x)
	if err == nil && serr == nil && derr == nil && start+int64(uint32(due)) <= threshold {
		return target.CorruptHeapf("it is in the list of timers that are due after %d, and due at %d", threshold, start+int64(uint32(due)))
	}
	return nil
}

// count returns an error if the queue counts another number of timers than its lists have.
func (c *timerCheck) count() error {
	if !c.steady {
		return nil
	}
	if n, err := c.q.Active.Int(c.at); err == nil && n != c.found {
		return target.CorruptHeapf("timer queue %016x counts %d timers, and its lists have %d", uint64(c.at.Object()), n, c.found)
	}
	return nil
}
