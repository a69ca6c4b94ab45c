package hosting

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// startMachine is in the name of the state machine of Host.StartAsync.
const startMachine = hostMachines + "StartAsync>"

// A start is what the threads of a process know about the StartAsync of its hosts.
type start struct {
	running bool                  // a thread is in it, or may be
	failure *answer.TaskException // a thread handles an exception that came out of it
}

// starting sets the state of the hosts that have begun to start, have not started, and start no more: the library leaves the flag
// _hostStarting set when StartAsync fails.
func (r *Reader) starting(ctx context.Context, in shapes.Reading, h *heap.Heap, set *tasks.Set, hosts []answer.Host, threads func() start) error {
	starts := map[target.Addr]bool{}
	for s, err := range set.Stacks(ctx, tasks.StackOptions{Type: startMachine}) {
		if err != nil {
			return err
		}
		for i := range s.Frames {
			f := &s.Frames[i]
			if !strings.Contains(f.Type.S, startMachine) {
				continue
			}
			box, err := h.ObjectAt(f.Object)
			if err != nil {
				in.Note(err)
				return nil
			}
			for ref, err := range h.Edges(heap.EdgeOptions{}).Of(&box) {
				if err != nil {
					in.Note(err)
					return nil
				}
				starts[ref.Target] = true
			}
		}
	}
	var on *start
	for i := range hosts {
		x := &hosts[i]
		if x.State.S != answer.HostStarting || starts[x.Address] {
			continue
		}
		if on == nil {
			s := threads()
			on = &s
		}
		if on.running {
			continue
		}
		if x.State.S = answer.HostStartFailed; on.failure != nil {
			x.Failure = on.failure
		}
	}
	return nil
}

// startOn looks for Host.StartAsync on the stacks of threads, and among the exceptions that they handle.
func startOn(ctx context.Context, p *process.Process, t *tasks.Reader, g *answer.Gaps) (out start) {
	rt, err := p.Runtime()
	if err != nil {
		return start{running: true}
	}
	w, err := p.Walker()
	if err != nil {
		return start{running: true}
	}
	list, err := p.Threads()
	if err != nil {
		return start{running: true}
	}
	for i := range list {
		x := &list[i]
		if x.Managed == nil || x.OS == nil {
			continue
		}
		for f := range w.Walk(ctx, x.Managed, x.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Missing() != nil || err != nil || md != nil && isStart(dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)) {
				return start{running: true}
			}
		}
		states, err := rt.ExceptionStates(x.Managed)
		g.Note(err)
		for k := range states {
			e, err := rt.Exception(states[k].Thrown)
			if err != nil {
				continue // it names nothing, and proves nothing
			}
			trace, err := rt.StackTrace(&e)
			for n := range trace {
				md, merr := dac.CodeOf(rt).TrustedMethodDesc(trace[n].Method)
				if err == nil && merr == nil && out.failure == nil && isStart(dac.CodeOf(rt).MethodName(md, dac.MethodQualified)) {
					if failure, err := t.Exception(g, e.Addr); err == nil {
						out.failure = &failure
					}
				}
			}
		}
	}
	return out
}

// isStart reports whether a method is Host.StartAsync, or its state machine. A method without a name may be.
func isStart(name string, err error) bool {
	return err != nil || strings.HasPrefix(name, startMachine) || strings.HasPrefix(name, "Microsoft.Extensions.Hosting.Internal.Host.StartAsync")
}
