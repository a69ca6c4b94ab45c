package tasks

import (
	"errors"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A machine is the type of an async method's state machine.
type machine struct {
	typ   *objects.Type
	shape *machineShape
	err   error // why shape is nil
	// stateless reports that the type was written by hand. Its state may be in a field of any name, or missing.
	stateless bool
	// promise is the value task source of an async iterator's next element; nil for other methods.
	promise *objects.StructField
	source  *valueTaskSource
	pooled  *pooledMachine // nil if the builder of pooled boxes is unknown

	fields lazy.Value[machineFields]
	name   lazy.Value[string]
	awaits lazy.Value[map[int32]awaitSite]
	called machineCalls
	places sync.Map // state -> *answer.AsyncPlace
	points sync.Map // state -> *AwaitPoint
}

// machineFields sorts the fields of a state machine by their purpose.
type machineFields struct {
	awaiters []*objects.Field // awaiters; awaits with the same type of awaiter share one field
	locals   []hoisted        // this, parameters and locals that live across an await
	partial  bool             // there are awaiters of types that could not be read, as of those that are not loaded
}

// A hoisted variable is a variable that became a field.
type hoisted struct {
	name  string
	kind  answer.AsyncVariableKind
	field *objects.Field
}

func newMachine(r *Reader, t *objects.Type) *machine {
	m := &machine{typ: t}
	m.shape, m.err = objects.Bind[*machineShape](r.b, t)
	if m.err == nil && !m.shape.State.Has() && !m.shape.Mono.Has() {
		_, m.err = objects.Bind[*stateField](r.b, t) // the error names the fields that the type has
		name, err := r.b.Definition(t)
		if m.stateless = err == nil && errors.Is(m.err, target.ErrUnsupported) && !compilernames.Generated(name); m.stateless {
			m.err = nil
		}
	}
	m.pooled, _ = objects.Bind[*pooledMachine](r.b, t)
	if s, err := objects.Bind[*iteratorShape](r.b, t); err == nil {
		if source, err := objects.Bind[*valueTaskSource](r.b, s.Promise.Type()); err == nil {
			m.promise, m.source = &s.Promise, source
		}
	}
	return m
}

// state returns the number of the await at which the method is suspended, counted from 0. It is -1 before the first
// await and while the method runs, and -2 at its end. Iterators use values below -2 for their yields. ok is false for a
// stateless machine.
func (m *machine) state(x objects.Instance) (state int32, ok bool, err error) {
	if m.err != nil || m.stateless {
		return 0, false, m.err
	}
	if m.shape.Mono.Has() {
		n, err := m.shape.Mono.Int(x)
		return int32(max(n, 0)) - 1, err == nil, err
	}
	n, err := m.shape.State.Int(x)
	return int32(n), err == nil, err
}

// idle reports whether a pooled box with this state machine waits in its pool for reuse.
func (m *machine) idle(x objects.Instance) (bool, error) {
	if m.pooled == nil {
		return false, nil
	}
	box, err := m.pooled.Box.Addr(x)
	return box == 0 && err == nil, err
}

// iterates returns the waiter for the next element of an async iterator with this state machine. It returns 0 for other
// methods, and after the element has arrived.
func (m *machine) iterates(r *Reader, x objects.Instance) (target.Addr, error) {
	if m.promise == nil {
		return 0, nil
	}
	at := m.promise.At(x)
	if done, err := r.sourceDone(m.source, at); done || err != nil {
		return 0, err
	}
	return m.source.waiter(at)
}

// layout sorts the fields of the state machine.
func (m *machine) layout() (machineFields, error) {
	return m.fields.Get(func() (machineFields, error) {
		all, err := m.typ.Fields()
		out := machineFields{}
		for _, f := range all {
			if f.Static {
				continue
			}
			if f.Err() != nil {
				out.partial = out.partial || compilernames.IsAwaiter(f.Name)
				continue
			}
			switch name := f.Name; {
			case compilernames.IsAwaiter(name):
				out.awaiters = append(out.awaiters, f)
			default:
				if v, kind := compilernames.Variable(name); v != "" {
					out.locals = append(out.locals, hoisted{v, kind, f})
				}
			}
		}
		return out, err
	})
}
