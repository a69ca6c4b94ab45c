// Package stacks answers questions about the threads of a process and their stacks. The readers are stackwalk, stackwalk/threads and
// stackscan; this package opens them, and merges the frames of several runtimes.
//
// Stability: unstable.
package stacks

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/crash"
	"github.com/sosgo/sosgo/app/threadpool"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump/crashreport"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

// Runtimes with frames in the stacks of a process with several.
const (
	AllRuntimes    = iota // frames of all runtimes
	FoldedRuntimes        // frames of the process's runtime, and one line for each run of frames of others
	OneRuntime            // frames of the process's runtime; code of others is native
)

// Options choose threads and frames.
type Options struct {
	threads.StackOptions
	Threads  []*threads.Thread // the threads, in this order; nil for all managed threads that an OS thread runs
	Runtimes int               // AllRuntimes, FoldedRuntimes or OneRuntime
}

// Stacks lists the stacks of threads. Its frames are walked while they are ranged over. Native frames are left out unless o.Native is set.
func Stacks(ctx context.Context, p *process.Process, o Options) (*answer.Stacks, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Stacks, error) {
		walker, err := stackWalker(c, o.Native)
		if err != nil {
			return nil, err
		}
		list := o.Threads
		if list == nil {
			if list, err = running(c, walker); err != nil {
				return nil, err
			}
		}
		if r := p.Dump().File().Report(); r != nil {
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

// reportOptions returns the options as far as a crash report has what they ask for.
func reportOptions(o *Options, list []*threads.Thread) crashreport.StackOptions {
	out := crashreport.StackOptions{Native: o.Native, Limit: o.Limit, Lacking: o.Arguments || o.Locals || o.References || o.Registers}
	for _, t := range list {
		out.Threads = append(out.Threads, t.ID())
	}
	return out
}

// stackWalker returns the walker of stacks. For native frames the runtime is not needed: why it can't be opened is noted. A dump
// without any of the runtime's data has native frames alone.
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

// running returns the managed threads that an OS thread runs. What can't be read of the list is noted.
func running(c *process.Call, w *stackwalk.Walker) ([]*threads.Thread, error) {
	all, err := c.ThreadList()
	if err != nil {
		return nil, err
	}
	list, err := threads.Running(all, w.Runtime())
	c.Note(err)
	return list, nil
}

// ParallelStacks merges the stacks of all managed threads into trees. With explicit, the runtime's own frames are shown too.
func ParallelStacks(ctx context.Context, p *process.Process, explicit bool) (*answer.ParallelStacks, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.ParallelStacks, error) {
		w, list, err := ownStacks(c, false)
		if err != nil {
			return nil, err
		}
		return threads.ParallelStacks(ctx, w, list, explicit)
	})
}

// Profile collects the stacks of all managed threads for tools that show profiles.
func Profile(ctx context.Context, p *process.Process, native bool) (*answer.Profile, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Profile, error) {
		w, list, err := ownStacks(c, native)
		if err != nil {
			return nil, err
		}
		return threads.Profile(ctx, w, list, threads.ProfileOptions{Native: native, Symbols: p.Dump().Symbols()})
	})
}

// ownStacks returns what walks the stacks of the view's runtime alone. In a process with several that is noted.
func ownStacks(c *process.Call, native bool) (*stackwalk.Walker, []*threads.Thread, error) {
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

// ManagedOptions choose managed threads.
type ManagedOptions struct {
	threads.ManagedOptions
	Activities bool // what each thread does, which its stack is walked for
}

// ManagedThreads lists the runtime's threads. Of a crash report they have their OS ids and exceptions alone.
func ManagedThreads(ctx context.Context, p *process.Process, o ManagedOptions) (*answer.ManagedThreads, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.ManagedThreads, error) {
		if r := p.Dump().File().Report(); r != nil {
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

// OSThreads lists the threads of the process. The one that crashed is marked as the current one, or else the first.
func OSThreads(ctx context.Context, p *process.Process) (*answer.OSThreads, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.OSThreads, error) {
		list, err := c.ThreadList()
		if err != nil {
			return nil, err
		}
		current := &list[0]
		if id, ok := crash.Died(p); ok {
			if t := threads.ByID(list, id); t != nil {
				current = t
			}
		}
		return threads.DescribeOS(p.Dump().File(), list, current), nil
	})
}

// StackObjects lists the objects that a thread's registers and stack may refer to. With o.Precise it lists those that the
// garbage collector takes for live.
func StackObjects(ctx context.Context, p *process.Process, t *threads.Thread, o threads.ObjectOptions) (*answer.StackObjects, error) {
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

// AllStackObjects does what StackObjects does for all threads, one after the other.
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

// ReturnAddresses lists the words of a thread's stack that are return addresses. Unlike a stack walk it needs no unwind data;
// some of the addresses may be left over from earlier calls.
func ReturnAddresses(ctx context.Context, p *process.Process, t *threads.Thread, o threads.ReturnOptions) (*answer.Returns, error) {
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

// naming completes options: native code is named by the dump's symbols.
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

// Analyze describes a thread as debuggers want it for their analysis: its stack and its exceptions.
func Analyze(ctx context.Context, p *process.Process, t *threads.Thread, o threads.StackOptions) (*answer.ThreadAnalysis, error) {
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
