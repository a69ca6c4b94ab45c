package locks

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/target"
)

// asynchronous finds, for tasks that wait for semaphores, the async methods that continue when they complete.
func (s *survey) asynchronous(o heap.ScanOptions) error {
	waiting := map[target.Addr]*answer.AsyncWaiter{}
	for _, l := range s.locks {
		for i := range l.Async {
			waiting[l.Async[i].Task] = &l.Async[i]
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	set, err := s.taskSet(o)
	if err != nil || set == nil {
		return err
	}
	for stack, err := range set.Stacks(s.ctx, tasks.StackOptions{Type: semaphoreTask, Tasks: true}) {
		if err != nil {
			return err
		}
		s.gaps.NoteAll(stack.Noted())
		if w := waiting[stack.Frames[0].Object]; w != nil {
			continues(w, stack.Frames[1:])
		}
	}
	return nil
}

// semaphoreTask is the class of the tasks that SemaphoreSlim.WaitAsync returns.
const semaphoreTask = "System.Threading.SemaphoreSlim+TaskNode"

// continues records the innermost async method that continues a task, and the thread that blocks on it.
// If several do, the first counts.
func continues(w *answer.AsyncWaiter, frames []answer.AsyncFrame) {
	for i := range frames {
		f := &frames[i]
		if f.Depth != len(w.Stack)+1 {
			return // belongs to another continuation, or follows a frame without a name
		}
		if f.Kind == answer.AsyncOther {
			w.Blocked = f.Meaning != ""
			return
		}
		w.Stack = append(w.Stack, frameName(f))
	}
}

// taskSet returns the tasks of the heap, collected once. It returns nil and records the reason if they can't be read.
func (s *survey) taskSet(o heap.ScanOptions) (*tasks.Set, error) {
	if s.set != nil || s.setLost {
		return s.set, nil
	}
	set, err := s.found.tasks.Collect(s.ctx, s.r.heap, o)
	if err == nil {
		var g answer.Gaps
		err = set.Note(&g)
		s.partial = len(g.Noted()) > 0
		s.gaps.NoteAll(g.Noted())
	}
	if s.ctx.Err() != nil {
		return nil, s.ctx.Err()
	}
	if err != nil {
		s.setLost = true
		s.lose(err)
		return nil, nil
	}
	s.set = set
	return set, nil
}
