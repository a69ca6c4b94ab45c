package tasks

import (
	"errors"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the tasks of one runtime and caches facts about types. It is safe for concurrent use.
type Reader struct {
	b    *objects.Binder
	r    *objects.Reader
	code *dac.CodeReader

	kinds          sync.Map // target.Addr of a MethodTable -> *kind
	machines       sync.Map // *objects.Type -> *machine
	sentinel       lazy.Value[target.Addr]
	sourceSentinel lazy.Value[target.Addr]
	actions        actionNames
	statics        sync.Map       // class and field -> *objects.Field; nil if missing
	wrappers       sync.Map       // wrapperKey -> wrapperMethod
	virtuals       virtualMethods // of modules that use semaphores
	program        lazy.Value[*program]
	missing        lazy.Value[MissingIL]
	receivers      sync.Map // receiverKey -> []target.Addr
	classes        sync.Map // *heap.Heap -> classes
}

// New returns a Reader that binds types with b.
func New(b *objects.Binder) *Reader {
	return &Reader{b: b, r: b.Objects(), code: dac.CodeOf(b.Objects().Runtime())}
}

// A kind describes a type with objects that may take part in asynchronous code.
type kind struct {
	mt  target.Addr
	typ *objects.Type
	err error // why the type is unknown; the other fields are then empty
	// items reports, if err is set, that objects of the type are or may be frames of async stacks.
	items bool

	task   *taskShape // set for tasks
	box    *boxShape  // set for tasks that are boxes
	pooled *pooledShape
	// runtimeAsync marks the task of a method that the runtime itself suspends. See suspended for its methods.
	runtimeAsync bool
	source       *valueTaskSource // set for pooled boxes

	// Objects that occur in continuations.
	delegate *delegate
	wrapper  *wrapper
	next     *continueWith
	await    *awaitContinuation
	list     *objectList
	awaited  *awaitedContinuation

	// F#'s asyncs.
	computation *computation
	mailbox     *mailbox
	timer       *callbackTimer
	place       lazy.Value[*answer.AsyncPlace] // the place of a closure, see closurePlace

	name lazy.Value[kindName]
	said lazy.Value[*answer.AsyncName]
}

// item reports whether objects of the kind are frames of async stacks.
func (k *kind) item() bool { return k.task != nil || k.pooled != nil || k.fsharp() }

// fsharp reports whether objects of the kind are frames of F#'s asyncs, or what they wait for.
func (k *kind) fsharp() bool { return k.computes() || k.mailbox != nil || k.timer != nil }

// computes reports whether objects of the kind continue an F# async.
func (k *kind) computes() bool { return k.computation != nil && k.computation.at != nil }

// machine reports whether objects of the kind are boxes of state machines.
func (k *kind) machine() bool { return k.box != nil || k.pooled != nil }

// async reports whether objects of the kind belong to async methods, with state machines or suspended by the runtime,
// or to F# asyncs.
func (k *kind) async() bool { return k.machine() || k.runtimeAsync || k.computes() }

// kindAt returns the kind of the type with the MethodTable mt.
func (r *Reader) kindAt(mt target.Addr) *kind {
	if k, ok := r.kinds.Load(mt); ok {
		return k.(*kind)
	}
	k := &kind{mt: mt}
	k.items = true
	if k.typ, k.err = r.r.TrustedType(mt); k.err == nil {
		k.err = r.bind(k)
	}
	got, _ := r.kinds.LoadOrStore(mt, k)
	return got.(*kind)
}

// kindOf returns the kind of the object at a.
func (r *Reader) kindOf(a target.Addr) (*kind, error) {
	o, err := r.r.TrustedObject(a)
	if err != nil {
		return nil, err
	}
	k := r.kindAt(o.Type.MT.Addr)
	return k, k.err
}

// bind determines the kind of a type. It returns no error for a type unrelated to asynchronous code.
func (r *Reader) bind(k *kind) error {
	if isOf(r, k.typ, &k.task) {
		bindShape(r, k, &k.task)
		if isOf(r, k.typ, &k.box) {
			bindShape(r, k, &k.box)
		}
		if name, err := r.b.Definition(k.typ); err == nil {
			k.runtimeAsync = strings.HasPrefix(name, "System.Runtime.CompilerServices.AsyncHelpers+")
		}
		return k.err
	}
	switch {
	case isOf(r, k.typ, &k.pooled):
		bindShape(r, k, &k.pooled)
		if k.pooled != nil {
			k.source, k.err = objects.Bind[*valueTaskSource](r.b, k.pooled.Source.Type())
		}
		return k.err
	case isOf(r, k.typ, &k.delegate):
		bindShape(r, k, &k.delegate)
	case isOf(r, k.typ, &k.wrapper):
		bindShape(r, k, &k.wrapper)
	case isOf(r, k.typ, &k.next):
		bindShape(r, k, &k.next)
	case isOf(r, k.typ, &k.await):
		bindShape(r, k, &k.await)
	case isOf(r, k.typ, &k.list):
		bindShape(r, k, &k.list)
	case isOf(r, k.typ, &k.awaited):
		bindShape(r, k, &k.awaited)
	case r.bindFSharp(k):
		return k.err
	default:
		_, err := objects.IsShape[*taskShape](r.b, k.typ)
		return err
	}
	k.items = false
	return k.err
}

// isOf reports whether t is one of a shape's definitions.
func isOf[S any](r *Reader, t *objects.Type, _ *S) bool {
	ok, err := objects.IsShape[S](r.b, t)
	return ok && err == nil
}

// bindShape binds a shape of a kind, or records the error.
func bindShape[S any](r *Reader, k *kind, to *S) {
	s, err := objects.Bind[S](r.b, k.typ)
	if err != nil {
		if k.err == nil {
			k.err = err
		}
		return
	}
	*to = s
}

// A kindName holds the names of a type's objects.
type kindName struct {
	full string // the type's full name, as dumpheap prints it
	// short is full without the box around the type of a state machine.
	short string
}

// names returns the names of the kind's objects.
func (k *kind) names() (kindName, error) {
	return k.name.Get(func() (kindName, error) {
		full, err := k.typ.ManagedName()
		n := kindName{full: full, short: full}
		if _, inner, ok := strings.Cut(full, "StateMachineBox<"); ok && k.machine() {
			n.short = strings.TrimSuffix(inner, ">")
		}
		return n, err
	})
}

// completionSentinel returns the object that replaces the continuation of a completed task.
func (r *Reader) completionSentinel() (target.Addr, error) {
	return r.sentinel.Get(func() (target.Addr, error) {
		for s, err := range objects.LoadedShapes[*sentinels](r.b) {
			if err != nil {
				return 0, err
			}
			a, err := s.Completed.Value().Addr()
			if errors.Is(err, objects.ErrNotInitialised) {
				return 0, nil
			}
			return a, err
		}
		return 0, nil // no task has existed
	})
}

// sourceDone reports whether a valueTaskSource has completed. Since .NET 11 a completed one has the sentinel as its
// continuation (dotnet/runtime pull request 127256).
func (r *Reader) sourceDone(s *valueTaskSource, at objects.Instance) (bool, error) {
	if s.Completed.Has() {
		return s.Completed.Bool(at)
	}
	next, err := s.Continuation.Addr(at)
	if err != nil || next == 0 {
		return false, err
	}
	done, err := r.sourceSentinel.Get(func() (target.Addr, error) {
		for s, err := range objects.LoadedShapes[*sourceSentinels](r.b) {
			if err != nil {
				return 0, err
			}
			a, err := s.Completed.Value().Addr()
			if errors.Is(err, objects.ErrNotInitialised) {
				return 0, nil // no source has completed
			}
			return a, err
		}
		return 0, nil
	})
	return next == done, err
}

// errCleared is the error for a box without a state machine. State machines of iterators and of unoptimized code are classes. The runtime
// clears the reference when the method ends (AsyncStateMachineBox.ClearStateUponCompletion), and sets it just after it has made the box.
var errCleared = target.Unsupportedf("the box has no state machine: its method has ended, or is just starting")

// machineOf returns the state machine in a box: the address of its fields, and its type. For a box without one it returns errCleared with the
// type of the box's field.
func (r *Reader) machineOf(k *kind, box target.Addr) (objects.Instance, *machine, error) {
	field := &objects.ValueField{}
	switch {
	case k.box != nil:
		field = &k.box.Machine
	case k.pooled != nil:
		field = &k.pooled.Machine
	default:
		return 0, nil, target.Unsupportedf("%v is not the box of a state machine", box)
	}
	v := field.Value(objects.InstanceAt(box))
	if v.IsNull() {
		t, err := v.Type()
		if err != nil {
			return 0, nil, err
		}
		return 0, r.machineType(t), errCleared
	}
	if v.Kind() == objects.KindReference {
		o, err := v.Object()
		if err != nil {
			return 0, nil, err
		}
		return objects.InstanceOf(o), r.machineType(o.Type), nil
	}
	s, err := v.Struct()
	if err != nil {
		return 0, nil, err
	}
	return objects.InstanceIn(s), r.machineType(s.Type), nil
}

// machineType returns the cached description of a state machine's type.
func (r *Reader) machineType(t *objects.Type) *machine {
	if m, ok := r.machines.Load(t); ok {
		return m.(*machine)
	}
	m := newMachine(r, t)
	got, _ := r.machines.LoadOrStore(t, m)
	return got.(*machine)
}
