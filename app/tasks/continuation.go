package tasks

import (
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// resolve follows what stands in m_continuationObject to who goes on: a box, a task, or the object whose method a delegate
// calls. What it can't make out is returned as it is. A list is followed by expand.
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

// maxContinuationHops is how many objects stand between a task and who continues: an AwaitTaskContinuation, a delegate, a
// ContinuationWrapper, the delegate in it.
const maxContinuationHops = 8

// hop is the next object on the way to who continues, 0 at the end of the way.
func (r *Reader) hop(k *kind, a target.Addr) (target.Addr, error) {
	x := shapes.OfAddr(a)
	switch {
	case k.item():
		return 0, nil
	case k.next != nil:
		return k.next.Task.Addr(x)
	case k.await != nil:
		return k.await.Action.Addr(x)
	case k.delegate != nil:
		return k.delegate.Target.Addr(x)
	case k.wrapper != nil:
		return k.wrapper.Continuation.Addr(x)
	}
	return 0, nil
}

// expand passes who continues after a, which may be a list: of each its address as resolve has it.
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

// listed iterates over the references in a list, null ones too. A list that says it has more than its array has is
// corrupt, and has what the array has.
func (r *Reader) listed(l *objectList, a target.Addr) func(func(target.Addr, error) bool) {
	return func(yield func(target.Addr, error) bool) {
		x := shapes.OfAddr(a)
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
			if !yield(0, target.Corruptf("list %v has %d elements, and room for %d", a, size, array.Len)) {
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

// waiter is who goes on when a value task source completes: the state that was given with the callback, a box mostly, or
// the object that the callback is called on.
func (s *valueTaskSource) waiter(at shapes.Instance) (target.Addr, error) {
	state, err := s.State.Addr(at)
	if err != nil || state != 0 {
		return state, err
	}
	return s.Continuation.Addr(at)
}
