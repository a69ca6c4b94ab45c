package heap

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

// OldReferences finds the objects of generation 1 and older that refer to generation 0, and the generation 2, large and
// pinned objects that refer to generation 1. It ignores references by dependent handles.
func (h *Heap) OldReferences(ctx context.Context, o ScanOptions) (*answer.OldReferences, error) {
	const inSet = 16 // bytes of a place in the set of young objects
	keep := func() error {
		return offheap.Keep(ctx, "the list of references to young objects", offheap.SizeOf[answer.OldObject]()+inSet)
	}
	c := oldReferences{h: h, keep: keep, out: &answer.OldReferences{Groups: []answer.OldReferenceGroup{}}, index: map[[2]Generation]int{}, young: map[target.Addr]bool{}}
	// Frozen objects refer only to frozen objects.
	f := &Filter{Generations: []Generation{Generation1, Generation2, GenerationLarge, GenerationPinned}}
	stats, err := h.Graph(ctx, f, GraphOptions{EdgeOptions{LoaderAllocators: true}, o}, c.object)
	if err != nil {
		return nil, err
	}
	for i := range c.out.Groups {
		g := &c.out.Groups[i]
		slices.SortStableFunc(g.Objects, func(a, b answer.OldObject) int { return cmp.Compare(a.Address, b.Address) })
	}
	c.out.Incomplete = c.out.Incomplete || h.incomplete(&stats)
	return c.out, noteCorrupt(&c.out.Gaps, &stats)
}

// incomplete reports whether a scan of h saw only part of the heap.
func (h *Heap) incomplete(s *Stats) bool { return len(h.lost) > 0 || s.Corrupt > 0 }

type oldReferences struct {
	h     *Heap
	keep  func() error // counts the memory of one object, young or old
	out   *answer.OldReferences
	index map[[2]Generation]int // index in Groups
	young map[target.Addr]bool
}

// unread notes an unreadable part. References from it may be missing in the answer.
func (c *oldReferences) unread(err error) {
	c.out.Incomplete = c.out.Incomplete || err != nil
	c.out.Note(err)
}

func (c *oldReferences) object(n *Node) error {
	c.unread(n.Err)
	from := c.h.generationOf(n.Object.Addr)
	var rows [2]answer.OldObject // by the referenced generation
	for _, a := range n.References {
		to := c.h.generationOf(a)
		if to > Generation1 || to >= from {
			continue
		}
		o, err := c.h.ObjectAt(a)
		if err != nil || o.Free {
			c.unread(err)
			continue
		}
		rows[to].Count++
		rows[to].Referenced += o.Size
		if !c.young[a] {
			if len(c.young) == limits.ListedReferences {
				return target.Unsupportedf("more than %d young objects that older ones refer to", limits.ListedReferences)
			}
			if err := c.keep(); err != nil {
				return err
			}
			c.young[a] = true
			c.out.Young++
			c.out.Size += o.Size
		}
	}
	for to := range rows {
		if r := &rows[to]; r.Count > 0 {
			r.Address, r.MethodTable, r.Size = n.Object.Addr, n.Object.Type.Addr, n.Object.Size
			r.Type = c.h.typeName(&c.out.Gaps, n.Object.Type)
			if err := c.keep(); err != nil {
				return err
			}
			g := c.group(from, Generation(to))
			g.Objects = append(g.Objects, *r)
			c.out.Objects++
		}
	}
	return nil
}

func (c *oldReferences) group(from, to Generation) *answer.OldReferenceGroup {
	i, ok := c.index[[2]Generation{from, to}]
	if !ok {
		i = len(c.out.Groups)
		c.index[[2]Generation{from, to}] = i
		c.out.Groups = append(c.out.Groups, answer.OldReferenceGroup{From: from.String(), To: to.String()})
	}
	return &c.out.Groups[i]
}

// generationOf returns the generation of the memory at a.
func (h *Heap) generationOf(a target.Addr) Generation {
	if s := h.Segment(a); s != nil {
		return s.Generation(a)
	}
	return GenerationUnknown
}

// LargeReferences finds the objects of generations 0 and 1 that refer to large objects, the large
// objects that refer to such objects, and those on both lists.
func (h *Heap) LargeReferences(ctx context.Context, o ScanOptions) (*answer.LargeReferences, error) {
	out := &answer.LargeReferences{ToLarge: []answer.ObjectPair{}, FromLarge: []answer.ObjectPair{}, Through: []answer.ObjectTriple{}}
	unread := func(err error) { // see oldReferences
		out.Incomplete = out.Incomplete || err != nil
		out.Note(err)
	}
	f := &Filter{Generations: []Generation{Generation0, Generation1, GenerationLarge}}
	stats, err := h.Graph(ctx, f, GraphOptions{EdgeOptions{LoaderAllocators: true}, o}, func(n *Node) error {
		unread(n.Err)
		from := h.generationOf(n.Object.Addr)
		for _, a := range n.References {
			to := h.generationOf(a)
			if large := from == GenerationLarge; large && to > Generation1 || !large && to != GenerationLarge {
				continue
			}
			x, err := h.ObjectAt(a)
			if err != nil || x.Free {
				unread(err)
				continue
			}
			if len(out.ToLarge)+len(out.FromLarge) == limits.ListedReferences {
				return target.Unsupportedf("more than %d references between young and large objects", limits.ListedReferences)
			}
			list := &out.ToLarge
			if from == GenerationLarge {
				list = &out.FromLarge
			}
			*list = append(*list, answer.ObjectPair{From: h.objectName(&out.Gaps, n.Object.Addr, n.Object.Type), To: h.objectName(&out.Gaps, a, x.Type)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	byAddress := func(a, b answer.ObjectPair) int {
		return cmp.Or(cmp.Compare(a.From.Address, b.From.Address), cmp.Compare(a.To.Address, b.To.Address))
	}
	slices.SortStableFunc(out.ToLarge, byAddress)
	slices.SortStableFunc(out.FromLarge, byAddress)
	h.through(out)
	out.Incomplete = out.Incomplete || h.incomplete(&stats)
	return out, noteCorrupt(&out.Gaps, &stats)
}

// through joins the objects that refer to large objects with the objects that these refer to.
func (h *Heap) through(out *answer.LargeReferences) {
	for i := range out.ToLarge {
		p := &out.ToLarge[i]
		k, _ := slices.BinarySearchFunc(out.FromLarge, p.To.Address, func(x answer.ObjectPair, a target.Addr) int { return cmp.Compare(x.From.Address, a) })
		for ; k < len(out.FromLarge) && out.FromLarge[k].From.Address == p.To.Address; k++ {
			if len(out.Through) == limits.ListedReferences {
				out.Note(target.Unsupportedf("more than %d paths through large objects", limits.ListedReferences))
				return
			}
			out.Through = append(out.Through, answer.ObjectTriple{From: p.From, Large: p.To, To: out.FromLarge[k].To})
		}
	}
}

func (h *Heap) objectName(g *answer.Gaps, a target.Addr, mt *dac.MethodTable) answer.ObjectName {
	return answer.ObjectName{Address: a, MethodTable: mt.Addr, Type: h.typeName(g, mt)}
}

// UnreachableIn lists the objects that the words of a range refer to, such as a part of the finalizer queue,
// and that are not live. An unreadable word ends the list. It returns an error if no word is readable.
func (h *Heap) UnreachableIn(r target.Range, live func(target.Addr) bool) (*answer.Unreachable, error) {
	out := &answer.Unreachable{}
	var objects []Object
	total := NewCounter(h, nil)
	win := target.NewWindow(h.mem)
	for slot := r.Start &^ 7; slot < r.End; slot += 8 {
		v, err := win.Uint64(slot)
		if err != nil {
			if out.Words == 0 {
				return nil, err
			}
			out.Note(err)
			break
		}
		out.Words++
		a := target.Addr(v)
		o, err := h.ObjectAt(a)
		if len(out.Others)+len(objects) == limits.ListedReferences {
			return nil, target.Unsupportedf("more than %d references in the range", limits.ListedReferences)
		}
		switch {
		case err != nil:
			out.Others = append(out.Others, answer.BadWord{Slot: slot, Value: a, After: len(objects)})
		case !o.Free && !live(a):
			objects = append(objects, o)
			total.countOne(h.Segment(o.Addr), &o)
		}
	}
	s := total.Stats()
	out.Objects, out.Statistics = answer.NewObjects(&out.Gaps, &sliceList{h: h, list: objects}), h.statistics(&out.Gaps, &s, false)
	return out, nil
}
