package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/graph/roots"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// nameObjects finds the fields that hold objects: static fields first, then, in one walk of the heap, the fields of other objects. Objects
// without such a field have no name.
func (s *survey) nameObjects(wanted map[target.Addr]bool, o heap.ScanOptions) error {
	s.names = map[target.Addr]string{}
	delete(wanted, 0)
	if len(wanted) == 0 {
		return nil
	}
	statics := s.statics()
	rest := map[target.Addr]bool{}
	for a := range wanted {
		if f := statics[a]; f != nil {
			s.names[a] = staticName(f)
		} else {
			rest[a] = true
		}
	}
	if len(rest) == 0 || !s.found.suspended {
		return nil // the names of the locks of threads are not worth a walk of the heap
	}
	best := map[target.Addr]referrer{}
	err := heap.Scan(s.ctx, s.r.heap, nil, o, func() *referrers {
		return &referrers{s: s, edges: s.r.heap.Edges(heap.EdgeOptions{}), wanted: rest}
	}, func(c *referrers) error {
		for _, f := range c.found {
			if old, ok := best[f.to]; !ok || f.rank < old.rank {
				best[f.to] = f
			}
		}
		return nil
	})
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	s.gaps.Note(err)
	for a, f := range best {
		if name := s.fieldName(&f, statics); name != "" {
			s.names[a] = name
		}
	}
	return nil
}

// statics returns the static fields that refer to objects, by object. Of several, one of a class of the program counts.
func (s *survey) statics() map[target.Addr]*objects.Field {
	out := map[target.Addr]*objects.Field{}
	own := map[target.Addr]bool{}
	r := roots.New(roots.Process{Heap: s.r.heap, Objects: s.r.b.Objects(), Threads: func() ([]threads.Thread, error) { return nil, nil }})
	for f, err := range r.Statics(s.ctx) {
		if err != nil || f.Thread != nil {
			continue // a name less
		}
		if out[f.Object] == nil || !own[f.Object] && ownClass(f.Field) {
			out[f.Object], own[f.Object] = f.Field, ownClass(f.Field)
		}
	}
	return out
}

// ownClass reports whether a field belongs to a class of the program.
func ownClass(f *objects.Field) bool {
	if f.Declaring == nil {
		return false
	}
	name, err := f.Declaring.ManagedName()
	return err == nil && !answer.LibraryMethod(name)
}

// staticName returns a static field with its class, "Contoso.Ledger.sync".
func staticName(f *objects.Field) string {
	class, err := f.Declaring.ManagedName()
	if err != nil || f.Err() != nil {
		return ""
	}
	return class + "." + property(f.Name)
}

// property returns the automatic property of a backing field, or the field itself.
func property(field string) string {
	if name, ok := strings.CutSuffix(field, ">k__BackingField"); ok {
		return strings.TrimPrefix(name, "<")
	}
	return field
}

// A referrer is an object that refers to another.
type referrer struct {
	to   target.Addr
	from heap.Object
	rank uint8 // the lower, the better it names the other
}

// The ranks of referrers by their types.
const (
	rankOwn     = iota // an object of the program
	rankLibrary        // an object of a library
	rankNone           // arrays, delegates, the state of async methods, parts of the object: no field that names it
)

// referrers gathers the objects that refer to some others. Each worker keeps the best of each run.
type referrers struct {
	s      *survey
	edges  *heap.Edges
	wanted map[target.Addr]bool
	ranks  []uint8 // by type number, plus 1; 0 if not yet known
	refs   []target.Addr
	found  []referrer
}

// Objects gathers a batch.
func (c *referrers) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		o := &batch[i]
		if o.Free {
			continue
		}
		var whole bool
		if c.refs, whole = c.edges.Whole(c.refs[:0], o); !whole {
			c.refs, _, _ = c.edges.Append(c.refs[:0], o, 0, o.Size) // what is missing names nothing
		}
		for _, a := range c.refs {
			if c.wanted[a] && a != o.Addr {
				c.add(a, o)
			}
		}
	}
}

// add keeps a referrer if it is better than the one of the run so far.
func (c *referrers) add(to target.Addr, o *heap.Object) {
	rank := c.rank(o)
	if rank == rankNone {
		return
	}
	for i := range c.found {
		if f := &c.found[i]; f.to == to {
			if rank < f.rank {
				f.from, f.rank = *o, rank
			}
			return
		}
	}
	c.found = append(c.found, referrer{to, *o, rank})
}

// rank returns how well objects of a type name what they refer to.
func (c *referrers) rank(o *heap.Object) uint8 {
	n := int(o.TypeNumber())
	for len(c.ranks) <= n {
		c.ranks = append(c.ranks, 0)
	}
	if c.ranks[n] == 0 {
		c.ranks[n] = 1 + rankOf(c.s.r.b, o)
	}
	return c.ranks[n] - 1
}

func rankOf(b *shapes.Binder, o *heap.Object) uint8 {
	if o.Type.IsArray() {
		return rankNone
	}
	t, err := b.Objects().Type(o.Type.Addr)
	if err != nil {
		return rankNone
	}
	name, err := t.ManagedName()
	if err != nil || strings.Contains(name, "StateMachineBox<") {
		return rankNone
	}
	switch is, err := shapes.Is[delegate](b, t); {
	case is, err != nil:
		return rankNone
	case answer.LibraryMethod(name):
		return rankLibrary
	}
	return rankOwn
}

// Corrupt does nothing: the search for locks has reported it.
func (c *referrers) Corrupt(*heap.Corruption) {}

// Reset forgets the referrers.
func (c *referrers) Reset() { c.found = c.found[:0] }

// fieldName returns the field of a referrer: behind the static field that holds the referrer, if there is one, else behind its type.
func (s *survey) fieldName(f *referrer, statics map[target.Addr]*objects.Field) string {
	o, err := s.r.b.Objects().Of(f.from)
	if err != nil {
		return ""
	}
	field := ""
	s.r.heap.Edges(heap.EdgeOptions{}).Slots(&f.from, f.to, 0, f.from.Size, func(off uint64) bool {
		field = property(o.SlotName(off))
		return false
	})
	class, err := o.Type.ManagedName()
	if err != nil || field == "" || strings.HasPrefix(class, s.typeOf(f.to).S+"+") {
		return "" // an object of a class inside the object's own refers back
	}
	owner := ""
	if f := statics[o.Addr]; f != nil {
		owner = staticName(f)
	}
	return cmp.Or(owner, class) + "." + field
}

// promiseOwners finds what holds the promises that suspended code waits for: a collection of them, or the TaskCompletionSource.
func (s *survey) promiseOwners() {
	wanted := map[target.Addr]bool{}
	for _, op := range s.ops {
		if op.thing.cause == tasks.CausePromise && op.thing.addr == 0 {
			wanted[op.leaf] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	source := map[target.Addr]target.Addr{} // by task
	inside := map[target.Addr]bool{}        // what a carrier may refer to
	for _, a := range s.found.promises {
		o, err := s.r.b.Objects().Object(a)
		if err != nil {
			continue
		}
		if k, x, err := shapes.BindObject[completionSource](s.r.b, o); err == nil {
			if t, err := k.Task.Addr(x); err == nil && wanted[t] {
				source[t], inside[a] = a, true
			}
		}
	}
	holder := s.carried(inside)
	for _, op := range s.ops {
		if !wanted[op.leaf] || op.thing.cause != tasks.CausePromise || op.thing.addr != 0 {
			continue
		}
		at := source[op.leaf]
		if at == 0 {
			continue
		}
		t := *op.thing
		t.source = at
		if t.addr = s.collection(at, holder); t.addr != 0 {
			t.typ = s.typeOf(t.addr)
		}
		op.thing = &t
	}
}

// collection returns the outermost collection that holds a promise, or 0. An array that nothing holds is one that a collection has
// outgrown: another one is better.
func (s *survey) collection(promise target.Addr, holders map[target.Addr][]target.Addr) target.Addr {
	best := target.Addr(0)
	var climb func(a target.Addr, depth int)
	climb = func(a target.Addr, depth int) {
		up := holders[a]
		if len(up) == 0 && a != promise && (best == 0 || s.isArray(best) && !s.isArray(a)) {
			best = a
		}
		if depth == maxCarried {
			return
		}
		for _, h := range up {
			climb(h, depth+1)
		}
	}
	climb(promise, 0)
	return best
}

// isArray reports whether an object is an array.
func (s *survey) isArray(a target.Addr) bool {
	o, err := s.r.b.Objects().Object(a)
	return err == nil && o.Type.MT.IsArray()
}

// Bounds of the collections around a promise: how many one is inside of the other, and how many hold it at once.
const (
	maxCarried    = 6
	maxCollecting = 32
)

// carried returns, for promises and collections, the collections that refer to them.
func (s *survey) carried(inside map[target.Addr]bool) map[target.Addr][]target.Addr {
	out := map[target.Addr][]target.Addr{}
	if len(inside) == 0 {
		return out
	}
	for _, a := range s.found.carriers {
		inside[a] = true
	}
	edges := s.r.heap.Edges(heap.EdgeOptions{})
	for _, a := range s.found.carriers {
		o, err := s.r.heap.ObjectAt(a)
		if err != nil {
			continue
		}
		for ref, err := range edges.Of(&o) {
			if list := out[ref.Target]; err == nil && inside[ref.Target] && ref.Target != a && len(list) < maxCollecting && !slices.Contains(list, a) {
				out[ref.Target] = append(list, a)
			}
		}
	}
	return out
}
