package flows

import (
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// The ExecutionContext of a thread or of a suspended method, with the values of all AsyncLocals. Since .NET 8 a context
// with one value has its own type.
type (
	thread struct {
		_       objects.Shape    `of:"System.Threading.Thread"`
		Context objects.RefField `field:"_executionContext"`
	}
	executionContext struct {
		_      objects.Shape    `of:"System.Threading.ExecutionContext"`
		Values objects.RefField `field:"m_localValues"`
	}
	fewValues struct {
		_     objects.Shape    `of:"System.Threading.AsyncLocalValueMap+OneElementAsyncLocalValueMap|System.Threading.AsyncLocalValueMap+TwoElementAsyncLocalValueMap|System.Threading.AsyncLocalValueMap+ThreeElementAsyncLocalValueMap|System.Threading.AsyncLocalValueMap+FourElementAsyncLocalValueMap"`
		One   objects.RefField `field:"_item0.value|_value1"`
		Two   objects.RefField `field:"_item1.value|_value2,optional"`
		Three objects.RefField `field:"_item2.value|_value3,optional"`
		Four  objects.RefField `field:"_item3.value,optional"`
	}
	severalValues struct {
		_     objects.Shape    `of:"System.Threading.AsyncLocalValueMap+MultiElementAsyncLocalValueMap"`
		Pairs objects.RefField `field:"_keyValues"`
	}
	noValues struct {
		_ objects.Shape `of:"System.Threading.AsyncLocalValueMap+EmptyAsyncLocalValueMap"`
	}
	pair struct {
		_     objects.Shape    `of:"System.Collections.Generic.KeyValuePair<,>"`
		Value objects.RefField `field:"value"`
	}
)

// A boxShape is the box of an async method's state machine. Since .NET 8 a task's box keeps its ExecutionContext in the
// task's state object field.
type boxShape struct {
	_       objects.Shape      `of:"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<>+AsyncStateMachineBox<>|System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<>+StateMachineBox<>"`
	Machine objects.ValueField `field:"StateMachine"`
	Context objects.RefField   `field:"Context|m_stateObject"`
}

// A Reader finds what code refers to, for one answer. It records unreadable parts in the answer's gaps. It is not safe
// for concurrent use.
type Reader struct {
	shapes.Reading
	items    *objects.Collections
	machines map[*objects.Type][]*objects.Field // by state machine type: the fields that refer to objects
}

// New returns a Reader.
func New(r shapes.Reading, c *objects.Collections) *Reader {
	return &Reader{Reading: r, items: c, machines: map[*objects.Type][]*objects.Field{}}
}

// OfThread returns the ExecutionContext of a managed thread, or the zero Object.
func (r *Reader) OfThread(t *stackwalk.Thread) objects.Object {
	if t == nil || t.Managed == nil {
		return objects.Object{}
	}
	var o objects.Object
	var err error
	if t.Managed.ExposedHandle == 0 {
		err = r.Binder.Objects().Runtime().Check(dac.FeatureThreadFacts) // a CLR's thread without one has no managed object
	} else {
		o, err = r.Binder.Handle(t.Managed.ExposedHandle)
	}
	if err != nil {
		r.Note(err)
		return objects.Object{}
	}
	s, x := shapes.BindAs[*thread](r.Reading, o)
	if s == nil {
		return objects.Object{}
	}
	return r.ObjectAt(&s.Context, x)
}

// OfMethod returns the ExecutionContext with which the suspended async method of box will resume. It returns the zero
// Object if there is no context or box is another object.
func (r *Reader) OfMethod(box objects.Object) objects.Object {
	s, x := shapes.BindAs[*boxShape](r.Reading, box)
	if s == nil {
		return objects.Object{}
	}
	return r.ObjectAt(&s.Context, x)
}

// Values iterates over the AsyncLocal values of an ExecutionContext that are objects.
func (r *Reader) Values(context objects.Object) iter.Seq[objects.Object] {
	return func(yield func(objects.Object) bool) {
		c, x := shapes.BindAs[*executionContext](r.Reading, context)
		if c == nil {
			return
		}
		o := r.ObjectAt(&c.Values, x)
		if o.Addr == 0 {
			return
		}
		if s, _ := shapes.BindAs[*noValues](r.Reading, o); s != nil {
			return
		}
		if s, x := shapes.BindAs[*fewValues](r.Reading, o); s != nil {
			for _, f := range []*objects.RefField{&s.One, &s.Two, &s.Three, &s.Four} {
				if o := r.ObjectAt(f, x); o.Addr != 0 && !yield(o) {
					return
				}
			}
			return
		}
		if s, x := shapes.BindAs[*severalValues](r.Reading, o); s != nil {
			r.pairs(r.ObjectAt(&s.Pairs, x), yield)
			return
		}
		r.many(o, yield)
	}
}

// pairs yields the values of an array of pairs.
func (r *Reader) pairs(array objects.Object, yield func(objects.Object) bool) {
	if array.Addr == 0 {
		return
	}
	s, a, err := objects.BindElements[*pair](r.Binder, array)
	if err != nil {
		r.Note(err)
		return
	}
	for n := range min(a.Len, limits.ContextValues) {
		if o := r.ObjectAt(&s.Value, a.Instance(n)); o.Addr != 0 && !yield(o) {
			return
		}
	}
}

// many yields the values of a map that is a dictionary.
func (r *Reader) many(o objects.Object, yield func(objects.Object) bool) {
	for o, err := range r.items.ObjectsIn(o) {
		if err != nil {
			r.Note(err)
		} else if !yield(o) {
			return
		}
	}
}

// Variables iterates over the addresses of the objects that an async method's variables refer to: parameters, variables
// that live across an await, and compiler-generated ones. Objects other than boxes have no variables.
func (r *Reader) Variables(box objects.Object) iter.Seq[target.Addr] {
	return func(yield func(target.Addr) bool) {
		if t, at := r.machine(box); t != nil {
			r.references(t, at, yield)
		}
	}
}

// machine returns the type of the state machine in a box, and its fields. Objects other than boxes have none.
func (r *Reader) machine(box objects.Object) (*objects.Type, func(f *objects.Field) objects.Value) {
	s, x := shapes.BindAs[*boxShape](r.Reading, box)
	if s == nil {
		return nil, nil
	}
	machine := s.Machine.Value(x)
	if v, err := machine.Struct(); err == nil {
		return v.Type, v.Value
	}
	o, err := machine.Object()
	if err != nil {
		r.Note(err)
		return nil, nil
	}
	return o.Type, o.Value
}

// Embedded is Variables for the fields of an async method's variables of value types.
func (r *Reader) Embedded(box objects.Object) iter.Seq[target.Addr] {
	return func(yield func(target.Addr) bool) {
		t, at := r.machine(box)
		if t == nil {
			return
		}
		fields, err := t.Fields()
		r.Note(err)
		for _, f := range fields {
			if f.Static || f.ElementType != metadata.ElementValueType || !f.RefersToObject() {
				continue
			}
			v, err := at(f).Struct()
			r.Note(err)
			if err == nil && !r.references(v.Type, v.Value, yield) {
				return
			}
		}
	}
}

// references yields the addresses in the fields of a value that refer to objects. It returns false when yield does.
func (r *Reader) references(t *objects.Type, at func(f *objects.Field) objects.Value, yield func(target.Addr) bool) bool {
	for _, f := range r.fields(t) {
		a, err := at(f).Addr()
		r.Note(err)
		if err == nil && a != 0 && !yield(a) {
			return false
		}
	}
	return true
}

// fields returns the fields of a type that refer to objects.
func (r *Reader) fields(t *objects.Type) []*objects.Field {
	if known, ok := r.machines[t]; ok {
		return known
	}
	fields, err := t.Fields()
	r.Note(err)
	var out []*objects.Field
	for _, f := range fields {
		if !f.Static && f.ElementType != metadata.ElementValueType && f.RefersToObject() {
			out = append(out, f)
		}
	}
	r.machines[t] = out
	return out
}
