package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// follow finds the threads that others wait for: the holders of locks, and the threads that run awaited tasks.
func (s *survey) follow(o heap.ScanOptions) error {
	wanted := map[target.Addr]bool{}
	for _, w := range s.waits {
		w.proved = true
		if w.lock != nil && !w.pulse {
			w.runners = w.lock.holders(w.thread)
		}
		if w.object.Addr != 0 && !w.join && w.more == 0 {
			if t := s.mutexOwner(w.object); t != nil {
				w.add(t)
			} else if s.lastTick(w, w.object.Addr); w.callback != "" {
			} else if t := s.mutexHolder(w.object); t != nil && t != w.thread {
				w.byCode = true
				w.add(t)
			}
		}
		for _, a := range w.tasks {
			wanted[a] = true
			s.lastTick(w, a)
		}
		w.completed = w.event != 0 && len(w.tasks) == 0 && s.completes(w.thread)
	}
	if err := s.asyncs(o); err != nil {
		return err
	}
	if len(wanted) == 0 {
		return nil
	}
	if s.pool == nil {
		if err := s.queued(); err != nil {
			return err
		}
	}
	return s.awaited(wanted, o)
}

// asyncs finds the F# asyncs that threads await in Async.RunSynchronously: the closure that ends an async sets the
// event for which the thread waits.
func (s *survey) asyncs(o heap.ScanOptions) error {
	of := map[target.Addr]*wait{}
	for _, w := range s.waits {
		if w.object.Addr != 0 && !w.join && w.more == 0 && s.runsSynchronously(w.thread) {
			of[w.object.Addr] = w
		}
	}
	if len(of) == 0 {
		return nil
	}
	if err := s.queued(); err != nil {
		return err
	}
	set, err := s.taskSet(o)
	if err != nil || set == nil {
		return err
	}
	for stack, err := range set.Stacks(s.ctx, tasks.StackOptions{Tasks: true}) {
		if err != nil {
			return err
		}
		end := stack.Frames[len(stack.Frames)-1].Object
		event, err := s.found.tasks.Releases(end)
		s.gaps.Note(err)
		if w := of[event]; w != nil && event != 0 && len(w.tasks) == 0 {
			w.tasks, w.async = []target.Addr{end}, true
			s.through(w, end, stack)
		}
	}
	return s.ctx.Err()
}

// runsSynchronously reports whether a thread is in a method of FSharp.Core that waits until an async is done.
func (s *survey) runsSynchronously(t *stackwalk.Thread) bool {
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || err != nil || md == nil {
			continue
		}
		if class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative); err == nil && !strings.HasPrefix(class, "System.") {
			return strings.HasPrefix(class, fsharpControl)
		}
	}
	return false
}

// fsharpControl is the namespace of F#'s async classes.
const fsharpControl = "Microsoft.FSharp.Control."

// queued reads the thread pool's queues.
func (s *survey) queued() error {
	p, err := threadpool.New(s.r.b, s.r.walker, s.r.threads, s.r.unread).Describe(s.ctx, threadpool.Options{Items: true})
	if err != nil {
		return err
	}
	s.pool, s.items = p, map[target.Addr]bool{}
	for i := range p.Queues.Queues {
		for _, item := range p.Queues.Queues[i].Items {
			s.items[item.Address] = true
		}
	}
	return nil
}

// awaited finds, for the tasks that threads wait for, the async methods between them, what those wait for, and the
// thread that runs it.
func (s *survey) awaited(wanted map[target.Addr]bool, o heap.ScanOptions) error {
	of := map[target.Addr][]*wait{}
	for _, w := range s.waits {
		for _, a := range w.tasks {
			of[a] = append(of[a], w)
			if t := s.runs(a); t != nil {
				w.add(t)
			}
			if s.running.current[a] == w.thread {
				w.runners = append(w.runners, w.thread)
			}
			if s.items[a] {
				w.until = words.PoolWorker.Of()
			}
		}
	}
	set, err := s.taskSet(o)
	if err != nil || set == nil {
		return err
	}
	for stack, err := range set.Stacks(s.ctx, tasks.StackOptions{Any: wanted, Tasks: true}) {
		if err != nil {
			return err
		}
		for i := range stack.Frames {
			a := stack.Frames[i].Object
			if !wanted[a] || stack.Frames[i].Again {
				continue
			}
			for _, w := range of[a] {
				s.through(w, a, stack)
			}
		}
	}
	return s.ctx.Err()
}

// through records what an async stack shows about an awaited task. The first stack supplies the words.
func (s *survey) through(w *wait, a target.Addr, stack *answer.AsyncStack) {
	if w.chain == nil {
		chain := stack.Awaited(a)
		if w.async && len(chain) > 0 {
			chain = chain[1:] // the closure that sets the event
		}
		for _, f := range chain {
			w.chain = append(w.chain, frameName(f))
		}
		if w.ready = s.ready(stack, a); !w.ready && w.until.IsZero() && stack.Reason.Err == nil {
			w.until = stack.Why
			if tasks.RemoteTask(frameName(&stack.Frames[0])) == answer.WaitConnection && w.until.Says == words.APromise.Kind() {
				w.until = words.Connection.Of(answer.Statement{}, answer.Statement{})
			}
			w.proved = len(w.runners) > 0
		}
		if s.waitsInPool(stack) {
			w.until = words.PoolWorker.Of()
		}
		if l := s.nodes[stack.Frames[0].Object]; l != nil {
			w.until = words.SemaphoreUnrecorded.Of(words.Object(l.Address), l.Counts)
		}
	}
	leaf := stack.Frames[0].Object
	if n := len(stack.Waits); n > 0 {
		leaf = stack.Waits[n-1].Object
	}
	cause, err := s.found.tasks.CauseOf(leaf)
	s.gaps.Note(err)
	if cause == tasks.CausePool && w.scheduler == "" {
		w.scheduler, err = s.found.tasks.SchedulerOf(leaf)
		s.gaps.Note(err)
	}
	w.leaves = append(w.leaves, leafOf{leaf, cause, s.nodes[leaf] != nil})
	if t := s.runs(leaf); t != nil {
		if leaf != a {
			w.proved = false // concluded from the awaited objects
		}
		w.add(t)
	}
}

// ready reports whether the innermost method of a stack, on the way to the task at a, can go on: its await has
// completed.
func (s *survey) ready(stack *answer.AsyncStack, a target.Addr) bool {
	n := len(stack.Waits)
	if n == 0 || stack.Waits[n-1].Object == a {
		return false // the task itself has completed, or is what waits
	}
	cause, err := s.found.tasks.CauseOf(stack.Waits[n-1].Object)
	return err == nil && cause == tasks.CauseNone && !s.waitsInPool(stack) && s.runs(stack.Frames[0].Object) == nil
}

// postsTo returns the type of a thread's SynchronizationContext, which resumes the awaits of that thread. It is empty
// if the thread has no context or one that uses the thread pool.
func (s *survey) postsTo(t *stackwalk.Thread) string {
	if t.Managed == nil || t.Managed.ExposedHandle == 0 {
		return ""
	}
	at, err := target.Pointer(s.r.rt.Memory(), t.Managed.ExposedHandle)
	if err != nil || at == 0 {
		return ""
	}
	o, err := s.r.b.Objects().TrustedObject(at)
	if err != nil {
		return ""
	}
	k, x, is, err := shapes.TryBind[*threadObject](s.r.b, o)
	if !is || err != nil || !k.Context.Has() {
		return ""
	}
	if o, err = k.Context.Object(x); err != nil || o.Addr == 0 {
		return ""
	}
	name, err := o.Type.ManagedName()
	if err != nil || name == "System.Threading.SynchronizationContext" {
		return "" // that one runs everything in the thread pool
	}
	return name
}

// waitsInPool reports whether a stack waits for an item of the thread pool.
func (s *survey) waitsInPool(stack *answer.AsyncStack) bool {
	for i := range stack.Waits {
		if s.items[stack.Waits[i].Object] {
			return true
		}
	}
	return s.items[stack.Frames[0].Object]
}

// add adds a thread that must proceed before w can. A thread that has its own task on its stack need not run it, unless the class library records that.
func (w *wait) add(t *stackwalk.Thread) {
	if t != w.thread && !slices.Contains(w.runners, t) {
		w.runners = append(w.runners, t)
	}
}

// running holds the tasks and async method boxes that threads run.
type running struct {
	tasks   map[target.Addr]*stackwalk.Thread
	current map[target.Addr]*stackwalk.Thread // those that the class library records
	inside  []insideOf
}

// insideOf is a reference into a box, held by the code of its state machine.
type insideOf struct {
	at     target.Addr
	thread *stackwalk.Thread
}

// runs returns the thread that runs a task: the task is its current one, or is on its stack and running.
func (s *survey) runs(a target.Addr) *stackwalk.Thread {
	if s.running == nil {
		s.running = s.findRunning()
	}
	if t := s.running.tasks[a]; t != nil || len(s.running.inside) == 0 {
		return t
	}
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return nil
	}
	size, err := o.Size()
	if err != nil {
		return nil
	}
	for _, in := range s.running.inside {
		if in.at > a && uint64(in.at-a) < size {
			return in.thread
		}
	}
	return nil
}

// findRunning searches the stacks of all threads.
func (s *survey) findRunning() *running {
	out := &running{tasks: map[target.Addr]*stackwalk.Thread{}, current: map[target.Addr]*stackwalk.Thread{}}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.OS == nil || t.Managed == nil || s.ctx.Err() != nil {
			continue
		}
		for k, err := range objects.LoadedShapes[*task](s.r.b) {
			if err != nil || !k.Current.Has() {
				continue
			}
			if at, err := k.Current.Of(t.Managed).Addr(); err == nil && at != 0 {
				out.tasks[at], out.current[at] = t, t
			}
		}
		s.dispatched(out, t)
		for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
			if err != nil {
				break // inferred finds what waits there
			}
			if root.Explicit != "" || root.Object == 0 || root.Method == nil {
				continue
			}
			switch name, err := root.Method.Name(); {
			case err != nil:
			case name == "MoveNext" && root.Interior:
				out.inside = append(out.inside, insideOf{root.Object, t})
			case name == "MoveNext":
				s.boxOn(out, &root, t)
			}
		}
	}
	return out
}

// dispatched records the tasks of the suspended methods that a thread resumes.
func (s *survey) dispatched(out *running, t *stackwalk.Thread) {
	for k, err := range objects.LoadedShapes[*dispatcher](s.r.b) {
		if err != nil {
			continue
		}
		at, err := k.First.Of(t.Managed).Addr()
		for last := target.Addr(0); err == nil && at > last && t.Managed.Stack.Contains(at); {
			if task, err := k.Current.Addr(objects.Instance(at)); err == nil && task != 0 {
				out.tasks[task], out.current[task] = t, t
			}
			last = at // outer dispatchers are nearer to the stack's base
			var next uint64
			next, err = k.Next.Uint(objects.Instance(at))
			at = target.Addr(next)
		}
	}
}

// boxOn records that a thread runs a box if a method of the box's own class refers to it.
func (s *survey) boxOn(out *running, root *stackwalk.Root, t *stackwalk.Thread) {
	o, err := s.r.b.Objects().TrustedObject(root.Object)
	if err != nil || out.tasks[o.Addr] != nil {
		return
	}
	if is, err := objects.IsShape[*box](s.r.b, o.Type); !is || err != nil {
		return
	}
	if class, err := s.r.b.Objects().TrustedType(root.Method.MethodTable); err == nil {
		if is, err := objects.IsShape[*box](s.r.b, class); is && err == nil {
			out.tasks[o.Addr] = t
		}
	}
}
