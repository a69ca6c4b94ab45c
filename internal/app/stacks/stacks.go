// Package stacks answers queries about the threads of a process and their stacks. It only opens the readers in packages
// stackwalk, internal/threads and stackscan, and merges the frames of several runtimes. Start with Stacks and
// ManagedThreads.
package stacks

import (
	"context"
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
)

// Values of Options.Runtimes for a process with several runtimes.
const (
	AllRuntimes    = iota // frames of all runtimes
	FoldedRuntimes        // frames of the process's runtime, and one line for each run of other runtimes' frames
	OneRuntime            // frames of the process's runtime; other code is native
)

// Options selects threads and frames.
type Options struct {
	threads.StackOptions
	Threads  []*stackwalk.Thread // in this order; nil for all managed threads with an OS thread
	Runtimes int                 // AllRuntimes, FoldedRuntimes or OneRuntime
}

// Stacks lists the stacks of threads. Frames are walked during iteration. Native frames are left out unless o.Native is
// set.
func Stacks(ctx context.Context, p *process.Process, o Options) (*answer.Stacks, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Stacks, error) {
		walker, err := stackWalker(c, o.Native)
		if err != nil {
			return nil, err
		}
		list := o.Threads
		if _, err := c.Threads(); len(list) == 1 && list[0] != nil && list[0].OS == nil && errors.As(err, new(*process.LostThreadsError)) {
			_, err := list[0].Stack(p.Target()) // why it has no stack
			return nil, err
		}
		if list == nil {
			if list, err = running(c, walker); err != nil {
				return nil, err
			}
		}
		if r := crashreport.Of(p.Dump().File().Target); r != nil {
			return r.Stacks(ctx, reportOptions(&o, list)), nil
		}
		if o.Symbols == nil {
			o.Symbols = p.Dump().Symbols()
		}
		if o.Walk == nil && p.Dump().SeveralRuntimes() {
			switch o.Runtimes {
			case AllRuntimes:
				o.Walk = p.Dump().MergedWalk
			case FoldedRuntimes:
				o.Walk = c.FoldedWalk
			}
		}
		return threads.Stacks(ctx, walker, list, o.StackOptions), nil
	})
}

// reportOptions converts options for a crash report. Lacking is set for options that a report can't satisfy.
func reportOptions(o *Options, list []*stackwalk.Thread) crashreport.StackOptions {
	out := crashreport.StackOptions{Native: o.Native, Limit: o.Limit, Lacking: o.Arguments || o.Locals || o.References || o.Registers}
	for _, t := range list {
		out.Threads = append(out.Threads, t.ID())
	}
	return out
}

// stackWalker returns the walker for stacks. Native frames don't need the runtime: an error from opening it is noted. A
// dump without the runtime's data has only native frames.
func stackWalker(c *process.Call, native bool) (*stackwalk.Walker, error) {
	w, err := c.Walker()
	switch {
	case err == nil || !native && !c.StacksOnly():
		return w, err
	case c.StacksOnly():
		return c.NativeWalker(), nil
	}
	c.Note(err)
	return c.NativeWalker(), nil
}

// running returns the managed threads with an OS thread. Unreadable parts of the list are noted.
func running(c *process.Call, w *stackwalk.Walker) ([]*stackwalk.Thread, error) {
	all, err := c.ThreadList()
	if err != nil {
		return nil, err
	}
	list, err := stackwalk.RunningThreads(all, w.Runtime())
	c.Note(err)
	if _, lost := c.Threads(); len(list) == 0 {
		return nil, lost
	}
	return list, nil
}

// ParallelStacks merges the stacks of all managed threads into trees.
func ParallelStacks(ctx context.Context, p *process.Process, o threads.ParallelOptions) (*answer.ParallelStacks, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.ParallelStacks, error) {
		w, list, err := ownStacks(c, false)
		if err != nil {
			return nil, err
		}
		return threads.ParallelStacks(ctx, w, list, o)
	})
}

// Profile collects the stacks of all managed threads for profile viewers. Symbols of o default to the dump's.
func Profile(ctx context.Context, p *process.Process, o threads.ProfileOptions) (*answer.Profile, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Profile, error) {
		w, list, err := ownStacks(c, o.Native)
		if err != nil {
			return nil, err
		}
		if o.Symbols == nil {
			o.Symbols = p.Dump().Symbols()
		}
		return threads.Profile(ctx, w, list, o)
	})
}

// ownStacks returns the walker and threads of the process's own runtime. If the process has other runtimes, that is
// noted.
func ownStacks(c *process.Call, native bool) (*stackwalk.Walker, []*stackwalk.Thread, error) {
	w, err := stackWalker(c, native)
	if err != nil {
		return nil, nil, err
	}
	list, err := running(c, w)
	if err != nil {
		return nil, nil, err
	}
	return w, list, nil
}

// ManagedOptions selects managed threads.
type ManagedOptions struct {
	threads.ManagedOptions
	Activities bool `opt:"stacks" help:"what each thread does or waits for, its topmost managed frame, and the topmost outside the framework"`
}

// ManagedThreads lists the runtime's threads. From a crash report they only have OS ids and exceptions.
func ManagedThreads(ctx context.Context, p *process.Process, o ManagedOptions) (*answer.ManagedThreads, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.ManagedThreads, error) {
		if r := crashreport.Of(p.Dump().File().Target); r != nil {
			return r.ManagedThreads(), nil
		}
		rt, err := c.Runtime()
		if err != nil {
			return nil, err
		}
		list, err := c.ThreadList()
		if err != nil {
			return nil, err
		}
		if o.Activities {
			if o.Walker, err = c.Walker(); err != nil {
				return nil, err
			}
		}
		out, err := threads.DescribeManaged(ctx, p.Dump().File(), rt, list, o.ManagedOptions)
		if pool, unread := threadpool.Of(p); err == nil && unread == nil {
			pool.MarkWorkers(out)
		}
		return out, err
	})
}

// OSThreads lists the threads of the process. The crashed thread, or else the first, is marked as current.
func OSThreads(ctx context.Context, p *process.Process) (*answer.OSThreads, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.OSThreads, error) {
		list, err := c.ThreadList()
		if err != nil {
			return nil, err
		}
		current := &list[0]
		if id, ok := crash.Died(p); ok {
			if t := stackwalk.ThreadByID(list, id); t != nil {
				current = t
			}
		}
		return threads.DescribeOS(p.Dump().File(), list, current), nil
	})
}

// StackObjects lists the objects that a thread's registers and stack may refer to. If o.Precise is set it lists the
// objects that the GC would consider live.
func StackObjects(ctx context.Context, p *process.Process, t *stackwalk.Thread, o threads.ObjectOptions) (*answer.StackObjects, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.StackObjects, error) {
		if t == nil {
			return nil, process.ErrNoThread
		}
		scanner, err := c.Scanner()
		if err != nil {
			return nil, err
		}
		return threads.StackObjects(ctx, scanner, t, o)
	})
}

// AllStackObjects is StackObjects for all threads, one after another.
func AllStackObjects(ctx context.Context, p *process.Process, o threads.ObjectOptions) (*answer.StackObjects, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.StackObjects, error) {
		scanner, err := c.Scanner()
		if err != nil {
			return nil, err
		}
		list, err := c.ThreadList()
		if err != nil {
			return nil, err
		}
		return threads.AllStackObjects(ctx, scanner, list, o), nil
	})
}

// ReturnAddresses lists the return addresses on a thread's stack. It needs no unwind data; some addresses may be left
// over from earlier calls.
func ReturnAddresses(ctx context.Context, p *process.Process, t *stackwalk.Thread, o threads.ReturnOptions) (*answer.Returns, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Returns, error) {
		if t == nil {
			return nil, process.ErrNoThread
		}
		walker, err := c.Walker()
		if err != nil {
			return nil, err
		}
		return threads.Returns(ctx, walker, t, naming(c, o)), nil
	})
}

// naming adds the dump's symbols for native code to options.
func naming(c *process.Call, o threads.ReturnOptions) threads.ReturnOptions {
	if o.Symbols == nil {
		o.Symbols = c.Dump().Symbols()
	}
	return o
}

// SyncBlocks lists the sync blocks of the runtime with the threads that own them.
func SyncBlocks(ctx context.Context, p *process.Process, o threads.SyncBlockOptions) (*answer.SyncBlocks, error) {
	return process.WithRuntime(ctx, p, func(ctx context.Context, c *process.Call, rt *dac.Runtime) (*answer.SyncBlocks, error) {
		if err := rt.Check(dac.FeatureSyncBlocks); err != nil {
			return nil, err
		}
		list, err := c.ThreadList()
		if err != nil {
			return nil, err
		}
		return threads.SyncBlocks(ctx, rt, list, o), nil
	})
}

// Analyze describes a thread for debuggers' automatic analysis: its stack and its exceptions.
func Analyze(ctx context.Context, p *process.Process, t *stackwalk.Thread, o threads.StackOptions) (*answer.ThreadAnalysis, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.ThreadAnalysis, error) {
		if t == nil {
			return nil, process.ErrNoThread
		}
		walker, err := c.Walker()
		if err != nil {
			return nil, err
		}
		if o.Symbols == nil {
			o.Symbols = p.Dump().Symbols()
		}
		return crash.Analyze(ctx, walker, t, o), nil
	})
}
