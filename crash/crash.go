// Package crash says why a process died: the signal or exception record, the
// thread, the managed exception it was handling, what a NativeAOT process wrote
// about itself, and the likely cause in words.
package crash

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/threads"
)

// A Crash says why the process died, as far as the dump tells. A dump that was
// taken of a running process has none.
type Crash struct {
	Exception *target.Exception // the signal or exception record, nil if there is none
	Thread    *threads.Thread   // that died, nil if it is not known
	Thrown    target.Addr       // the managed exception that thread was handling or threw last, 0 for none
	Record    *Record           // what a NativeAOT process wrote about itself, nil for others
}

// A Process is what Read and Describe look at.
type Process struct {
	Target target.Target
	Memory target.Memory // of Target, completed by module files
	// Threads and Runtime open what only the crash of a CLR needs.
	Threads func() ([]threads.Thread, error)
	Runtime func() (*dac.Runtime, error)
	// Walker is for Describe alone.
	Walker func() (*stackwalk.Walker, error)
}

// ThreadID is the OS id of the thread that the dump of t was written for, where
// it says so: the one that raised the exception or took the signal.
func ThreadID(t target.Target) (id uint32, ok bool) {
	e, ok := t.Exception()
	return e.ThreadID, ok && e.ThreadID != 0
}

// Read returns why the process died, nil if the dump says nothing of a crash.
// The error tells what could not be read of it.
func Read(p Process) (*Crash, error) {
	var c Crash
	if x, ok := p.Target.Exception(); ok {
		c.Exception = &x
	}
	var err error
	if c.Record, err = readRecord(p.Target, p.Memory); err != nil {
		err = fmt.Errorf("crash record: %w", err)
	}
	id, ok := ThreadID(p.Target)
	if c.Exception == nil && c.Record == nil && !ok {
		return nil, err
	}
	if !ok || c.Record != nil {
		return &c, err // a NativeAOT process has no managed threads to look at
	}
	list, terr := p.Threads()
	if err == nil {
		err = terr
	}
	c.Thread = threads.ByID(list, id)
	if c.Thread != nil && c.Thread.Managed != nil {
		thrown, xerr := p.thrownBy(c.Thread)
		if c.Thrown = thrown; err == nil {
			err = xerr
		}
	}
	return &c, err
}

// thrownBy is the exception that a thread is handling, else the last that it
// threw.
func (p *Process) thrownBy(t *threads.Thread) (target.Addr, error) {
	rt, err := p.Runtime()
	if err != nil {
		return 0, err
	}
	if a, err := rt.CurrentException(t.Managed); err == nil && a != 0 {
		return a, nil
	}
	return t.Managed.LastThrown, t.Managed.LastThrownError
}
