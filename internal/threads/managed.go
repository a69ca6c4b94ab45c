package threads

import (
	"context"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ManagedOptions selects what DescribeManaged describes.
type ManagedOptions struct {
	Live    bool `opt:"live" help:"only threads that an OS thread runs"`
	Special bool `opt:"special" help:"also the runtime's own threads"`
	// Walker walks the stacks to find what the threads do. If it is nil, activities are omitted.
	Walker *stackwalk.Walker
}

// DescribeManaged describes the managed threads of a List, in the order of rt's thread store. p has the environment
// blocks and the names of the threads.
func DescribeManaged(ctx context.Context, p target.Target, rt *dac.Runtime, list []stackwalk.Thread, o ManagedOptions) (*answer.ManagedThreads, error) {
	n, err := rt.ThreadCounts()
	counts := answer.Of(answer.ThreadCounts{Threads: n.Threads, Unstarted: n.Unstarted, Background: n.Background, Pending: n.Pending, Dead: n.Dead}, err)
	stored, err := stackwalk.InRuntimeOrder(list, rt)
	if err != nil && len(stored) == 0 {
		return nil, err
	}
	out := &answer.ManagedThreads{Counts: counts}
	for _, t := range stored {
		if t.OS == nil && o.Live {
			continue
		}
		d := describeManaged(t, &out.Gaps, p, rt)
		if o.Walker != nil {
			d.Activity = describeActivity(ctx, t, &out.Gaps, o.Walker)
		}
		out.Threads = append(out.Threads, d)
	}
	if o.Special {
		out.Special = specialThreads(p, list)
	}
	return out, nil
}

// FirstThrower returns the first thread, in the order of rt's thread store, that threw an exception and still runs, or
// nil.
func FirstThrower(list []stackwalk.Thread, rt *dac.Runtime) (*stackwalk.Thread, error) {
	stored, err := stackwalk.InRuntimeOrder(list, rt)
	for _, t := range stored {
		if t.Managed.LastThrown != 0 && t.OS != nil {
			return t, nil
		}
	}
	if len(stored) > 0 {
		err = nil
	}
	return nil, err
}

// noLockCount is the count in runtimes that do not count locks.
const noLockCount = ^uint32(0)

func describeManaged(t *stackwalk.Thread, g *answer.Gaps, p target.Target, rt *dac.Runtime) answer.ManagedThread {
	m := t.Managed
	d := answer.ManagedThread{
		Thread:       t.Describe(g),
		AllocPointer: answer.Known(m.AllocContext.Pointer),
		AllocLimit:   answer.Known(m.AllocContext.Limit),
		Special:      purposes(m),
	}
	d.User, d.Kernel = Times(p, t)
	d.NoTimes = noTimes(d.User.Err())
	if err := m.Unknown; err != nil {
		d.State, d.GCMode.Err, d.Domain, d.Apartment.Err = answer.Missing[answer.Hex](err), err, answer.Missing[target.Addr](err), err
		describeThrown(g, &d, rt, m)
		return d
	}
	apartment, err := ApartmentOf(t, p)
	if err != nil {
		g.Note(fmt.Errorf("apartment of thread %#x: %w", t.ID(), err))
	}
	d.State, d.Domain, d.Apartment.S, d.GCMode.S = answer.Known(answer.Hex(m.State)), answer.Known(m.Domain), apartment.String(), "Preemptive"
	if m.Cooperative {
		d.GCMode.S = "Cooperative"
	}
	if m.LockCount != noLockCount {
		d.LockCount = &m.LockCount
	}
	if m.Stack.Size() > 0 {
		d.StackLow, d.StackHigh = &m.Stack.Start, &m.Stack.End
	}
	describeThrown(g, &d, rt, m)
	return d
}

// describeThrown adds the exception that the thread threw last.
func describeThrown(g *answer.Gaps, d *answer.ManagedThread, rt *dac.Runtime, m *dac.Thread) {
	note := func(what string, err error) {
		if err != nil {
			g.Note(fmt.Errorf("%s of thread %d: %w", what, m.ManagedID, err))
		}
	}
	note("exception", m.LastThrownError)
	d.ExceptionError = m.LastThrownError
	if m.LastThrownError != nil || m.LastThrown == 0 {
		return
	}
	name, err := rt.ObjectTypeName(m.LastThrown)
	note("exception", err)
	d.Exception = &answer.ThrownObject{Address: m.LastThrown, Type: answer.Text{S: name, Err: err}}
	nested, err := rt.NestedExceptions(m)
	note("nested exceptions", err)
	d.Nested = len(nested) > 0
}

// PurposeWorker is the text in answer.ManagedThread.Special for a worker of the thread pool.
const PurposeWorker = "Threadpool Worker"

// purposes returns the purposes for which the runtime uses a thread.
func purposes(m *dac.Thread) []string {
	var out []string
	if m.Finalizer {
		out = append(out, "Finalizer")
	}
	if m.GC {
		out = append(out, "GC")
	}
	switch {
	case m.State&dac.ThreadPoolWorker != 0:
		out = append(out, PurposeWorker)
	case m.State&dac.ThreadPoolIOCompletion != 0:
		out = append(out, "Threadpool Completion Port")
	}
	return out
}

// describeActivity describes what the thread does.
func describeActivity(ctx context.Context, t *stackwalk.Thread, g *answer.Gaps, w *stackwalk.Walker) *answer.ThreadActivity {
	_, found := activity(ctx, t, w)
	return DescribeActivity(t, g, found)
}

// activity walks the thread's stack and returns what it does.
func activity(ctx context.Context, t *stackwalk.Thread, w *stackwalk.Walker) (Activity, ThreadActivity) {
	var regs target.Registers
	if t.OS != nil {
		regs = t.OS.Registers
	}
	a := ActivityOf(t, w.Walk(ctx, t.Managed, regs, stackwalk.WalkOptions{}))
	return a.Activity, a
}

// specialThreads returns the runtime's own threads, found by their names on Windows. createdump records no names.
func specialThreads(p target.Target, list []stackwalk.Thread) *answer.SpecialThreads {
	out := &answer.SpecialThreads{Named: p.Platform().OS == target.OSWindows}
	if !out.Named {
		return out
	}
	for i := range list {
		t := &list[i]
		if t.OS == nil {
			continue
		}
		if kind, ok := strings.CutPrefix(t.OS.Name, ".NET "); ok {
			out.Threads = append(out.Threads, answer.SpecialThread{Index: t.Index, OSID: t.OS.ID, Kind: kind})
		}
	}
	return out
}
