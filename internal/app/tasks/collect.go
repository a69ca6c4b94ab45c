package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Set holds the tasks and async method boxes of a heap, and what continues when each of them completes. It is
// immutable after Collect.
type Set struct {
	r        *Reader
	children *Children
	items    []item // by address
	index    addressIndex
	// The edges of item i are edges[start[i]:start[i+1]].
	start []uint32
	edges []edge

	lost    []error // why items are missing
	errs    []error // what else could not be read, one error of each kind
	failure error   // set if no object of the heap, or no object of a possible task type, could be read
	// faultless reports that some types are unknown, and that no task has failed all the same: the heap has no object that
	// keeps the exceptions of one.
	faultless bool

	continued sync.Once
	isBehind  []bool // set by behind
}

// An item is a task, or the box of an async method that is not a task.
type item struct {
	addr       target.Addr
	kind       *kind
	flags      Flags // of tasks
	state      int32 // of state machines
	hasState   bool
	pooledDone bool // a pooled box of a completed method
}

// completed reports whether the item has completed.
func (i *item) completed() bool {
	if i.kind.task == nil {
		return i.pooledDone
	}
	return i.flags.Completed()
}

// An edge leads from an item to what continues when the item completes.
type edge struct {
	addr target.Addr
	to   int32 // the index of the item, -1 for an object that is not an item
	// value reports that the edge belongs to a value task source, not to a task's continuation.
	value bool
}

// Collect walks the heap with several workers and gathers tasks and boxes. Set.Note returns what could not be read.
func (r *Reader) Collect(ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*Set, error) {
	s := &Set{r: r, children: NewChildren(r.b, h)}
	var stats heap.Stats
	lost := map[string]*lostItems{}
	unknown := map[*kind]bool{}
	runtimeAsync := 0
	var order []*lostItems
	census, err := h.Census(ctx, o)
	if err != nil {
		return nil, err
	}
	stats.Count = census.Objects
	var met sync.Map // of MethodTables
	items := func(mt *dac.MethodTable) bool {
		met.Store(mt.Addr, nil)
		k := r.kindAt(mt.Addr)
		return k.err != nil || k.item()
	}
	err = heap.Select(ctx, h, items, o, func() *collector { return &collector{r: r, unknown: map[*kind]bool{}} }, func(c *collector) error {
		if err := keepItems(ctx, len(c.items), len(c.edges)); err != nil {
			return err
		}
		base := uint32(len(s.edges))
		s.items = append(s.items, c.items...)
		s.edges = append(s.edges, c.edges...)
		for _, n := range c.start {
			s.start = append(s.start, base+n)
		}
		stats.Corrupt += len(c.corrupt)
		stats.Corruptions = append(stats.Corruptions, c.corrupt...)
		runtimeAsync += c.runtimeAsync
		maps.Copy(unknown, c.unknown)
		for i := range c.lost {
			l := &c.lost[i]
			if at := lost[l.err.Error()]; at != nil {
				at.count += l.count
				continue
			}
			order = append(order, &lostItems{l.err, l.count})
			lost[l.err.Error()] = order[len(order)-1]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.start = append(s.start, uint32(len(s.edges)))
	var g answer.Gaps
	s.failure = stats.Note(&g)
	s.lost = append(s.lost, g.Noted()...)
	missing := unknownTypes(unknown)
	s.faultless = len(missing) > 0 && s.failure == nil && len(s.lost) == 0 && r.keepsNoExceptions(&met)
	if len(s.items) == 0 && len(missing) > 0 {
		s.failure, missing = cmp.Or(s.failure, missing[0]), missing[1:]
	}
	s.lost = append(s.lost, missing...)
	if runtimeAsync > 0 {
		s.errs = append(s.errs, target.Unsupportedf("%d tasks belong to methods that the runtime itself suspends (runtime async): "+
			"their positions are read by field names that were not tested on such a dump", runtimeAsync))
	}
	for _, l := range order {
		err := l.err
		if l.count > 1 {
			err = fmt.Errorf("%w (and of %d more)", err, l.count-1)
		}
		s.errs = append(s.errs, err)
	}
	s.link()
	return s, nil
}

// exceptionHolder is the class of the object that keeps the exceptions of a failed task (TaskExceptionHolder.cs). A task has one from the first
// exception on.
const exceptionHolder = "System.Threading.Tasks.TaskExceptionHolder"

// keepsNoExceptions reports whether all types, given by their MethodTables, have names, and none keeps the exceptions of a task.
func (r *Reader) keepsNoExceptions(types *sync.Map) bool {
	none := true
	types.Range(func(mt, _ any) bool {
		name, err := r.r.Runtime().TypeName(mt.(target.Addr), dac.NameManaged)
		none = err == nil && name != "" && name != exceptionHolder
		return none
	})
	return none
}

// keepItems counts so many items and edges of a Set, with their places in its indexes.
func keepItems(ctx context.Context, items, edges int) error {
	const (
		indexed = 6 * 4 // its start, the start of its edges backwards, and up to four slots of an addressIndex
		known   = 4     // backwards
	)
	return offheap.Keep(ctx, whatSet, items*(offheap.SizeOf[item]()+indexed)+edges*(offheap.SizeOf[edge]()+known))
}

// whatSet names a Set in errors about the limit of memory.
const whatSet = "the list of all tasks"

// unknownTypes returns an error for each type with an unknown layout. Types with unreadable names or fields share one
// error, which has their number and the first reason.
func unknownTypes(kinds map[*kind]bool) (out []error) {
	list := slices.Collect(maps.Keys(kinds))
	slices.SortStableFunc(list, func(a, b *kind) int { return cmp.Compare(a.mt, b.mt) })
	var first error
	n := 0
	for _, k := range list {
		var layout *objects.UnknownLayoutError
		if errors.As(k.err, &layout) {
			out = append(out, k.err)
			continue
		}
		if !k.items {
			continue // no task is missing: a chain that leads here reports it
		}
		if n++; first == nil {
			first = k.err
		}
	}
	if n > 0 {
		out = append(out, fmt.Errorf("tasks of %s with unreadable names or fields are missing: %w", answer.Count(n, "type", "types"), first))
	}
	return out
}

// link resolves the targets of the edges to items.
func (s *Set) link() {
	s.index = newAddressIndex(len(s.items), s.addrOf)
	for i := range s.edges {
		e := &s.edges[i]
		e.to = s.at(e.addr)
	}
	s.revive()
}

// addrOf returns the address of item i.
func (s *Set) addrOf(i int) target.Addr { return s.items[i].addr }

// at returns the index of the item at address a, or -1.
func (s *Set) at(a target.Addr) int32 { return int32(s.index.Find(a, s.addrOf)) }

// Note records in g what could not be read. It returns an error if nothing was found for that reason.
func (s *Set) Note(g *answer.Gaps) error {
	if s == nil {
		return nil
	}
	g.NoteAll(s.lost)
	g.NoteAll(s.errs)
	return s.failure
}

// never reports whether the runtime provably has not loaded the class of tasks.
func (s *Set) never() bool {
	if len(s.items) > 0 || s.failure != nil || s.r == nil || s.r.r.Runtime().Check(dac.FeatureTypeLists) != nil {
		return false
	}
	for range objects.LoadedShapes[*sentinels](s.r.b) { // loaded, or unreadable
		return false
	}
	return true
}

// next returns the edges of item i.
func (s *Set) next(i int32) []edge { return s.edges[s.start[i]:s.start[i+1]] }

// A collector gathers the items of one worker.
type collector struct {
	r       *Reader
	byType  []*kind // by type number; nil if not yet looked up
	items   []item
	start   []uint32
	edges   []edge
	corrupt []*heap.Corruption
	lost    []lostItems
	unknown map[*kind]bool // types with objects in the heap and an unknown kind

	runtimeAsync int // tasks of methods that the runtime suspends itself
}

// lostItems counts objects that could not be read completely.
type lostItems struct {
	err   error // of the first object
	count int
}

// Objects gathers the tasks and boxes of a batch.
func (c *collector) Objects(_ *heap.Segment, batch []heap.Object) {
	for i := range batch {
		o := &batch[i]
		if o.Free {
			continue
		}
		switch k := c.kindOf(o); {
		case k.err != nil:
			c.unknown[k] = true
		case k.item():
			c.add(o.Addr, k)
		}
	}
}

// kindOf returns the kind of an object's type.
func (c *collector) kindOf(o *heap.Object) *kind {
	n := int(o.TypeNumber())
	if n < len(c.byType) && c.byType[n] != nil {
		return c.byType[n]
	}
	for len(c.byType) <= n {
		c.byType = append(c.byType, nil)
	}
	k := c.r.kindAt(o.Type.Addr)
	c.byType[n] = k
	return k
}

// lose records an error. Errors with equal text are recorded once.
func (c *collector) lose(err error) {
	for i := range c.lost {
		if c.lost[i].err == err || c.lost[i].err.Error() == err.Error() {
			c.lost[i].count++
			return
		}
	}
	if len(c.lost) < maxLost {
		c.lost = append(c.lost, lostItems{err, 1})
	}
}

// maxLost bounds the different errors that one walk of the heap records.
const maxLost = 16

// add gathers one item.
func (c *collector) add(a target.Addr, k *kind) {
	if k.fsharp() {
		c.addFSharp(a, k)
		return
	}
	it := item{addr: a, kind: k}
	x := objects.InstanceAt(a)
	var next target.Addr
	var err error
	if k.task != nil {
		var flags uint64
		if flags, err = k.task.Flags.Uint(x); err == nil {
			it.flags = Flags(flags)
			next, err = k.task.Continuation.Addr(x)
		}
		if err == nil && !it.flags.plausible() {
			err = target.CorruptHeapf("task %016x has the flags %#x, which contradict each other", uint64(a), uint32(it.flags))
		}
	} else if it.pooledDone, err = c.r.sourceDone(k.source, k.pooled.Source.At(x)); err == nil {
		next, err = k.source.waiter(k.pooled.Source.At(x))
	}
	if err != nil {
		c.lose(err)
		return // without flags, nothing is known about the item
	}
	var iterates target.Addr
	if k.machine() {
		var idle bool
		if iterates, idle = c.state(&it); idle {
			return
		}
	}
	if k.runtimeAsync {
		c.runtimeAsync++
	}
	c.items = append(c.items, it)
	c.start = append(c.start, uint32(len(c.edges)))
	c.follow(next, k.task == nil)
	if k.task != nil && !it.flags.Completed() {
		c.followAction(k, a)
	}
	c.follow(iterates, true)
}

// follow gathers the edges to what continues at a. value reports an edge of a value task source.
func (c *collector) follow(a target.Addr, value bool) {
	if a == 0 {
		return
	}
	if err := c.r.expand(a, func(to target.Addr) { c.edges = append(c.edges, edge{addr: to, value: value}) }); err != nil {
		c.lose(err)
	}
}

// state reads the state of an item's state machine. iterates is the waiter for the next element of an async iterator,
// or 0; idle reports an unused pooled box.
func (c *collector) state(it *item) (iterates target.Addr, idle bool) {
	if p := it.kind.pooled; p != nil && p.Machine.Value(objects.InstanceAt(it.addr)).IsNull() {
		return 0, true // a state machine that is a class leaves its box when the box returns to the pool
	}
	x, m, err := c.r.machineOf(it.kind, it.addr)
	if errors.Is(err, errCleared) {
		return 0, false
	}
	if err == nil {
		it.state, it.hasState, err = m.state(x)
	}
	if err != nil {
		c.lose(err)
		return 0, false
	}
	if it.kind.pooled != nil {
		if idle, err = m.idle(x); err != nil {
			c.lose(err)
		}
	}
	if iterates, err = m.iterates(c.r, x); err != nil {
		c.lose(err)
	}
	return iterates, idle
}

// Corrupt records a place where the walk had to skip memory.
func (c *collector) Corrupt(e *heap.Corruption) { c.corrupt = append(c.corrupt, e) }

// Reset drops the items but keeps the kinds of types.
func (c *collector) Reset() {
	c.items, c.start, c.edges, c.corrupt, c.lost, c.runtimeAsync = c.items[:0], c.start[:0], c.edges[:0], nil, nil, 0
	clear(c.unknown)
}
