package tasks

import (
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// resolve follows a value of m_continuationObject to what continues: a box, a task, or a delegate's target. It returns
// values that it does not recognize unchanged. Use expand for lists.
func (r *Reader) resolve(a target.Addr) (target.Addr, error) {
	for range maxContinuationHops {
		if a == 0 {
			return 0, nil
		}
		k, err := r.kindOf(a)
		if err != nil {
			return a, err
		}
		next, err := r.hop(k, a)
		if err != nil || next == 0 || next == a {
			return a, err
		}
		a = next
	}
	return a, nil
}

// maxContinuationHops bounds the objects between a task and its continuation: an AwaitTaskContinuation, a delegate, a
// ContinuationWrapper and the delegate in it.
const maxContinuationHops = 8

// hop returns the next object on the way to what continues, or 0 at the end.
func (r *Reader) hop(k *kind, a target.Addr) (target.Addr, error) {
	x := objects.InstanceAt(a)
	switch {
	case k.item():
		return 0, nil
	case k.next != nil:
		return continues(&k.next.Task, x)
	case k.await != nil:
		return continues(&k.await.Action, x)
	case k.delegate != nil:
		return k.delegate.Target.Addr(x)
	case k.wrapper != nil:
		return k.wrapper.Continuation.Addr(x)
	case k.awaited != nil && k.awaited.Owner.Has():
		return k.awaited.Owner.Addr(x)
	}
	return 0, nil
}

// continues returns what the continuation x runs, which is null only once it has run, when no task refers to it (TaskContinuation.cs).
func continues(f *objects.RefField, x objects.Instance) (target.Addr, error) {
	a, err := f.Addr(x)
	if err == nil && a == 0 {
		err = target.CorruptHeapf("continuation %016x runs nothing", uint64(x.Object()))
	}
	return a, err
}

// expand calls visit with the resolved address of each continuation of a, which may be a list.
func (r *Reader) expand(a target.Addr, visit func(target.Addr)) error {
	k, err := r.kindOf(a)
	if err != nil {
		visit(a)
		return err
	}
	if k.list == nil {
		to, err := r.resolve(a)
		if to != 0 {
			visit(to)
		}
		return err
	}
	var first error
	for v, err := range r.listed(k.list, a) {
		if err == nil && v != 0 {
			v, err = r.resolve(v)
		}
		if err != nil && first == nil {
			first = err
		}
		if v != 0 {
			visit(v)
		}
	}
	return first
}

// listed iterates over the references in a list, including null ones. A list with a count beyond its array is corrupt;
// listed then yields only the elements of the array.
func (r *Reader) listed(l *objectList, a target.Addr) func(func(target.Addr, error) bool) {
	return func(yield func(target.Addr, error) bool) {
		x := objects.InstanceAt(a)
		size, err := l.Size.Int(x)
		var items objects.Object
		if err == nil {
			items, err = l.Items.Object(x)
		}
		if err != nil || items.Addr == 0 {
			if err != nil {
				yield(0, err)
			}
			return
		}
		array, err := items.Array()
		if err != nil {
			yield(0, err)
			return
		}
		if size < 0 || size > int64(array.Len) {
			if !yield(0, target.CorruptHeapf("list %v has %d elements, and room for %d", a, size, array.Len)) {
				return
			}
			size = int64(array.Len)
		}
		for v, err := range array.Stored(uint32(size)) {
			var at target.Addr
			if err == nil {
				at, err = v.Addr()
			}
			if !yield(at, err) {
				return
			}
		}
	}
}

// waiter returns what continues when a value task source completes: the state passed with the callback, usually a box,
// or the callback's target.
func (s *valueTaskSource) waiter(at objects.Instance) (target.Addr, error) {
	state, err := s.State.Addr(at)
	if err != nil || state != 0 {
		return state, err
	}
	return s.Continuation.Addr(at)
}
