package locks

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A thing is what suspended code waits for.
type thing struct {
	kind    answer.WaitKind
	addr    target.Addr // 0 if the code waits for no object that others can wait for
	typ     answer.Text
	state   answer.Statement
	says    answer.Statement // what it is, if it is not an object
	cause   tasks.Cause
	outside string        // the file of a child process, or the name of a pipe
	lock    *lock         // set for a SemaphoreSlim
	channel *channelWait  // set for a channel
	writes  bool          // waits for room in the channel
	limiter *limiterState // set for a rate limiter
	source  target.Addr   // set for a promise: its TaskCompletionSource
	removed bool          // only nodes that a collection has dropped refer to the promise: they give it no name
}

// An operation is a suspended async method with what it waits for.
type operation struct {
	box     target.Addr
	method  answer.Text // the innermost method of the program, else of a library
	own     bool        // method is the program's
	file    string
	line    int
	from    string // the outermost method, if it is a different one
	request string // the request that it serves, by its route
	entry   bool   // the outermost method is the program's entry point
	library []string
	path    []target.Addr // the methods on the way to the outermost one
	leaf    target.Addr   // the object at the end of the chain of awaits
	thing   *thing
	wait    *wait // its node in the graph of waits
	behind  int   // tasks in a chain that continue one another behind it
	// forgotten reports that no code reaches what would end its wait.
	forgotten bool
	// stops is the method on its path, or awaited there, that stops a service or an object, or "".
	stops string
	// first reports that it goes on with the first of several tasks: leaf is one of them, and another may be a delay.
	first bool
	// turn says whether it waits in a loop; set by consumers.
	turn turn
	// limited reports that the wait has a time limit, or can be canceled (Task.WaitAsync).
	limited bool
}

// A channelWait is a channel, a block of a dataflow network or a pipe, with its waiters.
type channelWait struct {
	kind     *queueKind
	object   objects.Object
	capacity answer.Maybe[int64]
	items    answer.Maybe[int64]
	readers  int
	writers  int
}

// A channelRole is the channel and the direction of one waiting operation.
type channelRole struct {
	channel *channelWait
	writes  bool
	blocked bool // in a call that takes or gives one item itself
}

// operations finds the suspended async methods and what they wait for. It does nothing if no method is suspended.
func (s *survey) operations(o heap.ScanOptions) error {
	if !s.found.suspended {
		return nil
	}
	set, err := s.taskSet(o)
	if err != nil || set == nil {
		return err
	}
	s.readChannels()
	s.standing, s.goesOn = map[target.Addr]*operation{}, map[target.Addr]bool{}
	known := map[target.Addr]*thing{}
	if s.r.served != nil {
		s.served = s.r.served(s.gaps)
	}
	for stack, err := range set.Stacks(s.ctx, tasks.StackOptions{}) {
		if err != nil {
			return err
		}
		if stack.Part {
			continue // another stack has its frames
		}
		s.gaps.NoteAll(stack.Noted())
		if err := s.stack(stack, known); err != nil {
			s.partial = true
			s.lose(err)
			break
		}
	}
	return s.ctx.Err()
}

// stack adds the operations of a stack, one for each path from its first frame outwards. The error is from
// offheap.Keep.
func (s *survey) stack(stack *answer.AsyncStack, known map[target.Addr]*thing) error {
	s.ring(stack)
	s.iterator(&stack.Frames[0])
	leaf := stack.Frames[0].Object
	if n := len(stack.Waits); n > 0 {
		leaf = stack.Waits[n-1].Object
	}
	var t *thing
	var path []*answer.AsyncFrame
	seen := map[target.Addr]bool{}
	for i := range stack.Frames {
		f := &stack.Frames[i]
		path = append(path[:min(f.Depth, len(path))], f)
		if i+1 < len(stack.Frames) && stack.Frames[i+1].Depth > f.Depth {
			continue
		}
		op := s.operation(path)
		if op == nil || seen[op.box] {
			continue
		}
		seen[op.box] = true
		if t == nil {
			t = s.thingOf(leaf, stack, known)
		}
		if t.cause == tasks.CauseNone {
			s.goesOn[op.box] = true
			continue
		}
		if err := s.keep(len(path)); err != nil {
			return err
		}
		op.leaf, op.thing = leaf, t
		for _, f := range path {
			op.path = append(op.path, f.Object)
			if f.Object == op.box {
				op.behind = 0
			} else if f.Kind == answer.AsyncTask && len(f.Suspended) == 0 {
				op.behind++
			}
		}
		op.request, op.stops = s.requestOf(path), stopOn(path)
		s.ops = append(s.ops, op)
		for _, f := range path {
			if s.standing[f.Object] == nil || t.lock != nil || f.Object == op.box {
				s.standing[f.Object] = op
			}
		}
	}
	return nil
}

// boxes yields the suspended methods of the operations, some more than once.
func (s *survey) boxes() iter.Seq[target.Addr] {
	return func(yield func(target.Addr) bool) {
		for _, op := range s.ops {
			for _, a := range op.path {
				if !yield(a) {
					return
				}
			}
		}
	}
}

// keep counts the memory of an operation with so many frames, and of its node in the graph of waits.
func (s *survey) keep(frames int) error {
	const (
		texts = 128   // its names, and what web.Reader.ServedBy remembers of it
		frame = 4 * 8 // in path and standing
	)
	node := offheap.SizeOf[operation]() + offheap.SizeOf[wait]() + offheap.SizeOf[thing]()
	return offheap.Keep(s.ctx, "the graph of all waits", node+texts+frames*frame)
}

// ring adds the async methods of a stack that await each other. It skips rings with other objects, which may complete
// for another reason.
func (s *survey) ring(stack *answer.AsyncStack) {
	if stack.Ring == 0 {
		return
	}
	all := []*answer.AsyncFrame{&stack.Frames[0]}
	for i := range stack.Waits {
		all = append(all, &stack.Waits[i])
	}
	from := slices.IndexFunc(all, func(f *answer.AsyncFrame) bool { return f.Object == stack.Ring })
	if from < 0 || slices.ContainsFunc(all[from:], func(f *answer.AsyncFrame) bool { return f.State == nil || *f.State < 0 }) {
		return
	}
	for _, other := range s.circles {
		if slices.ContainsFunc(other, func(f *answer.AsyncFrame) bool { return f.Object == stack.Ring }) {
			return
		}
	}
	s.circles = append(s.circles, all[from:])
}

// requestOf returns the name of the request that the code on a path outwards serves, or "".
func (s *survey) requestOf(path []*answer.AsyncFrame) string {
	if s.served == nil {
		return ""
	}
	var boxes []target.Addr
	for _, f := range path {
		if f.State != nil {
			boxes = append(boxes, f.Object)
		}
	}
	return s.served(boxes)
}

// stopOn returns the method on a path outwards, or awaited on it, that stops a service or an object, or "".
func stopOn(path []*answer.AsyncFrame) string {
	for _, f := range path {
		places := f.Suspended
		if len(places) == 0 {
			places = []answer.AsyncPlace{f.AsyncPlace}
		}
		for i := range places {
			for _, name := range []string{places[i].Method.S, places[i].Await.S} {
				if strings.HasSuffix(name, ".StopAsync") || strings.HasSuffix(name, ".DisposeAsync") {
					return name
				}
			}
		}
	}
	return ""
}

// operation describes the code on a path outwards, or returns nil if no async method waits there.
func (s *survey) operation(path []*answer.AsyncFrame) *operation {
	var inner, first, outer, last *answer.AsyncFrame
	out := &operation{}
	for _, f := range path {
		if inner == nil {
			out.first = out.first || strings.Contains(f.Type.S, "WhenAnyPromise") || strings.Contains(f.Type.S, "CompleteOnInvokePromise")
			out.limited = out.limited || strings.Contains(f.Type.S, "CancellationPromise")
		}
		if f.Kind == answer.AsyncTask && len(f.Suspended) == 0 || f.Kind == answer.AsyncOther || f.State != nil && *f.State < 0 {
			continue
		}
		first, last = cmp.Or(first, f), f
		if name, _ := methodOf(f); answer.LibraryMethod(name.S) {
			if inner == nil {
				out.library = append(out.library, name.S)
			}
			continue
		}
		inner, outer = cmp.Or(inner, f), f
	}
	if first == nil {
		return nil
	}
	out.own = inner != nil
	inner, outer = cmp.Or(inner, first), cmp.Or(outer, last)
	var place *answer.AsyncPlace
	out.method, place = methodOf(inner)
	if place != nil {
		out.file, out.line = place.File, place.Line
	}
	out.box = inner.Object
	name, _ := outerOf(outer)
	out.entry = isEntryPoint(name)
	if outer != inner || len(inner.Suspended) > 1 {
		if out.from = name; out.from == out.method.S {
			out.from = ""
		}
	}
	return out
}

// methodOf returns the innermost method of a frame, with its place if it is known.
func methodOf(f *answer.AsyncFrame) (answer.Text, *answer.AsyncPlace) {
	if len(f.Suspended) > 0 {
		for i := range f.Suspended {
			if at := &f.Suspended[i]; at.Method.Err == nil && !answer.LibraryMethod(at.Method.S) {
				return at.Method, at
			}
		}
		return f.Suspended[0].Method, &f.Suspended[0]
	}
	if !f.Method.IsZero() {
		return f.Method, &f.AsyncPlace
	}
	if !f.Name.IsZero() {
		return f.Name, nil
	}
	return answer.Text{S: string(f.Kind)}, nil
}

// outerOf returns the outermost method of a frame.
func outerOf(f *answer.AsyncFrame) (string, *answer.AsyncPlace) {
	if n := len(f.Suspended); n > 0 {
		return f.Suspended[n-1].Method.String(), &f.Suspended[n-1]
	}
	name, at := methodOf(f)
	return name.String(), at
}

// isEntryPoint reports whether a method has the name of a program's entry point.
func isEntryPoint(method string) bool {
	return slices.Contains(entryPoints, method[strings.LastIndexByte(method, '.')+1:])
}

// thingOf determines what the code of a stack waits for.
func (s *survey) thingOf(leaf target.Addr, stack *answer.AsyncStack, known map[target.Addr]*thing) *thing {
	cause, err := s.found.tasks.CauseOf(leaf)
	s.gaps.Note(err)
	says := stack.Why
	if stack.Reason.Err != nil {
		says = words.Text(stack.Reason.String())
	}
	if stack.Remote != "" && cause != tasks.CauseNone {
		return &thing{kind: stack.Remote, cause: tasks.CauseStream, says: says, outside: stack.Outside}
	}
	l, role := s.nodes[leaf], s.roles[leaf]
	object := target.Addr(0)
	var limits *thing
	switch {
	case l != nil:
		object = l.Address
	case role.channel != nil:
		object = role.channel.object.Addr
	case cause == tasks.CausePromise:
		if limits = s.limiterOf(leaf); limits != nil {
			object = limits.addr
		}
	}
	if t := known[object]; t != nil && t.writes == role.writes {
		return t
	}
	t := &thing{cause: cause, addr: object, says: says}
	switch {
	case l != nil:
		t.kind, t.typ, t.state, t.lock, t.cause = l.Kind, l.Type, l.Counts, l, tasks.CauseSemaphore
	case role.channel != nil:
		s.channelThing(t, role)
	case limits != nil:
		t = limits
		t.cause = cause
	default:
		t.kind = kindsOfCauses[cause]
	}
	if object != 0 {
		known[object] = t
	}
	return t
}

// kindsOfCauses maps causes other than locks to kinds of waits.
var kindsOfCauses = map[tasks.Cause]answer.WaitKind{
	tasks.CauseUnknown: answer.WaitOther, tasks.CauseSemaphore: answer.LockSemaphore, tasks.CauseChannelRead: answer.WaitChannel, tasks.CauseChannelWrite: answer.WaitChannel,
	tasks.CauseChannel: answer.WaitChannel, tasks.CauseDelay: answer.WaitTimer, tasks.CauseForever: answer.WaitTimer, tasks.CauseTick: answer.WaitTimer,
	tasks.CausePromise: answer.WaitPromise, tasks.CauseStream: answer.WaitStream, tasks.CausePool: answer.WaitPool, tasks.CauseRunning: answer.WaitTask,
	tasks.CauseTasks: answer.WaitTask, tasks.CauseMessage: answer.WaitOther, tasks.CauseFile: answer.WaitPool,
}

// readChannels reads the waiters of the heap's channels.
func (s *survey) readChannels() {
	s.roles = map[target.Addr]channelRole{}
	for _, a := range s.found.channels {
		o, err := s.r.b.Objects().TrustedObject(a)
		var k *channel
		var x objects.Instance
		if err == nil {
			k, x, err = objects.BindObject[*channel](s.r.b, o)
		}
		if err != nil {
			s.lose(fmt.Errorf("channel %v: %w", a, err))
			continue
		}
		c := &channelWait{kind: &channelKind, object: o, capacity: answer.Of[int64](0, errUnbounded), items: answer.Of[int64](0, errUnbounded)}
		for _, list := range []struct {
			f    *objects.RefField
			role channelRole
		}{{&k.BlockedReaders, channelRole{c, false, true}}, {&k.WaitingReaders, channelRole{c, false, false}}, {&k.BlockedWriters, channelRole{c, true, true}},
			{&k.WaitingWriters, channelRole{c, true, false}}} {
			if list.f.Has() {
				if err := s.channelList(list.role, list.f, x); err != nil {
					s.lose(fmt.Errorf("who waits for channel %v: %w", a, err))
				}
			}
		}
		if k.Capacity.Has() && c.readers+c.writers > 0 {
			s.channelCounts(c, k, x)
		}
	}
}

var errUnbounded = target.Unsupportedf("the channel has no limit")

// channelCounts reads the capacity of a bounded channel and the number of its items.
func (s *survey) channelCounts(c *channelWait, k *channel, x objects.Instance) {
	c.capacity = answer.Of(k.Capacity.Int(x))
	s.gaps.Note(c.capacity.Err())
	items, err := k.Items.Object(x)
	if err == nil && items.Addr != 0 {
		var d *deque
		var at objects.Instance
		if d, at, err = objects.BindObject[*deque](s.r.b, items); err == nil {
			c.items = answer.Of(d.Size.Int(at))
			err = c.items.Err()
		}
	}
	if err != nil {
		c.items = answer.Of[int64](0, err)
	}
	s.gaps.Note(err)
}

// channelList records the operations of one list of a channel: a ring, or a Deque.
func (s *survey) channelList(role channelRole, f *objects.RefField, x objects.Instance) error {
	o, err := f.Object(x)
	if err != nil || o.Addr == 0 {
		return err
	}
	add := func(a target.Addr) {
		s.roles[a] = role
		if role.writes {
			role.channel.writers++
		} else {
			role.channel.readers++
		}
	}
	if d, at, is, err := shapes.TryBind[*deque](s.r.b, o); is {
		if err != nil {
			return err
		}
		items, err := d.Array.Object(at)
		if err != nil || items.Addr == 0 {
			return err
		}
		for _, a := range s.elements(items) {
			if a != 0 {
				add(a)
			}
		}
		return nil
	}
	seen := map[target.Addr]bool{}
	for o.Addr != 0 && !seen[o.Addr] {
		if len(seen) == limits.WorkItems {
			return target.Unsupportedf("more than %d operations", limits.WorkItems)
		}
		seen[o.Addr] = true
		add(o.Addr)
		k, at, err := objects.BindObject[*channelOperation](s.r.b, o)
		if err != nil || !k.Next.Has() {
			return err
		}
		if o, err = k.Next.Object(at); err != nil {
			return err
		}
	}
	return nil
}

// channelThing describes a channel that code waits for.
func (s *survey) channelThing(t *thing, role channelRole) {
	c := role.channel
	t.kind, t.channel, t.writes, t.typ = answer.WaitChannel, c, role.writes, s.gaps.Text(c.object.Type.ManagedName())
	t.cause = tasks.CauseChannelRead
	t.says = words.AnItem.Of()
	if role.writes {
		t.cause, t.says = tasks.CauseChannelWrite, words.Room.Of()
	}
	if c.capacity.Err() == nil && c.items.Err() == nil {
		t.state = words.ItemsOfCapacity.Of(words.N(c.items.Value), words.N(c.capacity.Value))
	}
}
