// Package crash explains why a process died: the signal or exception record, the thread, the managed exceptions of all
// threads, the crash record of a NativeAOT process, and the likely cause in words. Each statement has its evidence. For
// a process that had not crashed it reports what the threads wait for; package locks does so in detail.
//
// Start with Describe (describe.go), which makes the page, and Read (crash.go), which finds the crash.
package crash

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Crash describes why the process died, as far as the dump shows.
type Crash struct {
	Exception *target.Exception // signal or exception record, or nil
	Thread    *stackwalk.Thread // the thread that died, or nil if unknown
	Thrown    target.Addr       // the exception that the thread was handling or threw last, or that Deduced explains; or 0
	Record    *Record           // the crash record of a NativeAOT process, or nil
	// Unhandled reports that the runtime found no handler for Thrown, or created it for a fatal error.
	Unhandled bool
	// Deduced is the evidence that Thrown likely ended the process, set if no record of the thread refers to Thrown.
	Deduced answer.Statement
	carried []carried
	list    []stackwalk.Thread // of the process
	lost    error              // why list may be incomplete
}

// Options selects where the exception of a crash is sought.
type Options struct {
	// NoHeap skips the search of the heap for an exception that prevented Main from starting, and for an overwritten object that the
	// faulting code followed. Without NoHeap a heap of up to 64 MB is read if no record of the thread refers to an exception. Answers
	// note the skipped search.
	NoHeap bool

	// Waits returns what the threads of the process wait for. If it is nil, locks.Waits does. It is asked about a finalizer thread that enters a lock.
	Waits func() (*answer.Waits, error)
}

// ThreadID returns the OS id of the thread that raised the exception or took the signal for which t was written. ok is
// false if the dump does not record it.
func ThreadID(t target.Target) (id uint32, ok bool) {
	e, ok := t.Exception()
	return e.ThreadID, ok && e.ThreadID != 0
}

// Died returns the OS id of the thread that died: ThreadID's, or without a record the first thread with an unhandled
// exception.
func Died(p *process.Process) (id uint32, ok bool) {
	if id, ok := ThreadID(p.Target()); ok {
		return id, true
	}
	c, _ := read(p) // an unread thread is not known to have died
	switch {
	case !c.ended():
		return 0, false
	case c.Record != nil:
		return c.Record.Thread, c.Record.Thread != 0
	}
	return c.Thread.ID(), c.Thread.ID() != 0
}

// A carried is an exception of a thread, handled or thrown last.
type carried struct {
	thread *stackwalk.Thread
	thrown target.Addr
	state  answer.CarriedState
	in     *dac.ExceptionState // nil if it is not being handled
}

// ended reports whether the process ended because of the exception.
func (x *carried) ended() bool {
	return x.state == answer.CarriedUnhandled || x.state == answer.CarriedFatal
}

// once returns list with each exception of a thread once. An exception that a handler throws again has a second state, and the first one until the handler
// has ended. It is unhandled if one of its states is.
func once(list []carried) (out []carried) {
	for _, x := range list {
		at := slices.IndexFunc(out, func(o carried) bool { return o.thread == x.thread && o.thrown == x.thrown })
		switch {
		case at < 0:
			out = append(out, x)
		case x.ended() && !out[at].ended():
			out[at].state = x.state
		}
	}
	return out
}

// Read returns why the process died. It returns nil if the dump shows no crash: no signal or exception record, and no
// thread with an unhandled exception. The error describes the unreadable parts.
func Read(p *process.Process, o Options) (*Crash, error) {
	c, err := read(p)
	if !c.ended() {
		return nil, err
	}
	if rt, none := p.Runtime(); none == nil && c.Record == nil {
		d := &describer{ctx: context.Background(), p: p, noHeap: o.NoHeap, rt: rt, died: c, out: &answer.Crash{Address: noAddress}}
		d.beforeMain()
		for _, missing := range d.out.Noted() {
			err = cmp.Or(err, missing)
		}
	}
	return c, err
}

// ended reports whether the dump shows that the process died.
func (c *Crash) ended() bool { return c.Exception != nil || c.Record != nil || c.Unhandled }

// read is Read for any process, including one that had not crashed.
func read(p *process.Process) (*Crash, error) {
	list, lost := p.Threads()
	return readFrom(p, list, lost)
}

// readFrom is read with a list of the threads. lost is why it may be incomplete.
func readFrom(p *process.Process, list []stackwalk.Thread, lost error) (*Crash, error) {
	c := &Crash{list: list, lost: lost}
	if x, ok := p.Target().Exception(); ok && !x.Requested {
		c.Exception = &x
	}
	var err error
	if c.Record, err = readRecord(p.Target(), p.Memory()); err != nil {
		err = fmt.Errorf("crash record: %w", err)
	}
	if c.Record != nil {
		return c, err // a NativeAOT process has no managed threads
	}
	if err == nil {
		err = lost
	}
	if id, ok := ThreadID(p.Target()); ok {
		c.Thread = stackwalk.ThreadByID(list, id)
	}
	if rt, rerr := p.Runtime(); rerr == nil {
		var xerr error
		if c.carried, xerr = carriedBy(rt, list); err == nil {
			err = xerr
		}
		c.choose()
	}
	return c, err
}

// carriedBy collects the exceptions that threads are handling, outermost last. For a thread that handles no exception,
// it has the last thrown one.
func carriedBy(rt *dac.Runtime, list []stackwalk.Thread) ([]carried, error) {
	var out []carried
	var first error
	for i := range list {
		t := &list[i]
		if t.Managed == nil {
			continue
		}
		states, err := rt.ExceptionStates(t.Managed)
		if err == nil && len(states) == 0 {
			err = t.Managed.LastThrownError
		}
		if err != nil && first == nil {
			first = fmt.Errorf("exception of thread %d: %w", t.Managed.ManagedID, err)
		}
		for j := range states {
			x := carried{thread: t, thrown: states[j].Thrown, state: answer.CarriedHandling, in: &states[j]}
			if states[j].Flags&dac.ExceptionUnhandled != 0 {
				x.state = answer.CarriedUnhandled
			} else if lastState(rt, x.thrown) == answer.CarriedFatal { // code ran because of an exception, such as a filter
				x.state = answer.CarriedFatal
			}
			if x.thrown != 0 {
				out = append(out, x)
			}
		}
		if last := t.Managed.LastThrown; len(states) == 0 && last != 0 && t.OS != nil {
			out = append(out, carried{thread: t, thrown: last, state: lastState(rt, last)})
		}
	}
	return out, first
}

// HRESULTs of exceptions that the runtime creates in advance for fatal errors (corerror.h).
const (
	resultEngine        = 0x80131506 // COR_E_EXECUTIONENGINE
	resultStackOverflow = 0x800703e9 // COR_E_STACKOVERFLOW
)

// lastState distinguishes a thrown exception from one that the runtime created in advance for a fatal error and never
// threw.
func lastState(rt *dac.Runtime, a target.Addr) answer.CarriedState {
	e, err := rt.Exception(a)
	if err != nil || e.HResult != resultEngine && e.HResult != resultStackOverflow {
		return answer.CarriedLast
	}
	if trace, err := rt.StackTrace(&e); err != nil || len(trace) > 0 {
		return answer.CarriedLast
	}
	return answer.CarriedFatal
}

// choose selects the exception that the crash is about. It belongs to the record's thread or, without a record, to the
// first thread with an unhandled exception. Of several it is the outermost unhandled one, which the runtime reports.
// Exceptions thrown later, as in a finally block, are not reported.
func (c *Crash) choose() {
	for i := range c.carried {
		x := &c.carried[i]
		if c.Exception == nil && c.Thread == nil && x.ended() {
			c.Thread = x.thread
		}
	}
	for i := range c.carried {
		x := &c.carried[i]
		if c.Thread == nil || x.thread.Managed != c.Thread.Managed {
			continue
		}
		if c.Thrown == 0 || x.ended() {
			c.Thrown, c.Unhandled = x.thrown, x.ended()
		}
	}
}

// later counts the unhandled exceptions that the crashed thread threw after the reported one.
func (c *Crash) later() int {
	n := 0
	for i := range c.carried {
		x := &c.carried[i]
		if c.Thread == nil || x.thread.Managed != c.Thread.Managed || !x.ended() {
			continue
		}
		if x.thrown == c.Thrown {
			break
		}
		n++
	}
	return n
}

// blamed returns the exception that the crash is about, or nil.
func (c *Crash) blamed() *carried {
	for i := range c.carried {
		if x := &c.carried[i]; c.Thread != nil && x.thread.Managed == c.Thread.Managed && x.thrown == c.Thrown {
			return x
		}
	}
	return nil
}

// state returns the runtime's record of the exception that the crash is about, or nil.
func (c *Crash) state() *dac.ExceptionState {
	if x := c.blamed(); x != nil {
		return x.in
	}
	return nil
}

// fatal reports whether the runtime itself created the exception.
func (c *Crash) fatal() bool {
	x := c.blamed()
	return x != nil && x.state == answer.CarriedFatal
}
