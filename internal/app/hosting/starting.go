package hosting

import (
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// startMachine is in the name of the state machine of Host.StartAsync.
const startMachine = hostMachines + "StartAsync>"

// A start is what the threads of a process know about the StartAsync of its hosts.
type start struct {
	running bool                  // a thread is in it, or may be
	thread  *answer.Thread        // that thread, unless it handles an exception
	method  string                // the outermost method on it that does not belong to the host
	failure *answer.TaskException // a thread handles an exception that came out of it
}

// starting says where the hosts stand that have begun to start and have not started, and finds those that start no more: the library leaves the
// flag _hostStarting set when StartAsync fails.
func (r *Reader) starting(ctx context.Context, in shapes.Reading, h *heap.Heap, set *tasks.Set, hosts []answer.Host, threads func() start) error {
	starts := map[target.Addr]bool{}
	for s, err := range set.Stacks(ctx, tasks.StackOptions{Type: startMachine}) {
		if err != nil {
			return err
		}
		r.standing(in, h, hosts, s, startMachine)
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
	list := slices.DeleteFunc(pointers(hosts), func(x *answer.Host) bool { return x.State.S != answer.HostStarting || starts[x.Address] })
	if len(list) == 0 {
		return nil
	}
	on := threads()
	for _, x := range list {
		switch {
		case !on.running:
			x.State.S, x.Failure = answer.HostStartFailed, on.failure
		case len(list) == 1:
			x.StartsOn, x.StartsIn = on.thread, on.method
		}
	}
	return nil
}

func pointers(hosts []answer.Host) []*answer.Host {
	out := make([]*answer.Host, len(hosts))
	for i := range hosts {
		out[i] = &hosts[i]
	}
	return out
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
		states, err := rt.ExceptionStates(x.Managed)
		g.Note(err)
		method := ""
		for f := range w.Walk(ctx, x.Managed, x.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Missing() != nil || err != nil {
				return start{running: true}
			}
			if md == nil {
				continue
			}
			name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
			if isStart(name, err) {
				out = start{running: true}
				if err == nil && method != "" && len(states) == 0 {
					thread := x.Describe(g)
					out.thread, out.method = &thread, method
				}
				return out
			}
			if !strings.HasPrefix(name, "System.") && !strings.HasPrefix(name, "Microsoft.Extensions.Hosting.") {
				method = name
			}
		}
		for k := range states {
			if out.failure == nil && leftStart(rt, states[k].Thrown) {
				if failure, err := t.Exception(g, states[k].Thrown); err == nil {
					out.failure = &failure
				}
			}
		}
	}
	return out
}

// leftStart reports whether the stack trace of an exception goes through Host.StartAsync. It is false if it can't be read, for that proves nothing.
func leftStart(rt *dac.Runtime, exception target.Addr) bool {
	e, err := rt.Exception(exception)
	if err != nil {
		return false
	}
	trace, err := rt.StackTrace(&e)
	if err != nil {
		return false
	}
	for n := range trace {
		md, err := dac.CodeOf(rt).TrustedMethodDesc(trace[n].Method)
		if err == nil && isStart(dac.CodeOf(rt).MethodName(md, dac.MethodQualified)) {
			return true
		}
	}
	return false
}

// An exceptionShape is an exception.
type exceptionShape struct {
	_       objects.Shape    `of:"System.Exception"`
	Message objects.RefField `field:"_message"`
}

// maxExceptions bounds how many exceptions are looked at.
const maxExceptions = 10000

// failed sets the exception of the only host that did not start, if no thread handles one: code that disposes of the host meanwhile has caught it, and the
// heap has one exception that came out of a start.
func (r *Reader) failed(ctx context.Context, in shapes.Reading, h *heap.Heap, t *tasks.Reader, o heap.ScanOptions, hosts []answer.Host) error {
	var host *answer.Host
	for i := range hosts {
		if x := &hosts[i]; x.State.S == answer.HostStartFailed {
			if host != nil || x.Failure != nil {
				return nil
			}
			host = x
		}
	}
	if host == nil {
		return nil
	}
	looked, found := 0, target.Addr(0)
	for object := range shapes.ReadObjects[*exceptionShape](ctx, in, h, o) {
		if looked++; looked > maxExceptions {
			return nil
		}
		if !leftStart(r.b.Objects().Runtime(), object.Addr) {
			continue
		}
		if found != 0 {
			return nil // which of them it is, nobody knows
		}
		found = object.Addr
	}
	if ctx.Err() != nil || found == 0 {
		return ctx.Err()
	}
	if failure, err := t.Exception(in.Gaps, found); err == nil {
		host.Failure = &failure
	}
	return nil
}

// isStart reports whether a method is Host.StartAsync, or its state machine. A method without a name may be.
func isStart(name string, err error) bool {
	return err != nil || strings.HasPrefix(name, startMachine) || strings.HasPrefix(name, "Microsoft.Extensions.Hosting.Internal.Host.StartAsync")
}
