package process

import (
	"fmt"

	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A LostThreadsError reports that the dump has lost threads: its file is cut off, it lists none, or it is of a child process that fork made. Debuggers and kernels
// store a signal beside the threads, so that it can be lost, too. It wraps target.ErrNotInDump.
type LostThreadsError struct {
	Lost   int // number of threads that the runtime runs and the dump does not list
	Listed int // number of threads that the dump lists
	// Forked reports that the dump has a single thread, which the runtime does not list: fork copies the memory of a process, but of its threads only
	// the one that called it, which has another id in the child.
	Forked bool
}

func (e *LostThreadsError) Error() string {
	switch {
	case e.Forked:
		return fmt.Sprintf("registers and stacks of %d threads of the runtime are %v: its only thread is none of them, as in a child process that fork made of the program",
			e.Lost, target.ErrNotInDump)
	case e.Listed == 0:
		return fmt.Sprintf("registers and stacks of %d threads of the runtime, which the dump does not list, are %v", e.Lost, target.ErrNotInDump)
	case e.Lost > 0:
		return fmt.Sprintf("registers and stacks of %d threads of the runtime, which are not among the %d that the dump lists, are %v",
			e.Lost, e.Listed, target.ErrNotInDump)
	}
	return fmt.Sprintf("the list of threads is cut off after %d: more threads may be %v", e.Listed, target.ErrNotInDump)
}

// Unwrap returns target.ErrNotInDump.
func (e *LostThreadsError) Unwrap() error { return target.ErrNotInDump }

// lostThreads returns a LostThreadsError if the dump has lost threads of the list, or perhaps others.
func (p *Process) lostThreads(list []stackwalk.Thread) error {
	e := &LostThreadsError{Forked: p.forked()}
	loses := p.losesThreads()
	for i := range list {
		if list[i].OS != nil {
			e.Listed++
		} else if loses && runs(&list[i]) {
			e.Lost++
		}
	}
	if e.Lost > 0 || p.threadsCut() {
		return e
	}
	return nil
}

// threadsCut reports whether the dump's list of threads is cut off.
func (p *Process) threadsCut() bool {
	c, ok := p.dump.file.Target.(interface{ ThreadsCut() bool })
	return ok && c.ThreadsCut()
}

// losesThreads reports whether a thread that the runtime runs may be missing in the dump's list of threads.
func (p *Process) losesThreads() bool {
	return p.dump.Truncated() != nil || p.threadsCut() || len(p.Target().Threads()) == 0 || p.forked()
}

// runs reports whether the runtime runs t on a thread of the system. If t.OS is nil, the dump lacks that one.
func runs(t *stackwalk.Thread) bool { return t.Managed != nil && t.Managed.OSID != 0 }

// Forked reports whether the dump is of a process like a child that fork made (see LostThreadsError). Such a process does
// not have all memory of its parent either.
func (d *Dump) Forked() bool { return d.Default().forked() }

// forked reports whether the dump has a single thread, and the runtime runs others, but not that one.
func (p *Process) forked() bool {
	only := p.Target().Threads()
	rt, err := p.Runtime()
	if len(only) != 1 || err != nil {
		return false
	}
	others := 0
	list, err := rt.Threads()
	for i := range list {
		switch list[i].OSID {
		case 0:
		case only[0].ID:
			return false
		default:
			others++
		}
	}
	return err == nil && others > 0
}
