package async

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// waitMethods begin the names of methods that wait for a task, and then look at its exceptions.
var waitMethods = []string{"System.Threading.Tasks.Task.", "System.Threading.Tasks.Task`1", "System.Threading.Tasks.Task<", "System.Runtime.CompilerServices.TaskAwaiter"}

// held marks the failed tasks that a thread waits for: it was not woken yet, or is on its way to the exceptions. Stacks that can't be read mark none.
func held(ctx context.Context, p *process.Process, out *answer.Tasks) error {
	at := map[target.Addr]int{}
	for i := range out.Faults {
		if !out.Faults[i].Awaited {
			at[out.Faults[i].Task] = i
		}
	}
	if len(at) == 0 {
		return nil
	}
	list, err := p.Threads()
	walker, werr := p.Walker()
	if werr != nil {
		return err
	}
	for i := range list {
		if t := &list[i]; t.Managed != nil && t.OS != nil {
			heldBy(ctx, walker, t, func(a target.Addr) {
				if n, ok := at[a]; ok {
					out.Faults[n].Awaited = true
				}
			})
		}
	}
	return err
}

// heldBy visits what the frames of a thread's waits for tasks refer to.
func heldBy(ctx context.Context, walker *stackwalk.Walker, t *stackwalk.Thread, visit func(target.Addr)) {
	frames := map[target.Addr]bool{}
	for f := range walker.Walk(ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if md, err := f.Method(); err == nil && md != nil && f.Kind == stackwalk.FrameManaged {
			name, _ := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified) // one without a name is none of the class library
			for _, begin := range waitMethods {
				if strings.HasPrefix(name, begin) {
					frames[f.SP] = true
				}
			}
		}
	}
	if len(frames) == 0 {
		return
	}
	for root, err := range walker.Roots(ctx, t.Managed, t.OS.Registers) {
		if err == nil && frames[root.FrameSP] {
			visit(root.Object)
		}
	}
}
