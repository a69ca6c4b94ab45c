package locks

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A wait is what a thread waits for.
type wait struct {
	thread *stackwalk.Thread
	lock   *lock           // nil for a task or a class
	tasks  []target.Addr   // the tasks that it waits for: one, except for Task.WaitAll
	event  target.Addr     // the event that completion of the tasks sets
	class  target.Addr     // the MethodTable of the class that it waits for: its static constructor runs
	object objects.Object  // the Thread or WaitHandle that it waits for
	join   bool            // object is a Thread
	handle answer.WaitKind // of an object that is a WaitHandle: what signals are for it, "" for an event
	// callback is what must end first, where the class library waits for a callback that runners run.
	callback string
	serves   string                            // waits for the finalizer thread, which does this for it
	more     int                               // how many other WaitHandles it waits for
	runners  []*stackwalk.Thread               // the threads that must proceed first, as far as they are known
	pulse    bool                              // waits for a pulse and has released the monitor
	signals  []*stackwalk.Thread               // the threads that would end a wait for a signal later, if only they can, and all of them wait so; set by crossings
	gets     map[*stackwalk.Thread]target.Addr // by thread of signals, if it alone gets to what would end it: the BlockingCollection that it takes it from, or 0 if it has it; set by crossings
	anew     bool                              // a library may call again, on other threads, the methods that take from the collections of gets
	timeout  int32
	steps    bool // the class library waits in steps, each for a limited time: the program's wait has no limit that is recorded
	how      string

	byCode  bool           // waits for a Mutex that runners holds by its code
	outside *tasks.Outside // what another process has to do, nil for other waits

	remote answer.WaitKind // answer.WaitConnection or answer.WaitServer, if a client library waits for a server

	library bool // a thread of a library waits: no method of the program is on its stack

	async bool // tasks is the closure that ends an async of F#, and not a task

	op     *operation // the suspended code that waits, if it is no thread
	behind []*wait    // the waits of suspended code that must proceed first
	byIL   bool       // the IL says that behind alone ends it; set by standstills
	leaves []leafOf   // for a task: what the methods between wait for

	called string           // the method of the class library that the program called
	ends   answer.Statement // how the wait can end by itself
	vague  bool             // only IL that is missing says whether it can
	entry  bool             // the program's entry point waits, as an async Main does
	chain  []string         // for a task: the async methods from it to the one that waits for something else
	until  answer.Statement // for a task: what that method waits for
	// scheduler is the class of the TaskScheduler that the task is queued in, if it is not the thread pool's.
	scheduler string
	ready     bool // for a task: that method can go on
	completed bool // for a task: it has completed, and wakes the thread next
	proved    bool // runners are recorded by themselves or by the runtime

	unread string // what it waits for in words, where the object could not be read
}

// A note is the record of a wait that the class library or the runtime keeps while a thread waits.
type note struct {
	pulse   bool
	monitor *dac.SyncBlock // nil for a Lock that is no monitor
	object  target.Addr    // the Lock
	timeout int32
}

// blocked determines what each thread waits for.
func (s *survey) blocked() {
	s.unnoted = map[*stackwalk.Thread]bool{}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.OS == nil || t.Managed == nil || s.ctx.Err() != nil {
			continue
		}
		notes, err := s.notes(t.Managed)
		if err != nil && !errors.Is(err, target.ErrUnsupported) {
			s.lose(fmt.Errorf("what thread %#x waits for: %w", t.ID(), err))
		}
		if len(notes) > 0 {
			s.looked++
			s.noted(t, &notes[0]) // the innermost wait blocks the thread
			continue
		}
		s.unnoted[t] = err == nil
		s.inferred(t)
	}
}

// enters reports whether a thread is in a method that enters a monitor, and has not begun to wait for it: that would be noted.
func (s *survey) enters(t *stackwalk.Thread) bool {
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if f.Missing() != nil || err != nil {
			return false
		}
		if md == nil {
			continue
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		return err == nil && s.unnoted[t] && strings.HasPrefix(name, "System.Threading.Monitor.") && strings.Contains(name, "Enter")
	}
	return false
}

// notes returns the class library's notes of t if it keeps any, else the runtime's.
func (s *survey) notes(t *dac.Thread) ([]note, error) {
	var unread error
	for k, err := range objects.LoadedShapes[*blockingInfo](s.r.b) {
		if err != nil {
			unread = err
			continue
		}
		if notes, err := s.managedNotes(k, t); err != nil || len(notes) > 0 {
			return notes, err
		}
	}
	items, err := s.r.rt.BlockingItems(t)
	var out []note
	for i := range items {
		out = append(out, note{pulse: items[i].Kind == dac.BlockedWait, monitor: &items[i].Block, timeout: items[i].Timeout})
	}
	if err == nil && len(out) == 0 && errors.Is(unread, target.ErrNotInDump) {
		return nil, unread // only the class library records a Lock
	}
	return out, err
}

// managedNotes follows ThreadBlockingInfo.t_first, a list of structs on the thread's stack.
func (s *survey) managedNotes(k *blockingInfo, t *dac.Thread) ([]note, error) {
	v := k.First.Of(t)
	if errors.Is(v.Err(), objects.ErrNotInitialised) {
		return nil, nil
	}
	at, err := v.Addr()
	var out []note
	last := target.Addr(0)
	for err == nil && at != 0 {
		if !t.Stack.Contains(at) || at <= last || len(out) == limits.BlockingItems {
			return out, target.Corruptf("a note at %#x", uint64(at))
		}
		last = at
		var n note
		if n, err = s.managedNote(k, objects.Instance(at)); err != nil {
			return out, err
		}
		out = append(out, n)
		var next uint64
		next, err = k.Next.Uint(objects.Instance(at))
		at = target.Addr(next)
	}
	return out, err
}

// managedNote reads one note. Up to .NET 10 a monitor's note names the lock in its sync block. Other
// notes name a variable that refers to a Lock, or to the Condition of one.
func (s *survey) managedNote(k *blockingInfo, at objects.Instance) (note, error) {
	v, err := ints(at, &k.Kind, &k.Timeout)
	if err != nil {
		return note{}, err
	}
	p, err := k.Object.Uint(at)
	if err != nil {
		return note{}, err
	}
	n := note{timeout: int32(v[1]), pulse: v[0] == kindMonitorWait || v[0] == kindCondition}
	switch v[0] {
	case kindMonitorLock, kindMonitorWait:
		b, err := s.r.rt.SyncBlockOfLock(target.Addr(p))
		if err != nil {
			return n, err
		}
		n.monitor = &b
	case kindLock, kindCondition:
		if n.object, err = target.Pointer(s.r.rt.Memory(), target.Addr(p)); err != nil {
			return n, err
		}
		if v[0] == kindCondition {
			if n.object, err = s.r.rt.LockOfCondition(n.object); err != nil {
				return n, err
			}
		}
		n.monitor = s.blocks[n.object]
	default:
		return n, target.Corruptf("a note of kind %d", v[0])
	}
	return n, nil
}

// noted adds a recorded wait. A wait for a pulse of a monitor inside a lock of the class library
// counts as a wait for that lock.
func (s *survey) noted(t *stackwalk.Thread, n *note) {
	w := &wait{thread: t, pulse: n.pulse, timeout: n.timeout, how: answer.HowRecorded}
	switch {
	case n.pulse:
		s.pulsed(w, n)
	case n.monitor != nil:
		w.lock = s.monitor(n.monitor)
	default:
		w.lock = s.byObj[n.object]
	}
	if w.lock == nil && w.event == 0 {
		return
	}
	if n.pulse && w.timeout >= 0 && s.inSteps(t) {
		w.timeout, w.steps = -1, true
	}
	s.addWait(w)
}

// inSteps reports whether the class library chose the time limit of a thread's wait: the method that the program
// called takes no time, or is known to wait in steps.
func (s *survey) inSteps(t *stackwalk.Thread) bool {
	called := ""
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Missing() != nil {
			return false
		}
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || md == nil && err == nil {
			continue
		}
		name := ""
		if err == nil {
			name, err = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
		}
		if err != nil {
			return false
		}
		if !answer.LibraryMethod(name) {
			return strings.HasPrefix(called, "System.Threading.") && (strings.HasPrefix(called, "System.Threading.Barrier.") || !takesTime(called))
		}
		called = name
	}
	return false
}

// takesTime reports whether a method can take a time. method includes the signature.
func takesTime(method string) bool {
	_, arguments, _ := strings.Cut(method, "(")
	for _, name := range []string{"Int32", "Int64", "TimeSpan", "DateTime"} {
		if strings.Contains(arguments, name) {
			return true
		}
	}
	return false
}

// pulsed determines what a thread waits for if it waits for a pulse of a monitor or Lock.
func (s *survey) pulsed(w *wait, n *note) {
	object := n.object
	if n.monitor != nil {
		object = n.monitor.Object
	}
	owner, ok := s.on[object]
	if !ok {
		if w.lock = s.byObj[object]; n.monitor != nil {
			w.lock = s.monitor(n.monitor)
		}
		return
	}
	w.pulse = false
	if s.tasks[owner] {
		w.event = owner
		w.tasks = s.tasksOf(w.thread, owner)
		return
	}
	if outer, ok := s.inner[owner]; ok {
		owner = outer
	}
	w.lock = s.byObj[owner]
}

// tasksOf finds the tasks that set an event when they complete. It searches the objects on the thread's frames and in
// the arrays and lists that they refer to.
func (s *survey) tasksOf(t *stackwalk.Thread, event target.Addr) (out []target.Addr) {
	seen := map[target.Addr]bool{}
	for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
		if err != nil || root.Interior || root.Object == 0 || seen[root.Object] {
			continue
		}
		seen[root.Object] = true
		o, err := s.r.b.Objects().TrustedObject(root.Object)
		if err != nil {
			continue
		}
		if s.sets(o, event) && !slices.Contains(out, o.Addr) {
			out = append(out, o.Addr)
		}
		for _, e := range s.elements(o) {
			if seen[e] || e == 0 {
				continue
			}
			seen[e] = true
			if o, err := s.r.b.Objects().TrustedObject(e); err == nil && s.sets(o, event) {
				out = append(out, o.Addr)
			}
		}
	}
	return out
}

// completes reports whether the frames of a thread that waits for an unknown task refer to one that has completed. A task drops what it continues
// with before it continues that.
func (s *survey) completes(t *stackwalk.Thread) bool {
	for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
		if err != nil || root.Interior || root.Object == 0 {
			continue
		}
		if done, err := s.found.tasks.Completed(root.Object); err == nil && done {
			return true
		}
	}
	return false
}

// sets reports whether an object is a task that sets event when it completes.
func (s *survey) sets(o objects.Object, event target.Addr) bool {
	k, at, is, err := shapes.TryBind[*task](s.r.b, o)
	if !is || err != nil {
		return false
	}
	next, err := k.Continuation.Object(at)
	return err == nil && s.continues(next, event)
}

// elements returns the readable references of an array or list, and nothing for other objects.
func (s *survey) elements(o objects.Object) (out []target.Addr) {
	if k, at, is, err := shapes.TryBind[*list](s.r.b, o); is {
		if err != nil {
			return nil
		}
		if o, err = k.Items.Object(at); err != nil || o.Addr == 0 {
			return nil
		}
	}
	a, err := objects.BindArray(o)
	if err != nil {
		return nil
	}
	for i := range min(a.Len, limits.ListedReferences) {
		e, err := a.Ref(i)
		if err != nil {
			break
		}
		out = append(out, e)
	}
	return out
}

// continues reports whether a task's continuation is the event or a list that contains it.
func (s *survey) continues(next objects.Object, event target.Addr) bool {
	if next.Addr == event || next.Addr == 0 {
		return next.Addr != 0
	}
	return slices.Contains(s.elements(next), event)
}

func (s *survey) addWait(w *wait) {
	s.waits = append(s.waits, w)
	if w.lock == nil {
		return
	}
	d := answer.LockWaiter{Thread: w.thread.Describe(s.gaps), Pulse: w.pulse, How: w.how}
	if w.timeout >= 0 && w.how == answer.HowRecorded {
		d.Timeout = &w.timeout
	}
	w.lock.Waiting = append(w.lock.Waiting, d)
}

// inferred guesses what a thread waits for when nothing was recorded: an object that the waiting
// frames of the class library refer to, or a static constructor.
func (s *survey) inferred(t *stackwalk.Thread) {
	a := threads.ActivityOf(t, s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
	if a.Err == nil {
		s.looked++
	}
	w := &wait{thread: t, how: answer.HowInferred, timeout: -1}
	switch a.Activity {
	case threads.ActivityLock, threads.ActivityEvent, threads.ActivityMonitorWait:
		if w.lock = s.referred(t, &a); w.lock == nil {
			w.object, w.more = s.handle(t, &a)
			w.handle = s.handleKind(w.object)
		}
	case threads.ActivityJoin:
		w.join = true
		w.object = s.joined(t, &a)
		if t := s.thread(w.object); t != nil {
			w.runners = append(w.runners, t)
		}
	case threads.ActivityProcess, threads.ActivityFile:
		w.outside = tasks.OutsideOf(s.ctx, s.r.b, s.r.walker, s.children, t, s.gaps, &a)
	case threads.ActivityExit:
		s.finalizers(w, "runs the handlers of ProcessExit")
	case threads.ActivityStaticInit, threads.ActivityRuntime:
		if a.By != nil {
			if name, err := a.By.Name(); err == nil && strings.HasSuffix(name, "WaitForPendingFinalizers") {
				s.finalizers(w, "runs finalizers")
				break
			}
		}
		var runner *stackwalk.Thread
		if w.class, runner = s.constructor(t, &a); runner != nil {
			w.runners = append(w.runners, runner)
		}
	}
	if w.lock == nil && w.object.Addr == 0 && !w.join && w.outside == nil {
		s.callback(w)
	}
	if s.lost && w.lock == nil && w.object.Addr == 0 {
		w.unread = s.someMonitor(&a)
	}
	if w.lock != nil || w.class != 0 || w.object.Addr != 0 || w.join || w.serves != "" || w.callback != "" || w.unread != "" || w.outside != nil {
		s.addWait(w)
	} else if a.Err != nil && !errors.Is(a.Err, target.ErrUnsupported) { // a frame that is missing may be the one that waits
		s.lose(fmt.Errorf("what thread %#x waits for: %w", t.ID(), a.Err))
	}
}

// someMonitor returns what a thread inside a method of Monitor waits for, and "" for other threads.
// The method proves the wait even if the object is unknown.
func (s *survey) someMonitor(a *threads.ThreadActivity) string {
	if a.By == nil {
		return ""
	}
	class, err := s.r.rt.TypeName(a.By.MethodTable, dac.NameNative)
	switch {
	case err != nil || class != "System.Threading.Monitor":
		return ""
	case a.Activity == threads.ActivityLock:
		return "the monitor of an object that could not be determined"
	case a.Activity == threads.ActivityMonitorWait:
		return "a pulse of an object that could not be determined"
	}
	return ""
}

// finalizers makes w a wait for the finalizer thread, if that thread runs a method of the program.
func (s *survey) finalizers(w *wait, does string) {
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t == w.thread || t.OS == nil || t.Managed == nil || !t.Managed.Finalizer {
			continue
		}
		a := threads.ActivityOf(t, s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}))
		if a.Caller != nil {
			w.serves, w.runners = does, []*stackwalk.Thread{t}
		}
	}
}

// framework iterates over the references of the class library's frames at the top of a stack.
func (s *survey) framework(t *stackwalk.Thread) iter.Seq[stackwalk.Root] {
	return func(yield func(stackwalk.Root) bool) {
		for root, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
			if err != nil {
				if !s.unread[t] {
					s.unread[t] = true
					s.lose(fmt.Errorf("what thread %#x waits for: %w", t.ID(), err))
				}
				return
			}
			if root.Explicit == "" && root.Method != nil {
				class, err := s.r.rt.TypeName(root.Method.MethodTable, dac.NameNative)
				if err != nil || !strings.HasPrefix(class, "System.") {
					return
				}
			}
			if root.Object != 0 && !yield(root) {
				return
			}
		}
	}
}

// referred returns the lock that the class library's frames at the top of the stack refer to: its class declares the
// waiting method, and its own count shows a waiter.
func (s *survey) referred(t *stackwalk.Thread, a *threads.ThreadActivity) *lock {
	if a.By == nil {
		return nil
	}
	for root := range s.framework(t) {
		if l := s.spins[root.Object]; l != nil && root.Interior && l.Held {
			return l
		}
		object := root.Object
		if outer, ok := s.inner[object]; ok {
			object = outer // the event of a CountdownEvent or Barrier
		}
		if l := s.byObj[object]; l != nil && !root.Interior && l.Waiters.Value > 0 {
			return l
		}
		if l := s.mons[root.Object]; l != nil && !root.Interior && a.Activity == threads.ActivityLock && l.Waiters.Value > 0 {
			return l
		}
	}
	return nil
}

// mentioned iterates over the objects that the class library's frames at the top of the stack refer to.
func (s *survey) mentioned(t *stackwalk.Thread, a *threads.ThreadActivity) iter.Seq[objects.Object] {
	return func(yield func(objects.Object) bool) {
		if a.By == nil {
			return
		}
		for root := range s.framework(t) {
			if root.Interior {
				continue
			}
			if o, err := s.r.b.Objects().TrustedObject(root.Object); err == nil && !yield(o) {
				return
			}
		}
	}
}

// joined returns the Thread that t joins, or the zero Object if it is unknown. The frames in which a thread starts
// refer to its own Thread. So t's own counts only if the frames refer to no other and Join's frames refer to it.
func (s *survey) joined(t *stackwalk.Thread, a *threads.ThreadActivity) (own objects.Object) {
	if a.By == nil {
		return own
	}
	for root := range s.framework(t) {
		if root.Interior {
			continue
		}
		o, err := s.r.b.Objects().TrustedObject(root.Object)
		if err != nil {
			continue
		}
		if is, err := objects.IsShape[*threadObject](s.r.b, o.Type); !is || err != nil {
			continue
		}
		if s.thread(o) != t {
			return o
		}
		if root.Method == nil {
			continue
		}
		if name, err := root.Method.Name(); err == nil && strings.HasPrefix(name, "Join") {
			own = o
		}
	}
	return own
}

// handle returns the first WaitHandle that t waits for and the number of others, or the zero Object if it is unknown.
func (s *survey) handle(t *stackwalk.Thread, a *threads.ThreadActivity) (first objects.Object, more int) {
	for o := range s.mentioned(t, a) {
		if h, ok := s.handles[o.Addr]; ok {
			return h, 0
		}
		if is, err := objects.IsShape[*waitHandle](s.r.b, o.Type); is && err == nil {
			return o, 0
		}
		if first, n := s.several(o); n > 0 {
			return first, n - 1
		}
	}
	return objects.Object{}, 0
}

// handleKind returns the kind of the signals for a WaitHandle.
func (s *survey) handleKind(o objects.Object) answer.WaitKind {
	if o.Addr == 0 {
		return ""
	}
	if is, err := objects.IsShape[*kernelSemaphore](s.r.b, o.Type); is && err == nil {
		return waitRelease
	}
	if is, err := objects.IsShape[*mutex](s.r.b, o.Type); is && err == nil {
		return waitMutex
	}
	return answer.WaitHandle
}

// several returns the first handle of an array of SafeWaitHandles and their number.
func (s *survey) several(o objects.Object) (first objects.Object, n int) {
	a, err := objects.BindArray(o)
	if err != nil {
		return first, 0
	}
	for i := range min(a.Len, limits.ListedReferences) {
		e, err := a.Ref(i)
		if err != nil {
			break
		}
		if h, ok := s.handles[e]; ok {
			if n++; n == 1 {
				first = h
			}
		}
	}
	return first, n
}

// thread returns the thread of a Thread object, or nil for another object or an ended thread.
func (s *survey) thread(o objects.Object) *stackwalk.Thread {
	if o.Addr == 0 {
		return nil
	}
	k, at, is, err := shapes.TryBind[*threadObject](s.r.b, o)
	if !is || err != nil {
		return nil
	}
	id, err := k.ID.Uint(at)
	if err != nil {
		return nil
	}
	return stackwalk.ThreadByManagedID(s.r.threads, uint32(id))
}
