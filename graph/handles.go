package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// HandleOptions selects what is described about the objects that GC handles keep alive.
type HandleOptions struct {
	Types []heap.HandleType // only handles of these types; if empty, all that keep objects alive
	Top   int               // maximum number of listed handles, and of types of objects; 0 for all
	Holds int               // maximum number of types listed in a handle's retained size
	Path  bool              // also describe another path to the object, if there is one
}

func (o *HandleOptions) selects(t heap.HandleType) bool {
	return len(o.Types) == 0 || slices.Contains(o.Types, t)
}

// A heldObject is the object that a handle keeps alive.
type heldObject struct {
	handle target.Addr
	typ    heap.HandleType
	from   Node // the Source of the type's handles; for a dependent handle, the primary object
	object Node
	same   int  // number of further handles of the type with the same object
	alone  bool // only handles of the type keep the object alive
	freed  uint64
}

// HandlesHold returns the retained size of each GC handle, from Dominators. It is 0 if something else, such as another
// handle, also keeps the object alive. The content of a table of static fields belongs to the fields, not to the
// handle.
func (x *Holders) HandlesHold(ctx context.Context, o HandleOptions) (*answer.HandlesHold, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.HandlesHold, error) {
		d, err := x.g.Dominators(ctx)
		if err != nil {
			return nil, err
		}
		out := &answer.HandlesHold{Rows: []answer.HandleHolds{}}
		if out.Incomplete, err = x.Incomplete(&out.Gaps); err != nil {
			return nil, err
		}
		if out.Live, out.Garbage, out.Frozen, err = x.Parts(ctx); err != nil {
			return nil, err
		}
		h := &handleHolds{x: x, d: d, types: map[int]*answer.HandleSum{}, out: out}
		if h.live, err = x.g.Live(ctx); err != nil {
			return nil, err
		}
		if h.referrers, err = x.g.Referrers(ctx); err != nil {
			return nil, err
		}
		for i := range x.g.sources {
			if s := &x.g.sources[i]; s.Kind == SourceHandles && o.selects(s.Handle) {
				if err := h.addType(ctx, x.g.SourceNode(i), s.Handle); err != nil {
					return nil, err
				}
			}
		}
		if o.selects(heap.HandleDependent) {
			if err := h.addDependents(ctx); err != nil {
				return nil, err
			}
		}
		return out, h.answer(ctx, o)
	})
}

// A handleHolds collects what handles keep alive.
type handleHolds struct {
	x         *Holders
	d         *Dominators
	live      *Liveness
	referrers *Referrers
	list      []heldObject
	types     map[int]*answer.HandleSum // by TypeIndex of the objects
	out       *answer.HandlesHold
}

// addType adds the handles of one type, which share a Source.
func (h *handleHolds) addType(ctx context.Context, source Node, typ heap.HandleType) error {
	first := len(h.list)
	for r := range h.x.g.RootRefs(source) {
		h.list = append(h.list, heldObject{handle: r.Slot, typ: typ, from: source, object: r.Object})
	}
	list := h.list[first:]
	slices.SortFunc(list, func(a, b heldObject) int {
		return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.handle, b.handle))
	})
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].object == list[i].object {
			end++
		}
		alone, err := h.heldBy(ctx, source, list[i].object)
		if err != nil {
			return err
		}
		for j := i; j < end; j++ {
			list[j].alone, list[j].same = alone, end-i-1
			if alone && end-i == 1 {
				list[j].freed = h.d.Retained(list[j].object)
			}
		}
		h.count(list[i].object, end-i, alone)
		i = end
	}
	if len(list) > 0 {
		h.out.Kinds = append(h.out.Kinds, answer.HandleSum{Name: answer.Text{S: typ.String()}, Count: uint64(len(list)), Freed: h.d.Retained(source)})
	}
	return nil
}

// addDependents adds the dependent handles. Each is a reference of its primary object.
func (h *handleHolds) addDependents(ctx context.Context) error {
	sum := answer.HandleSum{Name: answer.Text{S: heap.HandleDependent.String()}, AtLeast: true}
	for i := range h.x.g.pairs {
		p := &h.x.g.pairs[i]
		from, ok := h.x.g.Node(p.Primary)
		to, ok2 := h.x.g.Node(p.Secondary)
		if !ok || !ok2 {
			continue
		}
		row := heldObject{handle: p.Handle, typ: heap.HandleDependent, from: from, object: to}
		if h.live.Live(from) && from != to {
			alone, err := h.heldBy(ctx, from, to)
			if err != nil {
				return err
			}
			for _, r := range h.x.g.Referents(from) {
				if r == to {
					row.same++
				}
			}
			row.same--
			if row.alone = alone; alone && row.same == 0 {
				row.freed = h.d.Retained(to)
			}
		}
		sum.Count++
		sum.Freed += row.freed
		h.count(to, 1, row.freed > 0)
		h.list = append(h.list, row)
	}
	if sum.Count > 0 {
		h.out.Kinds = append(h.out.Kinds, sum)
	}
	return nil
}

// count adds handles to the sums for their object's type.
func (h *handleHolds) count(object Node, handles int, alone bool) {
	i := h.x.g.TypeIndex(object)
	s := h.types[i]
	if s == nil {
		s = &answer.HandleSum{MethodTable: h.x.g.types[i].Addr}
		h.types[i] = s
	}
	s.Count += uint64(handles)
	if alone {
		s.Freed += h.d.Retained(object)
	}
}

// heldBy reports whether only references of from keep an object alive: the object itself dominates all other live
// referrers.
func (h *handleHolds) heldBy(ctx context.Context, from, object Node) (bool, error) {
	if h.d.Idom(object) != from {
		return false, nil
	}
	others := map[Node]bool{}
	for _, r := range h.referrers.Of(object) {
		if r != from && r != object && h.live.Live(r) {
			others[r] = true
		}
	}
	if len(others) == 0 {
		return true, nil
	}
	err := h.x.visitAllBelow(ctx, h.d, object, func(n Node) { delete(others, n) })
	return len(others) == 0, err
}

// answer describes the handles with the largest retained sizes, and the sums.
func (h *handleHolds) answer(ctx context.Context, o HandleOptions) error {
	slices.SortFunc(h.list, func(a, b heldObject) int {
		return cmp.Or(cmp.Compare(b.freed, a.freed), cmp.Compare(h.d.Retained(b.object), h.d.Retained(a.object)), cmp.Compare(a.handle, b.handle))
	})
	shown, more := cutRows(h.list, o.Top)
	h.out.More = more
	all := h.out.Live.Size
	for i := range shown {
		row, err := h.row(ctx, &shown[i], o)
		if err != nil {
			return err
		}
		row.Share = percent(row.Freed, all)
		h.out.Rows = append(h.out.Rows, row)
	}
	for i := range h.out.Kinds {
		h.out.Kinds[i].Share = percent(h.out.Kinds[i].Freed, all)
	}
	for _, s := range h.types {
		s.Share = percent(s.Freed, all)
		h.out.Types = append(h.out.Types, *s)
	}
	slices.SortStableFunc(h.out.Types, func(a, b answer.HandleSum) int {
		return cmp.Or(cmp.Compare(b.Freed, a.Freed), cmp.Compare(b.Count, a.Count), cmp.Compare(a.MethodTable, b.MethodTable))
	})
	h.out.Types, h.out.MoreTypes = cutRows(h.out.Types, o.Top)
	for i := range h.out.Types {
		s := &h.out.Types[i]
		s.Name = h.x.rt.NamedType(&h.out.Gaps, s.MethodTable)
	}
	return nil
}

// row describes the object that a handle keeps alive.
func (h *handleHolds) row(ctx context.Context, e *heldObject, o HandleOptions) (answer.HandleHolds, error) {
	x := h.x
	row := answer.HandleHolds{Handle: e.handle, Type: e.typ.String(), Object: x.object(&h.out.Gaps, e.object), Live: h.live.Live(e.object),
		Retained: h.d.Retained(e.object), Freed: e.freed, Same: e.same, Statics: len(x.g.Statics(e.object))}
	if e.typ == heap.HandleDependent {
		row.Primary = x.g.Address(e.from)
	} else if root, ok := x.g.RootOf(e.from, RootRef{Object: e.object, Slot: e.handle}); ok {
		row.Holder = x.roots.Describe(ctx, &root).Holder
	}
	var err error
	if o.Holds > 0 && e.freed > 0 {
		if row.Types, err = x.TypesBelow(ctx, &h.out.Gaps, e.object, o.Holds); err != nil {
			return row, err
		}
	}
	if o.Path && e.freed == 0 && row.Live {
		row.Else, err = x.otherPath(ctx, &h.out.Gaps, e)
	}
	return row, err
}

// otherPath returns the shortest path to a handle's object that does not start with the handle, or nil.
func (x *Holders) otherPath(ctx context.Context, g *answer.Gaps, e *heldObject) (*answer.RootPath, error) {
	met := map[[2]Node]int{}
	for p, err := range x.g.Paths(ctx, e.object, PathOptions{Each: EachRoot}) {
		if err != nil {
			return nil, err
		}
		path := x.rootPath(ctx, g, p.Nodes, met)
		dependent := len(path.Objects) > 1 && e.typ == heap.HandleDependent && path.Objects[len(path.Objects)-2].Address == x.g.Address(e.from)
		if path.Root.Address != e.handle && !(dependent && e.same == 0) {
			return &path, nil
		}
	}
	return nil, nil
}
