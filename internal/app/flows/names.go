package flows

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type delegate struct {
	_ objects.Shape `of:"System.MulticastDelegate"`
}

// A Name is the field that holds an object.
type Name struct {
	Text   string      // the field behind its class for a static one, else behind the static field or the type of its object
	Class  string      // the class with the field; of a field in an object of a library, the class with the static field of that object
	Holder target.Addr // the object with the field; 0 for a static field
}

// NamesOptions select the fields that Names looks at.
type NamesOptions struct {
	Walk bool // one walk of the heap finds the fields of objects
	Scan heap.ScanOptions
}

// Names returns the names of objects by the fields that hold them. Static fields come first. Objects without such a field have no name. The error is ctx's, or
// reports that the heap was not completely read.
func Names(ctx context.Context, b *objects.Binder, h *heap.Heap, wanted map[target.Addr]bool, o NamesOptions) (map[target.Addr]Name, error) {
	s := &namer{ctx: ctx, b: b, heap: h, names: map[target.Addr]Name{}}
	delete(wanted, 0)
	if len(wanted) == 0 {
		return s.names, nil
	}
	err := s.name(wanted, o.Walk, o.Scan)
	return s.names, err
}

// StaticNames returns the names of static fields that hold objects, by object, and reports whether all static fields
// could be read.
func StaticNames(ctx context.Context, b *objects.Binder, h *heap.Heap, wanted map[target.Addr]bool) (names map[target.Addr]string, whole bool) {
	names = map[target.Addr]string{}
	if len(wanted) == 0 {
		return names, true
	}
	s := &namer{ctx: ctx, b: b, heap: h}
	statics, unread := s.statics()
	for a := range wanted {
		if f := statics[a]; f != nil {
			name, err := staticName(f)
			names[a], unread = name.Text, cmp.Or(unread, err)
		}
	}
	return names, unread == nil
}

// A namer finds the names of objects.
type namer struct {
	ctx   context.Context
	b     *objects.Binder
	heap  *heap.Heap
	names map[target.Addr]Name
}

func (s *namer) name(wanted map[target.Addr]bool, walk bool, o heap.ScanOptions) error {
	statics, unread := s.statics()
	rest := map[target.Addr]bool{}
	var unnamed error // why an object may have a name that is not known
	for a := range wanted {
		if f := statics[a]; f != nil {
			name, err := staticName(f)
			s.names[a], unnamed = name, cmp.Or(unnamed, err)
		} else {
			rest[a] = true
		}
	}
	if len(rest) > 0 {
		unnamed = cmp.Or(unnamed, unread)
	}
	if len(rest) == 0 || !walk {
		return unnamed
	}
	best, err := s.referrersOf(rest, false, o)
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	err = cmp.Or(err, unnamed)
	for a, f := range best {
		if name := s.fieldName(&f, statics); name.Text != "" {
			s.names[a] = name
		}
	}
	return cmp.Or(s.lazies(statics, o), err)
}

// referrersOf returns the best referrer of each object. In collections, arrays count, too.
func (s *namer) referrersOf(wanted map[target.Addr]bool, arrays bool, o heap.ScanOptions) (map[target.Addr]referrer, error) {
	best := map[target.Addr]referrer{}
	err := heap.Scan(s.ctx, s.heap, nil, o, func() *referrers {
		return &referrers{s: s, edges: s.heap.Edges(heap.EdgeOptions{}), wanted: wanted, arrays: arrays}
	}, func(c *referrers) error {
		for _, f := range c.found {
			if old, ok := best[f.to]; !ok || f.rank < old.rank {
				best[f.to] = f
			}
		}
		return nil
	})
	return best, err
}

// maxContainers bounds the collections and arrays between a Lazy and the object that has it in a field.
const maxContainers = 4

// lazies names the values of Lazy objects after what has the Lazy, through collections: the field of a Lazy says nothing.
func (s *namer) lazies(statics map[target.Addr]*objects.Field, o heap.ScanOptions) error {
	at := map[target.Addr]target.Addr{} // by object: what contains it
	for a, name := range s.names {
		if name.Holder != 0 && strings.HasPrefix(s.typeName(name.Holder), "System.Lazy<") {
			at[a] = name.Holder
		}
	}
	for range maxContainers {
		wanted := map[target.Addr]bool{}
		for a, in := range at {
			if f := statics[in]; f != nil {
				if name, err := staticName(f); err == nil {
					s.names[a] = name
				}
				delete(at, a)
				continue
			}
			wanted[in] = true
		}
		if len(wanted) == 0 {
			return nil
		}
		best, err := s.referrersOf(wanted, true, o)
		if err != nil {
			return err
		}
		for a, in := range at {
			f, ok := best[in]
			if !ok {
				delete(at, a)
				continue
			}
			if class := s.typeName(f.from.Addr); f.from.Type.IsArray() || strings.HasPrefix(class, "System.Collections.") || strings.HasPrefix(class, "System.Lazy<") {
				at[a] = f.from.Addr
				continue
			}
			if name := s.fieldName(&f, statics); name.Text != "" {
				s.names[a] = name
			}
			delete(at, a)
		}
	}
	return nil
}

// statics returns the static fields that refer to objects, by object. The error is why some may be missing. Fields of
// the program's classes take precedence.
func (s *namer) statics() (out map[target.Addr]*objects.Field, unread error) {
	out = map[target.Addr]*objects.Field{}
	own := map[target.Addr]bool{}
	r := graph.NewRootReader(s.heap, s.b.Objects(), nil, func() ([]stackwalk.Thread, error) { return nil, nil })
	for f, err := range r.Statics(s.ctx) {
		unread = cmp.Or(unread, err)
		if err != nil || f.Thread != nil {
			continue
		}
		if out[f.Object] == nil || !own[f.Object] && ownClass(f.Field) {
			out[f.Object], own[f.Object] = f.Field, ownClass(f.Field)
		}
	}
	return out, unread
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
func staticName(f *objects.Field) (Name, error) {
	class, err := f.Declaring.ManagedName()
	if err = cmp.Or(err, f.Err()); err != nil {
		return Name{}, err
	}
	return Name{Text: class + "." + objects.FieldLabel(f.Name), Class: class}, nil
}

// A referrer is an object that refers to another.
type referrer struct {
	to   target.Addr
	from heap.Object
	rank uint8 // lower ranks give better names
}

// Ranks of referrers by type.
const (
	rankOwn     = iota // an object of the program
	rankLibrary        // an object of a library
	rankNone           // arrays, delegates, async state, parts of the object: no field gives a name
)

// referrers gathers the objects that refer to wanted objects. Each worker keeps the best of each run.
type referrers struct {
	s      *namer
	edges  *heap.Edges
	wanted map[target.Addr]bool
	arrays bool    // they are referrers, too
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
			c.refs, _, _ = c.edges.Append(c.refs[:0], o, 0, o.Size) // missing references give no names
		}
		for _, a := range c.refs {
			if c.wanted[a] && a != o.Addr {
				c.add(a, o)
			}
		}
	}
}

// add keeps a referrer if it is better than the best one of the run so far.
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

// rank returns how well objects of a type name their referents.
func (c *referrers) rank(o *heap.Object) uint8 {
	n := int(o.TypeNumber())
	for len(c.ranks) <= n {
		c.ranks = append(c.ranks, 0)
	}
	if c.ranks[n] == 0 {
		c.ranks[n] = 1 + rankOf(c.s.b, o)
		if c.arrays && o.Type.IsArray() {
			c.ranks[n] = 1 + rankLibrary
		}
	}
	return c.ranks[n] - 1
}

// carriers are types of the class library that carry the state of a callback: whom they belong to is not said by their fields.
var carriers = []string{"System.Threading.CancellationTokenSource+CallbackNode", "System.Threading.TimerQueueTimer", "System.Threading.QueueUserWorkItemCallback"}

func rankOf(b *objects.Binder, o *heap.Object) uint8 {
	if o.Type.IsArray() {
		return rankNone
	}
	t, err := b.Objects().TrustedType(o.Type.Addr)
	if err != nil {
		return rankNone
	}
	name, err := t.ManagedName()
	if err != nil || strings.Contains(name, "StateMachineBox<") || slices.ContainsFunc(carriers, func(c string) bool { return strings.HasPrefix(name, c) }) {
		return rankNone
	}
	switch is, err := objects.IsShape[*delegate](b, t); {
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

// fieldName returns the field of a referrer, after the static field that holds the referrer or else after its type.
func (s *namer) fieldName(f *referrer, statics map[target.Addr]*objects.Field) Name {
	o, err := s.b.Objects().Of(f.from)
	if err != nil {
		return Name{}
	}
	field := ""
	s.heap.Edges(heap.EdgeOptions{}).Slots(&f.from, f.to, 0, f.from.Size, func(off uint64) bool {
		field = objects.FieldLabel(o.SlotName(off))
		return false
	})
	class, err := o.Type.ManagedName()
	if err != nil || field == "" || strings.HasPrefix(class, s.typeName(f.to)+"+") {
		return Name{} // a part of the object refers back to it
	}
	owner := Name{Text: class, Class: class}
	if f := statics[o.Addr]; f != nil {
		owner, _ = staticName(f)
	}
	if !answer.LibraryMethod(class) {
		owner.Class = class
	}
	return Name{cmp.Or(owner.Text, class) + "." + field, owner.Class, o.Addr}
}

// typeName returns the name of an object's type, or "" if it can't be read.
func (s *namer) typeName(a target.Addr) string {
	o, err := s.b.Objects().TrustedObject(a)
	if err != nil {
		return ""
	}
	name, err := o.Type.ManagedName()
	if err != nil {
		return ""
	}
	return name
}
