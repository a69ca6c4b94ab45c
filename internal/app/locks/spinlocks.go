package locks

import (
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A spinPlace is the place of a SpinLock in the objects of a type.
type spinPlace struct {
	offset target.Addr // from the object's address
	field  string      // empty if the object is itself a SpinLock, such as the box of a static field
	shape  *spinLock
}

// A spinFinder finds the SpinLocks in types.
type spinFinder struct {
	r *Reader

	mu    sync.Mutex
	known map[target.Addr][]spinPlace // by MethodTable
	lost  workers.Lowest              // the first type that could not be examined
}

// places returns the SpinLocks in objects of a type. It does not search fields of other struct types.
func (f *spinFinder) places(mt *dac.MethodTable) []spinPlace {
	f.mu.Lock()
	list, ok := f.known[mt.Addr]
	f.mu.Unlock()
	if ok {
		return list
	}
	list, err := f.look(mt)
	f.lost.Note(uint64(mt.Addr), err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[mt.Addr] = list
	return list
}

// spinLockName is the declared type of a SpinLock field.
const spinLockName = "System.Threading.SpinLock"

func (f *spinFinder) look(mt *dac.MethodTable) (list []spinPlace, err error) {
	t, err := f.r.b.Objects().TrustedType(mt.Addr)
	if err != nil {
		return nil, err
	}
	if is, err := objects.IsShape[*spinLock](f.r.b, t); err != nil {
		return nil, err
	} else if is {
		s, err := objects.Bind[*spinLock](f.r.b, t)
		return []spinPlace{{offset: dac.ObjectHeaderBytes, shape: s}}, err
	}
	fields, err := t.Fields()
	for _, x := range fields {
		if x.Static || x.At(0).Kind() != objects.KindStruct {
			continue
		}
		shape, xErr := f.lockIn(x)
		if shape != nil {
			list = append(list, spinPlace{offset: dac.ObjectHeaderBytes + target.Addr(x.Offset), field: x.Name, shape: shape})
		}
		if xErr != nil && err == nil {
			err = xErr
		}
	}
	return list, err
}

// lockIn returns the shape of a field that is a SpinLock, and nil for other fields.
func (f *spinFinder) lockIn(x *objects.Field) (*spinLock, error) {
	th, err := x.TypeHandle()
	if err != nil {
		if name, nameErr := x.TypeName(dac.NameManaged); nameErr == nil && name != spinLockName {
			return nil, nil // declared as another type
		}
		return nil, err
	}
	if th == 0 {
		return nil, nil // the type is not loaded, so no object was locked with it
	}
	t, err := f.r.b.Objects().TrustedType(th)
	if err != nil {
		return nil, err
	}
	if is, err := objects.IsShape[*spinLock](f.r.b, t); !is || err != nil {
		return nil, err
	}
	return objects.Bind[*spinLock](f.r.b, t)
}

// spinLocks adds the SpinLocks that were found: in fields of objects, or boxed in static fields.
func (s *survey) spinLocks() {
	boxes := map[target.Addr]bool{}
	for i := range s.found.spins {
		if o := &s.found.spins[i]; s.isBox(o) {
			boxes[o.Addr] = true
		}
	}
	static, whole := flows.StaticNames(s.ctx, s.r.b, s.r.heap, boxes)
	for i := range s.found.spins {
		o := &s.found.spins[i]
		if boxes[o.Addr] && static[o.Addr] == "" && whole {
			continue // a boxed copy, which no code can enter
		}
		for _, p := range s.found.finder.places(o.Type) {
			if err := s.spin(o, &p, static[o.Addr]); err != nil {
				s.lose(fmt.Errorf("lock %v: %w", o.Addr, err))
			}
		}
	}
	if err := s.found.finder.lost.Err(); err != nil {
		s.lose(fmt.Errorf("SpinLocks of objects whose types can't be read: %w", err))
	}
	s.found.spins = nil
}

// isBox reports whether an object is a boxed SpinLock: the value of a static field, or a copy.
func (s *survey) isBox(o *heap.Object) bool {
	t, err := s.r.b.Objects().TrustedType(o.Type.Addr)
	if err != nil {
		return false
	}
	is, err := objects.IsShape[*spinLock](s.r.b, t)
	return is && err == nil
}

// spin adds a SpinLock.
func (s *survey) spin(o *heap.Object, p *spinPlace, name string) error {
	at := o.Addr + p.offset
	owner, err := p.shape.Owner.Uint(objects.Instance(at))
	if err != nil {
		return err
	}
	l := &lock{Lock: answer.Lock{Address: at, Kind: answer.LockSpin, Name: name, Type: s.typeOf(o.Addr), Waiters: answer.Of[int64](0, errNoSpinners)}}
	if p.field != "" && l.Type.Err == nil {
		l.Type.S += "." + p.field
	}
	switch {
	case owner&spinAnonymous == 0 && owner != 0:
		s.own(l, uint32(owner))
	case owner&spinAnonymous != 0 && owner&spinHeld != 0:
		l.Held = true
		l.says(words.HeldUnrecorded.Of())
	}
	s.spins[at] = l
	s.locks = append(s.locks, l)
	return nil
}

var errNoSpinners = target.Unsupportedf("a SpinLock does not record who waits")
