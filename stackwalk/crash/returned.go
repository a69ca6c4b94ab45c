package crash

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// namedThreads is how many threads a conclusion names.
const namedThreads = 5

// returned says that Main has returned, and which threads the process goes on for. The runtime makes the thread that runs Main
// one of the foreground (Assembly::ExecuteMainMethod) and one of the background when Main has returned (RunMainPost), and then
// waits until no thread of the foreground is left.
func (d *describer) returned(walker *stackwalk.Walker, list []threads.Thread) {
	if root, err := d.rt.RootAssembly(); err != nil || root == 0 {
		if err != nil && !errors.Is(err, target.ErrUnsupported) {
			d.out.Note(err)
		}
		return // nobody called a Main
	}
	main := d.initialThread(list)
	if main == nil || main.Managed == nil || main.Managed.Finalizer || main.Managed.State&dac.ThreadBackground == 0 || d.outermost(walker, main) != "" {
		return
	}
	var others []string
	for i := range list {
		t := &list[i]
		if t == main || t.Managed == nil || t.Managed.State&(dac.ThreadBackground|dac.ThreadUnstarted|dac.ThreadDead) != 0 {
			continue
		}
		if t.OS != nil {
			switch d.outermost(walker, t) {
			case "Main", "<Main>$", "<Main>", "main@", unknownFrame:
				return // a host may have had another thread run it
			}
		}
		others = append(others, threadWords(t))
	}
	evidence := fmt.Sprintf("thread %s, the first of the process, has no managed frames and is a background thread, as the runtime makes it when Main has returned",
		threadWords(main))
	if len(others) == 0 {
		d.conclusion("Main has returned, and no foreground thread is left: the process is ending", answer.StrengthLikely, evidence)
		return
	}
	names := others[:min(len(others), namedThreads)]
	more := ""
	if n := len(others) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	d.conclusion(fmt.Sprintf("Main has returned: the process goes on as long as one of its foreground threads runs: %s%s", strings.Join(names, ", "), more),
		answer.StrengthLikely, evidence)
}

// initialThread is the thread with which the process began: that which has the process's id, where threads have ids of the same kind, and
// else the one that the dump lists first.
func (d *describer) initialThread(list []threads.Thread) *threads.Thread {
	var first *threads.Thread
	for i := range list {
		t := &list[i]
		if t.OS == nil {
			continue
		}
		if t.ID() == d.p.Target.Process().ID {
			return t
		}
		if t.Index == 0 {
			first = t
		}
	}
	return first
}

// unknownFrame stands for the name of a method that can't be read, or of a stack that can't be followed.
const unknownFrame = "?"

// outermost is the name of the method of a thread's outermost managed frame, empty if it has none.
func (d *describer) outermost(walker *stackwalk.Walker, t *threads.Thread) (name string) {
	for f := range walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Err != nil {
			return unknownFrame
		}
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		name = unknownFrame
		if md, err := f.Method(); err == nil && md != nil {
			if n, err := md.Name(); err == nil {
				name = n
			}
		}
	}
	if d.ctx.Err() != nil {
		return unknownFrame
	}
	return name
}
