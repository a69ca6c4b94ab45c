package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// A Class is a property by which objects are grouped.
type Class uint8

// The classes.
const (
	ByType       Class = iota
	ByAssembly         // assembly of the type, or of an array's element type
	ByNamespace        // namespace of the type, or of an array's element type
	ByGeneration       // generation of the object
)

var classNames = [...]string{"type", "assembly", "namespace", "generation"}

// String returns the class in a word.
func (c Class) String() string { return enum.Name(classNames[:], c, "Class") }

// RetainedOptions selects rows of the retained sizes of classes.
type RetainedOptions struct {
	By      Class
	Garbage bool   // of garbage instead of live objects
	Top     int    // maximum number of rows; 0 for all
	Least   uint64 // smallest retained size of a row in bytes
	// Type selects the rows of types; nil for all.
	Type func(*dac.MethodTable) bool
}

// Retained returns the retained size of each class of objects, from Dominators.
func (x *Holders) Retained(ctx context.Context, o RetainedOptions) (*answer.Retained, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.Retained, error) {
		d, err := x.g.Dominators(ctx)
		if err != nil {
			return nil, err
		}
		out := &answer.Retained{By: o.By.String(), OfGarbage: o.Garbage}
		if out.Incomplete, err = x.Incomplete(&out.Gaps); err != nil {
			return nil, err
		}
		c, err := x.classes(ctx, &out.Gaps, o.By)
		if err != nil {
			return nil, err
		}
		defer c.free()
		sums, err := x.g.count(ctx, c)
		if err != nil {
			return nil, err
		}
		for i := range sums {
			addPart(&out.Live, sums[i].live)
			addPart(&out.Garbage, sums[i].dead)
			addPart(&out.Frozen, sums[i].frozen)
		}
		part, all := PartLive, out.Live.Size
		if o.Garbage {
			part, all = PartDead, out.Garbage.Size+out.Frozen.Size
		}
		retained, err := c.retained(ctx, d, part)
		if err != nil {
			return nil, err
		}
		for i, s := range sums {
			of := s.live
			if o.Garbage {
				of = s.dead
				addPart(&of, s.frozen)
			}
			if of.Objects == 0 && (o.Garbage || s.dead.Objects == 0) || retained[i] < o.Least || o.Type != nil && o.By == ByType && !o.Type(x.g.types[i]) {
				continue
			}
			row := answer.RetainedRow{Name: c.names[i], Count: of.Objects, Size: of.Size, Retained: retained[i], Share: percent(retained[i], all)}
			if !o.Garbage {
				row.Garbage = s.dead
			}
			if o.By == ByType {
				row.MethodTable = x.g.types[i].Addr
			}
			out.Rows = append(out.Rows, row)
		}
		slices.SortStableFunc(out.Rows, func(a, b answer.RetainedRow) int {
			return cmp.Or(cmp.Compare(b.Retained, a.Retained), cmp.Compare(b.Garbage.Size, a.Garbage.Size), cmp.Compare(a.Name.S, b.Name.S))
		})
		out.Rows, out.More = cutRows(out.Rows, o.Top)
		if o.By == ByType { // names of the listed rows
			for i := range out.Rows {
				out.Rows[i].Name = x.rt.NamedType(&out.Gaps, out.Rows[i].MethodTable)
			}
		}
		return out, nil
	})
}

// Incomplete notes the missing parts of the graph and reports whether there are any. It fails for a graph without
// objects.
func (x *Holders) Incomplete(g *answer.Gaps) (bool, error) {
	warnings := x.g.stats.Warnings()
	if x.g.objects == 0 && len(warnings) > 0 {
		return true, fmt.Errorf("no object of the heap can be read: %w", warnings[0])
	}
	g.NoteAll(warnings)
	return len(warnings) > 0, nil
}

func addPart(sum *answer.HeapPart, p answer.HeapPart) {
	sum.Objects += p.Objects
	sum.Size += p.Size
}

func percent(part, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return 100 * float64(part) / float64(all)
}

// cutRows returns the first top rows, or all if top is 0, and the number of the other rows.
func cutRows[T any](rows []T, top int) ([]T, int) {
	if top <= 0 || len(rows) <= top {
		return rows, 0
	}
	return rows[:top], len(rows) - top
}

// A classes maps all objects to classes.
type classes struct {
	by     Class
	names  []answer.Text // by class; nil for ByType
	byType []uint32      // class of each type, or nil
	byNode []uint8       // class of each object
	free   func()
}

func (x *Holders) classes(ctx context.Context, g *answer.Gaps, by Class) (*classes, error) {
	c := &classes{by: by, free: func() {}}
	switch by {
	case ByGeneration:
		array, err := x.g.byGeneration(ctx)
		if err != nil {
			return nil, err
		}
		c.byNode, c.free = array.Slice(), func() { array.Free() }
		for gen := heap.Generation0; gen <= heap.GenerationUnknown; gen++ {
			c.names = append(c.names, answer.Text{S: gen.String()})
		}
	case ByType:
		c.names = make([]answer.Text, len(x.g.types))
		c.byType = make([]uint32, len(x.g.types))
		for i := range c.byType {
			c.byType[i] = uint32(i)
		}
	default:
		name := x.rt.TypeAssembly
		if by == ByNamespace {
			name = x.namespace
		}
		x.classTypes(g, c, name)
	}
	return c, nil
}

// classTypes groups types by name. Types without a readable name are a class of their own.
func (x *Holders) classTypes(g *answer.Gaps, c *classes, name func(target.Addr) (string, error)) {
	known := map[string]uint32{}
	unknown := -1
	for _, mt := range x.g.types {
		s, err := name(mt.Addr)
		if err != nil {
			if unknown < 0 {
				unknown = len(c.names)
				c.names = append(c.names, g.Text("", err))
			}
			c.byType = append(c.byType, uint32(unknown))
			continue
		}
		i, ok := known[s]
		if !ok {
			i = uint32(len(c.names))
			known[s] = i
			c.names = append(c.names, answer.Text{S: s})
		}
		c.byType = append(c.byType, i)
	}
}

// namespace returns the namespace of a type, which may be empty.
func (x *Holders) namespace(mt target.Addr) (string, error) {
	name, err := x.rt.TypeName(mt, dac.NameManaged)
	if i := strings.IndexAny(name, "<[+`"); i > 0 {
		name = name[:i]
	}
	return name[:max(0, strings.LastIndexByte(name, '.'))], err
}

func (c *classes) retained(ctx context.Context, d *Dominators, p Part) ([]uint64, error) {
	switch c.by {
	case ByGeneration:
		return d.ByGeneration(ctx, p)
	case ByType:
		return d.ByType(ctx, p)
	}
	return d.ByTypeClass(ctx, p, c.byType, len(c.names))
}

// A classSums counts the objects of a class: live objects, dead objects, and objects of frozen segments, which no root
// reaches and which are never collected.
type classSums struct{ live, dead, frozen answer.HeapPart }

func (g *Graph) count(ctx context.Context, c *classes) ([]classSums, error) {
	live, err := g.Live(ctx)
	if err != nil {
		return nil, err
	}
	sums := make([]classSums, len(c.names))
	for _, span := range g.spans() {
		for n := span.from; n < span.to; n++ {
			if n%numberPiece == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			var s *classSums
			if c.byNode != nil {
				s = &sums[c.byNode[n]]
			} else {
				s = &sums[c.byType[g.TypeIndex(n)]]
			}
			p := &s.live
			switch {
			case live.Live(n):
			case span.frozen:
				p = &s.frozen
			default:
				p = &s.dead
			}
			p.Objects++
			p.Size += g.Size(n)
		}
	}
	return sums, nil
}

// A span is a run of objects that are all inside frozen segments, or all outside of them.
type span struct {
	from, to Node
	frozen   bool
}

func (g *Graph) spans() []span {
	var out []span
	segments := g.h.Segments()
	for i := range segments {
		if s := &segments[i]; s.Kind == heap.KindFrozen {
			out = append(out, span{g.index.firstFrom(s.Objects.Start), g.index.firstFrom(s.Objects.End), true})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	at := Node(0)
	for i := range len(out) {
		s := &out[i]
		s.from, s.to = max(s.from, at), max(s.to, at)
		if s.from > at {
			out = append(out, span{from: at, to: s.from})
		}
		at = out[i].to
	}
	return append(out, span{from: at, to: Node(g.objects)})
}

// byGeneration returns the heap.Generation of each object.
func (g *Graph) byGeneration(ctx context.Context) (*offheap.Array[uint8], error) {
	array, err := offheap.Make[uint8](g.budget, g.objects)
	if err != nil {
		return nil, err
	}
	if err := g.generations(ctx, array.Slice()); err != nil {
		array.Free()
		return nil, err
	}
	return array, nil
}

// RetainedBy returns the retained size of each of several objects. It fails if the first address is not an object, and
// notes the error for others. top is the maximum number of types listed for each, 0 for all.
func (x *Holders) RetainedBy(ctx context.Context, objects []target.Addr, top int) (*answer.Retained, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.Retained, error) {
		out := &answer.Retained{}
		if _, err := x.g.Dominators(ctx); err != nil { // also computes the live objects
			return nil, err
		}
		var err error
		if out.Incomplete, err = x.Incomplete(&out.Gaps); err != nil {
			return nil, err
		}
		if out.Live, out.Garbage, out.Frozen, err = x.Parts(ctx); err != nil {
			return nil, err
		}
		for i, a := range objects {
			n, err := x.Object(a)
			switch {
			case err != nil && i == 0:
				return nil, err
			case err != nil:
				out.Note(err)
				continue
			}
			o, err := x.retainedBy(ctx, out, n, top)
			if err != nil {
				return nil, err
			}
			out.Objects = append(out.Objects, *o)
		}
		return out, nil
	})
}

// Parts counts the live, the dead and the frozen objects. It visits only the objects of frozen segments.
func (x *Holders) Parts(ctx context.Context) (live, dead, frozen answer.HeapPart, err error) {
	ctx, done, err := x.g.Use(ctx)
	if err != nil {
		return live, dead, frozen, err
	}
	defer done()
	alive, err := x.g.Live(ctx)
	if err != nil {
		return live, dead, frozen, err
	}
	for _, span := range x.g.spans() {
		for n := span.from; span.frozen && n < span.to; n++ {
			if n%numberPiece == 0 && ctx.Err() != nil {
				return live, dead, frozen, ctx.Err()
			}
			if !alive.Live(n) {
				addPart(&frozen, answer.HeapPart{Objects: 1, Size: x.g.Size(n)})
			}
		}
	}
	live.Objects, live.Size = alive.Count()
	dead.Objects, dead.Size = x.g.stats.Objects-live.Objects-frozen.Objects, x.g.stats.Bytes-live.Size-frozen.Size
	return live, dead, frozen, nil
}

// unreached concludes what it means that no root was found to lead to an object.
func unreached(o *answer.PathObject, incomplete bool) *answer.Verdict {
	v := answer.Conclude(answer.NoFinding, words.IsGarbage.Of(), answer.StrengthProved)
	switch {
	case o.Generation == "frozen":
		v = answer.Conclude(answer.NoFinding, words.UnreachedFrozen.Of(), answer.StrengthProved)
	case incomplete:
		v = answer.Conclude(answer.NoFinding, words.UnreachedReadable.Of(), answer.StrengthUnknown)
	}
	return &v
}

func (x *Holders) retainedBy(ctx context.Context, r *answer.Retained, n Node, top int) (*answer.RetainedObject, error) {
	d, err := x.g.Dominators(ctx)
	if err != nil {
		return nil, err
	}
	live, err := x.g.Live(ctx)
	if err != nil {
		return nil, err
	}
	out := &answer.RetainedObject{Object: x.object(&r.Gaps, n), Live: live.Live(n), Retained: d.Retained(n)}
	all := r.Live.Size
	if !out.Live {
		out.Dead = unreached(&out.Object, r.Incomplete)
		all = r.Garbage.Size + r.Frozen.Size
	}
	out.Share = percent(out.Retained, all)
	t := x.newTypeSums()
	if err := x.visitBelow(ctx, d, n, func(m Node) { t.add(m); out.Count++ }); err != nil {
		return nil, err
	}
	out.Types, out.More = t.rows(&r.Gaps, top)
	return out, nil
}

// visitBelow calls visit with the objects that n dominates, including n.
func (x *Holders) visitBelow(ctx context.Context, d *Dominators, n Node, visit func(Node)) error {
	return x.visitAllBelow(ctx, d, n, func(n Node) {
		if x.g.IsObject(n) {
			visit(n)
		}
	})
}

// visitAllBelow calls visit with the nodes that n dominates, including n.
func (x *Holders) visitAllBelow(ctx context.Context, d *Dominators, n Node, visit func(Node)) error {
	stack := []Node{n}
	for i := 0; len(stack) > 0; i++ {
		if i%searchStep == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		visit(n)
		var err error
		if stack, err = d.AppendChildren(ctx, stack, n); err != nil {
			return err
		}
	}
	return nil
}

// A typeSums counts objects by type.
type typeSums struct {
	x    *Holders
	sums map[int]*answer.HeapPart // by TypeIndex
}

func (x *Holders) newTypeSums() *typeSums { return &typeSums{x: x, sums: map[int]*answer.HeapPart{}} }

func (t *typeSums) sum(n Node) *answer.HeapPart {
	i := t.x.g.TypeIndex(n)
	s := t.sums[i]
	if s == nil {
		s = &answer.HeapPart{}
		t.sums[i] = s
	}
	return s
}

func (t *typeSums) add(n Node) { addPart(t.sum(n), answer.HeapPart{Objects: 1, Size: t.x.g.Size(n)}) }

// order returns the types, the largest size first.
func (t *typeSums) order() []int {
	list := make([]int, 0, len(t.sums))
	for i := range t.sums {
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.sums[b].Size, t.sums[a].Size), cmp.Compare(t.sums[b].Objects, t.sums[a].Objects), cmp.Compare(a, b))
	})
	return list
}

func (t *typeSums) rows(g *answer.Gaps, top int) ([]answer.TypeCount, int) {
	list, more := cutRows(t.order(), top)
	rows := make([]answer.TypeCount, 0, len(list))
	for _, i := range list {
		mt := t.x.g.types[i]
		rows = append(rows, answer.TypeCount{MethodTable: mt.Addr, Count: t.sums[i].Objects, Size: t.sums[i].Size,
			Type: t.x.rt.NamedType(g, mt.Addr)})
	}
	return rows, more
}
