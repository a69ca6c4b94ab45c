package graph

import (
	"context"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// RootsOf returns the roots of a heap for Build, grouped. A static field precedes the runtime's object[] that contains
// it. If a root or a thread keeps such a table alive, the field depends on SourceStatics or the thread, and the table's
// edge is omitted. If something else does, such as the LoaderAllocator of a collectible type, the field is between the
// table and its value.
//
// RootsOf fails only with the error of ctx. Roots.Errors has the unreadable parts.
func RootsOf(ctx context.Context, h *heap.Heap, r *RootReader) (*Roots, error) {
	c := rootCollector{out: &Roots{}, handles: map[heap.HandleType]int{}, threads: map[threadKey]int{}, frames: map[*RootFrame]int{},
		groups: map[SourceKind]int{}, held: map[target.Addr]bool{}}
	for root, err := range r.All(ctx, RootOptions{}) {
		c.addRoot(&root, err)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := c.threadTables(ctx, h); err != nil {
		return nil, err
	}
	for s, err := range r.Statics(ctx) {
		c.addStatic(&s, err)
	}
	for d, err := range r.Dependents(ctx) {
		c.note(err)
		if err == nil {
			c.out.Dependents = append(c.out.Dependents, Dependent{d.Handle, d.Primary, d.Secondary})
		}
	}
	return c.out, ctx.Err()
}

// A rootCollector makes Sources from roots, each when it is first needed.
type rootCollector struct {
	out     *Roots
	groups  map[SourceKind]int
	handles map[heap.HandleType]int
	threads map[threadKey]int
	frames  map[*RootFrame]int
	held    map[target.Addr]bool // objects kept alive by a root, or by a thread for its thread statics
	tables  []target.Addr        // tables of thread statics
}

type threadKey struct {
	group SourceKind
	id    uint32
	addr  target.Addr // address of the managed thread, which may have no OS id
}

func (c *rootCollector) note(err error) {
	if err != nil && len(c.out.Errors) < maxErrors {
		c.out.Errors = append(c.out.Errors, err)
	}
}

func (c *rootCollector) group(k SourceKind) int {
	i, ok := c.groups[k]
	if !ok {
		i = c.out.Add(Source{Kind: k, Parent: UnderRoot})
		c.groups[k] = i
	}
	return i
}

func (c *rootCollector) thread(group SourceKind, t *stackwalk.Thread) int {
	key := threadKey{group: group, id: t.ID()}
	if t.Managed != nil {
		key.addr = t.Managed.Addr
	}
	i, ok := c.threads[key]
	if !ok {
		i = c.out.Add(Source{Kind: SourceThread, Parent: c.group(group), Thread: t})
		c.threads[key] = i
	}
	return i
}

func (c *rootCollector) addRoot(r *Root, err error) {
	c.note(err)
	if r.Object == 0 || !r.Strong() {
		return
	}
	e := RootEdge{Object: r.Object, Slot: r.Address}
	switch r.Kind {
	case RootHandle:
		c.held[r.Object] = true
		i, ok := c.handles[r.Handle]
		if !ok {
			i = c.out.Add(Source{Kind: SourceHandles, Parent: UnderRoot, Handle: r.Handle})
			c.handles[r.Handle] = i
		}
		e.Source = i
	case RootFinalizer:
		e.Source = c.group(SourceFinalizer)
	case RootStack:
		e.Source = c.frame(r)
	case RootThreadStatics:
		c.held[r.Object] = true
		c.tables = append(c.tables, r.Object)
		e.Source = c.thread(SourceThreadStatics, r.Thread)
	}
	if r.Kind == RootStack || r.Kind == RootFinalizer && r.Critical {
		c.out.Kept = append(c.out.Kept, *r)
		e.Ref = uint32(len(c.out.Kept))
	}
	c.out.Edges = append(c.out.Edges, e)
}

func (c *rootCollector) frame(r *Root) int {
	if r.Frame == nil {
		return c.thread(SourceStacks, r.Thread)
	}
	i, ok := c.frames[r.Frame]
	if !ok {
		i = c.out.Add(Source{Kind: SourceFrame, Parent: c.thread(SourceStacks, r.Thread), Thread: r.Thread, Frame: r.Frame})
		c.frames[r.Frame] = i
	}
	return i
}

// threadTables adds the referents of the threads' tables of thread statics: an object[] for each type. It fails only
// with the error of ctx.
func (c *rootCollector) threadTables(ctx context.Context, h *heap.Heap) error {
	for _, a := range c.tables {
		o, err := h.ObjectAt(a)
		if err != nil {
			continue // its fields keep their places
		}
		for ref, err := range h.References(o) {
			if err == nil {
				c.held[ref.Target] = true
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

func (c *rootCollector) addStatic(s *RootStatic, err error) {
	c.note(err)
	if err != nil || s.Object == 0 {
		return
	}
	out := Source{Kind: SourceField, Parent: InTable, Slot: s.Slot, Static: s}
	switch {
	case s.Table != 0 && !c.held[s.Table]:
	case s.Thread != nil:
		out.Parent, out.Thread = c.thread(SourceThreadStatics, s.Thread), s.Thread
	default:
		out.Parent = c.group(SourceStatics)
	}
	c.out.Edges = append(c.out.Edges, RootEdge{Source: c.out.Add(out), Object: s.Object, Slot: s.Slot})
}
