package crash

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// namedThreads is the maximum number of threads that a conclusion names.
const namedThreads = 5

// returned concludes that Main has returned, and which threads keep the process alive. The runtime makes the thread
// that runs Main a foreground thread (Assembly::ExecuteMainMethod), and a background thread when Main has returned
// (RunMainPost). It then waits for the other foreground threads.
func (d *describer) returned(walker *stackwalk.Walker, list []stackwalk.Thread) {
	if root, err := d.rt.RootAssembly(); err != nil || root == 0 {
		if err != nil && !errors.Is(err, target.ErrUnsupported) {
			d.out.Note(err)
		}
		return // the process has no Main
	}
	main := d.initialThread(list)
	if main == nil || main.Managed == nil || main.Managed.Finalizer || main.Managed.State&dac.ThreadBackground == 0 || d.outermost(walker, main) != "" {
		return
	}
	var others []answer.Statement
	fed, takes := false, false
	var unread []error // of threads that may do either
	for i := range list {
		t := &list[i]
		if t == main || t.Managed == nil || t.Managed.State&(dac.ThreadUnstarted|dac.ThreadDead) != 0 {
			continue
		}
		if t.Managed.State&dac.ThreadBackground != 0 {
			fed = fed || !t.Managed.Finalizer && t.OS != nil && d.outermost(walker, t) != ""
			continue
		}
		if t.OS != nil {
			switch d.outermost(walker, t) {
			case "Main", "<Main>$", "<Main>", "main@", unknownFrame:
				return // a host may have used another thread
			}
		}
		moves, next, err := d.moves(walker, t)
		switch {
		case moves:
			return // a program may leave its work to such a thread
		case errors.Is(err, dac.ErrILMissing):
			unread = append(unread, fmt.Errorf("whether thread %#x waits for its next work: %w", t.ID(), err))
		case next:
			takes = true
		default:
			fed = true
		}
		others = append(others, threadSays(t))
	}
	if takes && fed {
		return // a server of a queue, to which another thread, the thread pool or a timer may add
	}
	if len(unread) > 1 || len(unread) == 1 && (fed || takes) {
		d.out.Note(unread[0])
		return
	}
	evidence := words.FirstThreadIdle.Of(threadSays(main))
	if len(others) == 0 {
		d.finding(answer.FindingEnding, words.MainReturned.Of(), answer.StrengthLikely, evidence)
		return
	}
	more := answer.Statement{}
	names := others[:min(len(others), namedThreads)]
	if n := len(others) - len(names); n > 0 {
		more = words.AndMore.Of(words.N(n))
	}
	d.finding(answer.FindingEnding, words.MainReturnedBut.Of(words.Join(", ", names...), more), answer.StrengthLikely, evidence)
}

// moves reports whether a thread runs, or sleeps, as one that works at intervals does, or waits for what comes from outside of the process. next reports
// whether it waits for its next work instead: for an item of a BlockingCollection, or in a loop for an event, a semaphore or a pulse. The error says why that is
// not known.
func (d *describer) moves(walker *stackwalk.Walker, t *stackwalk.Thread) (moves, next bool, err error) {
	if t.OS == nil {
		return false, false, nil
	}
	a := threads.ActivityOf(t, walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
	switch a.Activity {
	case threads.ActivityRunning, threads.ActivitySuspended, threads.ActivitySleep, threads.ActivitySocket, threads.ActivityConsole:
		return true, false, nil
	case threads.ActivityQueue:
		if a.By == nil {
			return false, false, nil
		}
		name, err := a.By.Name()
		return false, err == nil && strings.Contains(name, "Take"), nil // and not to add one
	case threads.ActivityEvent, threads.ActivityMonitorWait:
		r, err := locks.Of(d.p)
		if err != nil {
			return false, false, nil
		}
		next, err = r.Serves(d.ctx, t)
		return false, next, err
	}
	return false, false, nil
}

// initialThread returns the first thread of the process. If threads and processes share ids, it is the one with the
// process's id; otherwise the first in the dump.
func (d *describer) initialThread(list []stackwalk.Thread) *stackwalk.Thread {
	var first *stackwalk.Thread
	for i := range list {
		t := &list[i]
		if t.OS == nil {
			continue
		}
		if t.ID() == d.p.Target().Process().ID {
			return t
		}
		if t.Index == 0 {
			first = t
		}
	}
	return first
}

// unknownFrame stands for a method without a readable name, or a stack that can't be walked.
const unknownFrame = "?"

// outermost returns the method of a thread's outermost managed frame, or "".
func (d *describer) outermost(walker *stackwalk.Walker, t *stackwalk.Thread) (name string) {
	for f := range walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Missing() != nil {
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
