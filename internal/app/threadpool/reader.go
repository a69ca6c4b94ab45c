package threadpool

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the thread pool of one runtime. It has no state and is safe for concurrent use.
type Reader struct {
	b       *objects.Binder
	rt      *dac.Runtime
	walker  *stackwalk.Walker
	threads []stackwalk.Thread
	unread  error
}

// New returns a Reader. w finds the activities of workers; list (see stackwalk.Threads) owns the local queues. unread is why
// list may be incomplete, or nil.
func New(b *objects.Binder, w *stackwalk.Walker, list []stackwalk.Thread, unread error) *Reader {
	return &Reader{b: b, rt: b.Objects().Runtime(), walker: w, threads: list, unread: unread}
}

// static returns the object that a static field refers to. It returns the zero Object if the type is not loaded, the
// class is not initialized, or the field is null. S points to the shape of the type; field selects one of its statics.
//
// A runtime without type lists may not list classes with only static fields. For these the result is unknown, unless
// the object's type held is not loaded and the heap has no object that may be of it.
func static[S any](b *objects.Binder, held string, field func(S) *objects.StaticField) (objects.Object, error) {
	var failed error
	known := false
	for s, err := range objects.LoadedShapes[S](b) {
		known = true
		if err != nil {
			failed = err
			continue
		}
		f := field(s)
		if !f.Has() {
			continue
		}
		v := f.Value()
		switch err := v.Err(); {
		case errors.Is(err, objects.ErrNotInitialised):
			continue
		case err != nil:
			failed = err
			continue
		case v.IsNull(): // the constructor of the class sets it, and nothing changes it
			failed = target.CorruptHeapf("a static field of %s is null, though the class is initialized", held)
			continue
		}
		return v.Object()
	}
	if rt := b.Objects().Runtime(); !known && rt.Check(dac.FeatureTypeLists) != nil {
		for _, err := range rt.TypesNamed(held, "") {
			return objects.Object{}, cmp.Or(err, rt.Check(dac.FeatureStatics))
		}
		failed = b.Unnamed()
	}
	return objects.Object{}, failed
}

// typeText returns the name of an object's type.
func typeText(g *answer.Gaps, o objects.Object) answer.Text {
	if o.Type == nil {
		return answer.Text{}
	}
	return g.Text(o.Type.ManagedName())
}

// lineChars bounds the characters of a string shown on one line.
const lineChars = objects.LineChars

// A call is the first call of a delegate.
type call struct {
	name   string // the method with its type
	static bool
	on     string // the method with the target's type, which may be derived
}

// method names the first method that a delegate calls, and counts the others.
func (r *Reader) method(delegate objects.Object) (call, error) {
	calls, err := delegate.Delegate()
	if len(calls) == 0 {
		if err == nil {
			err = target.Unsupportedf("the delegate calls nothing")
		}
		return call{}, err
	}
	md, err := calls[0].Method()
	if err != nil {
		return call{}, err
	}
	name, err := md.Name()
	if err != nil {
		return call{}, err
	}
	class, err := r.rt.TypeName(md.MethodTable, dac.NameManaged)
	if err != nil {
		return call{}, err
	}
	c := call{name: class + "." + name, static: calls[0].Target == calls[0].Delegate}
	c.on = c.name
	if o, err := r.b.Objects().TrustedObject(calls[0].Target); err == nil && !c.static {
		if class, err := o.Type.ManagedName(); err == nil {
			c.on = class + "." + name
		}
	}
	if len(calls) > 1 {
		c.name += fmt.Sprintf(" and %d more", len(calls)-1)
	}
	return c, nil
}

// call returns method's result for an answer.
func (r *Reader) call(g *answer.Gaps, delegate objects.Object) (answer.Text, call) {
	c, err := r.method(delegate)
	if err != nil {
		err = fmt.Errorf("delegate %016x: %w", uint64(delegate.Addr), err)
	}
	return g.Text(c.name, err), c
}

// noValue reports whether a static is null or was never set.
func noValue(v objects.Value) bool {
	return errors.Is(v.Err(), objects.ErrNotInitialised) || v.Err() == nil && v.IsNull()
}
