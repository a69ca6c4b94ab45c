package leaks

import (
	"cmp"
	"context"
	"iter"
	"math"
	"runtime"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/objects"
)

// Options selects the listed suspects. The zero value of a field selects its default.
type Options struct {
	// Share and Least are percentages of all live bytes; 0 selects 10, the value of Eclipse MAT, and 2. Groups of objects
	// without a common referrer are listed only if they are suspects.
	Share float64 `opt:"share" value:"N%" default:"10%" help:"least share of a suspect"`
	Least float64 `opt:"min" value:"N%" default:"2%" help:"least share of a listed holder"`
	Bytes uint64  `opt:"size" kind:"size" default:"64k" help:"least bytes of a listed holder, whatever its share"`
	Count int     `opt:"count" range:"2:" default:"100" help:"number of objects, handlers, timers, registrations or dead weak references from which they are listed"`
	Top   int     `opt:"top" range:"0:" default:"10" help:"rows at most, 0 for all"`
	Jobs  int     // the number of goroutines that examine all objects; 0 means one per processor
}

// The defaults of Options.
const (
	DefaultShare = 10.0
	DefaultLeast = 2.0
	DefaultBytes = 64 << 10
	DefaultCount = 100
)

const (
	drop         = 0.7      // MAT's big_drop_ratio
	sampled      = 10_000   // MAT's max_paths
	majority     = 80.0     // MAT's group_suspects_accumulation_ratio, in percent
	small        = 16 << 20 // live bytes
	topTypes     = 4        // listed types of a suspect
	maxFirst     = 3        // listed holders of a group, and listed types of partial holders
	maxPart      = 64       // steps up to a member of a group from its referrer
	maxClimb     = 4        // from the array of a collection to the collection
	maxFound     = 1 << 12  // suspects compared with each other
	maxRead      = 1 << 17  // objects read per pattern
	maxWeak      = 1 << 20  // weak references and calls read, which takes less
	lookStep     = 1 << 13  // objects between two checks of the context, and per batch of a goroutine
	maxKept      = 1 << 20  // steps up the dominator tree
	minReferring = 10.0     // smallest percentage of a group that a named type must refer to
	maxReferrers = 1 << 18  // referrers examined per group, divided evenly among its members
	minShare     = 0.5      // share of an object's retained size from which suspects below it replace it
)

// Find finds the largest holders of the heap. r reads the objects of the same runtime. The error is ctx's or the
// graph's.
func Find(ctx context.Context, x *graph.Holders, r *objects.Reader, o Options) (*answer.Leaks, error) {
	ctx, done, err := x.Graph().Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	b := objects.NewBinder(r, func() (*heap.Heap, error) { return x.Graph().Heap(), nil })
	f := &finder{x: x, g: x.Graph(), r: r, b: b, collections: objects.NewCollections(b), o: o.withDefaults(), a: &answer.Leaks{Suspects: []answer.Suspect{}},
		part: map[graph.Node]bool{}, covered: map[graph.Node]uint64{}, unknown: map[string]*answer.UnknownCollection{}}
	var beside workers.Group // computes the input of the last steps in parallel with the others, which use one goroutine
	defer beside.Wait()
	for _, step := range []func(context.Context) error{f.prepare, f.pick, func(ctx context.Context) error {
		if !f.a.Small {
			beside.Go(func() { _, _ = f.g.Referrers(ctx) }) // callers of Referrers get the error
		}
		return nil
	}, f.events, f.timers, f.cancellations, f.scopes, f.weakReferences, f.calls, f.threadStatics, f.threadLocals, f.interned, f.shared, f.groups, f.accumulations, f.single,
		f.report, f.finalization} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return f.a, nil
}

func (o Options) withDefaults() Options {
	o.Jobs = cmp.Or(o.Jobs, runtime.GOMAXPROCS(0))
	o.Share, o.Least, o.Bytes, o.Count = cmp.Or(o.Share, DefaultShare), cmp.Or(o.Least, DefaultLeast), cmp.Or(o.Bytes, DefaultBytes), cmp.Or(o.Count, DefaultCount)
	return o
}

// A finder searches for leaks.
type finder struct {
	x *graph.Holders
	g *graph.Graph
	r *objects.Reader
	b *objects.Binder
	o Options
	a *answer.Leaks

	collections *objects.Collections

	live    *graph.Liveness
	doms    *graph.Dominators
	least   uint64 // bytes
	names   []string
	masks   []uint16               // by type: a bit for each pattern to which its objects may belong
	picked  [patterns][]graph.Node // by pattern
	large   *graph.Set             // objects of patternLarge, which may be most objects, as in a long list
	isLink  []bool                 // by type; nil until the first search for a path
	isInner []bool                 // by type; nil until the first search for a collection
	found   []suspect
	part    map[graph.Node]bool   // points that belong to a pattern
	covered map[graph.Node]uint64 // by outermost owner: bytes that suspects below it retain
	summed  *graph.Set            // nodes that a sum has counted

	underWay *graph.Set // calls of async methods that have not ended
	anyCall  bool       // underWay is not empty
	unread   bool       // a root, or references of an object, can't be read

	unknown map[string]*answer.UnknownCollection
}

// A suspect is a possible leak.
type suspect struct {
	kind     answer.SuspectKind
	point    graph.Node // or NoNode
	owner    graph.Node // or NoNode
	member   graph.Node // the member with the shown path if there is no point
	retained uint64
	roots    int          // nodes of a sum
	pieces   []graph.Node // parts of the collection at point that something else keeps alive, too
	elements answer.Maybe[uint64]
	atLeast  bool // there may be more elements than were examined
	typ      int  // the members' type, or -1
	count    uint64
	size     uint64 // retained by the members
	younger  uint64 // elements of a collection in places that are older
	sample   []graph.Node
	targets  *counts
	dead     uint64 // dead weak references
	name     answer.Text
	delegate bool // name is no event
	awaits   answer.Text
	link     answer.Text // of a chain: the field that refers to the next member
	locals   []answer.AsyncLocalValues
	table    answer.Statement // names the ConditionalWeakTable that attaches it or its members
}

// weight returns the size by which suspects are compared.
func (s *suspect) weight() uint64 { return max(s.retained, s.size) }

func (f *finder) prepare(ctx context.Context) (err error) {
	if f.a.Incomplete, err = f.x.Incomplete(&f.a.Gaps); err != nil {
		return err
	}
	f.unread = slices.ContainsFunc(f.a.Noted(), func(err error) bool { return !StillHeld(err) })
	if f.doms, err = f.g.Dominators(ctx); err != nil {
		return err
	}
	if f.live, err = f.g.Live(ctx); err != nil {
		return err
	}
	if f.a.Live, f.a.Garbage, f.a.Frozen, err = f.x.Parts(ctx); err != nil {
		return err
	}
	f.a.Small = f.a.Live.Size < small
	f.a.Thresholds = answer.LeakThresholds{Share: f.o.Share, Least: f.o.Least, Bytes: f.o.Bytes, Count: f.o.Count, Drop: drop, Small: small, Sampled: sampled, Majority: majority}
	f.least = max(f.o.Bytes, uint64(f.o.Least/100*float64(f.a.Live.Size)))
	for _, mt := range f.g.Types() {
		name, err := f.r.Runtime().TypeName(mt.Addr, dac.NameManaged)
		if err != nil {
			f.a.Note(err)
			f.a.Nameless++
		}
		f.names = append(f.names, name)
	}
	return nil
}

// typeName returns the name of an object's type, or "" if unknown.
func (f *finder) typeName(n graph.Node) string { return f.names[f.g.TypeIndex(n)] }

// A pattern selects objects for one of the searches.
type pattern uint8

const (
	patternEvent pattern = iota
	patternTimer
	patternCallback
	patternScope
	patternWeak
	patternTable
	patternThreadLocal
	patternCall // the object of a call of an async method
	patterns
	patternLarge = patterns // a retained size large enough to list
)

// pick finds the live objects of all patterns in one walk. A separate walk for each pattern reads the type and liveness
// of all objects again: eight such walks took a tenth of a triage.
func (f *finder) pick(ctx context.Context) error {
	masks := make([]uint16, len(f.g.Types()))
	for p, types := range [...][]bool{patternEvent: typesOf[*multicast](f), patternTimer: typesOf[*timer](f), patternCallback: typesOf[*callback](f),
		patternScope: typesOf[*scope](f), patternWeak: typesOf[*objects.WeakReference](f),
		patternTable: typesOf[*weakTable](f), patternThreadLocal: typesOf[*threadLocal](f), patternCall: f.callTypes()} {
		for i, is := range types {
			if is {
				masks[i] |= 1 << p
			}
		}
	}
	f.masks, f.large, f.summed = masks, f.g.NewSet(), f.g.NewSet()
	type picked struct {
		n    graph.Node
		mask uint16
	}
	n := f.g.Objects()
	none := func() struct{} { return struct{}{} }
	produce := func(_ struct{}, piece int, list []picked) ([]picked, error) {
		list = list[:0]
		end := min(n, (piece+1)*lookStep)
		for n := graph.Node(piece * lookStep); n < graph.Node(end); n++ {
			mask := masks[f.g.TypeIndex(n)]
			if f.doms.Retained(n) >= f.least {
				mask |= 1 << patternLarge
			}
			if mask&(1<<patternEvent) != 0 && f.handlers(n) == nil {
				mask &^= 1 << patternEvent
			}
			if mask != 0 && f.live.Live(n) {
				list = append(list, picked{n, mask})
			}
		}
		return list, nil
	}
	return workers.Ordered(ctx, f.o.Jobs, (n+lookStep-1)/lookStep, none, produce, func(list []picked) error {
		for _, x := range list {
			if x.mask&(1<<patternLarge) != 0 {
				f.large.Add(x.n)
			}
			for p := range f.picked {
				if x.mask&(1<<p) != 0 && len(f.picked[p]) <= mostOf(pattern(p)) {
					f.picked[p] = append(f.picked[p], x.n)
				}
			}
		}
		return ctx.Err()
	})
}

// mostOf returns how many objects of a pattern are looked at.
func mostOf(p pattern) int {
	switch p {
	case patternEvent, patternScope:
		return math.MaxInt // which reads little of each
	case patternWeak, patternCall:
		return maxWeak
	}
	return maxRead
}

// objects returns the objects of a pattern in order: all of them, or at most one more than mostOf says.
func (f *finder) objects(p pattern) iter.Seq[graph.Node] {
	if p == patternLarge {
		return f.large.All
	}
	return slices.Values(f.picked[p])
}

// each calls visit with the objects of a pattern, in order.
func (f *finder) each(ctx context.Context, p pattern, visit func(graph.Node) error) error {
	for n := range f.objects(p) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// groupBy sums up the children of one type.
type groupBy struct {
	count, size, largest uint64
	first                graph.Node
}

// accumulations finds objects that own many objects of one type with a large common retained size.
func (f *finder) accumulations(ctx context.Context) error {
	var all []suspect
	err := f.each(ctx, patternLarge, func(n graph.Node) error {
		if f.part[n] {
			return nil
		}
		children, err := f.doms.Children(ctx, n)
		if err != nil || len(children) < f.o.Count {
			return err
		}
		types := map[int]*groupBy{}
		if err := f.group(ctx, types, children, nil); err != nil {
			return err
		}
		typ, best := f.largest(types)
		if best == nil || best.size < f.least || float64(best.largest) > minShare*float64(best.size) {
			return nil
		}
		all = append(all, suspect{kind: answer.SuspectAccumulation, point: n, owner: graph.NoNode, member: best.first, retained: f.doms.Retained(n), typ: typ,
			count: best.count, size: best.size})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b suspect) int { return cmp.Compare(b.size, a.size) })
	return f.deepest(ctx, all[:min(len(all), maxFound)])
}

// group sums up objects by type, except objects that without selects.
func (f *finder) group(ctx context.Context, types map[int]*groupBy, list []graph.Node, without func(graph.Node) bool) error {
	last, t := -1, (*groupBy)(nil)
	for i, c := range list {
		if i%lookStep == lookStep-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !f.g.IsObject(c) || without != nil && without(c) {
			continue
		}
		if typ := f.g.TypeIndex(c); typ != last { // objects of a type are close together
			if last, t = typ, types[typ]; t == nil {
				t = &groupBy{first: c}
				types[typ] = t
			}
		}
		size := f.doms.Retained(c)
		t.count++
		t.size += size
		t.largest = max(t.largest, size)
	}
	return nil
}

// largest returns the type with the largest retained size among the types with enough objects.
func (f *finder) largest(types map[int]*groupBy) (int, *groupBy) {
	typ, best := -1, (*groupBy)(nil)
	for i, t := range types {
		if t.count < uint64(f.o.Count) {
			continue
		}
		if best == nil || t.size > best.size || t.size == best.size && i < typ {
			typ, best = i, t
		}
	}
	return typ, best
}

// deepest selects accumulations, the largest first, without those owned by a selected one. If one owns another, it
// selects the inner one if that has most of the outer one's size. What an outer one has beside a larger inner one is its members alone.
func (f *finder) deepest(ctx context.Context, all []suspect) error {
	taken := map[graph.Node]int{}
	drops := map[int]bool{}
	within := map[graph.Node]uint64{} // by the point of an accumulation: the largest that is selected, and that it owns
	for i := range all {
		within[all[i].point] = 0
	}
	for i := range all {
		s := &all[i]
		if inner := within[s.point]; inner > 0 {
			if float64(inner) >= drop*float64(s.retained) {
				continue
			}
			s.retained = s.size
		}
		outer, ok, err := f.above(ctx, s.point, taken)
		if err != nil {
			return err
		}
		if ok && float64(s.size) < drop*float64(all[outer].size) {
			continue
		}
		if ok {
			drops[outer] = true
			delete(taken, all[outer].point)
		}
		taken[s.point] = i
		if err := f.owns(ctx, s, within); err != nil {
			return err
		}
	}
	byOwner, first := map[graph.Node]int{}, len(f.found) // index in found: a collection may have its elements in several arrays
	for i := range all {
		if at, ok := taken[all[i].point]; ok && at == i && !drops[i] && !f.inSum(all[i].point) {
			s := all[i]
			s.owner = f.ownerAbove(s.point)
			if k, ok := byOwner[s.owner]; ok && f.found[k].typ == s.typ {
				x := &f.found[k]
				x.point, x.retained, x.count, x.size = s.owner, f.doms.Retained(s.owner), x.count+s.count, x.size+s.size
				continue
			}
			s.elements = f.elements(s.owner, s.point)
			if s.owner != graph.NoNode {
				byOwner[s.owner] = len(f.found)
				if hasPrefix(f.typeName(s.owner), wrapperTypes) { // it has more than the array
					s.retained = max(s.retained, f.doms.Retained(s.owner))
				}
			}
			f.found = append(f.found, s)
		}
	}
	for i := range f.found[first:] {
		if err := f.count(ctx, &f.found[first+i]); err != nil {
			return err
		}
	}
	return nil
}

// owns notes what s retains at all owners of it that have an entry.
func (f *finder) owns(ctx context.Context, s *suspect, within map[graph.Node]uint64) error {
	n := s.point
	for i := range maxKept {
		if i%lookStep == lookStep-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		up := f.doms.Idom(n)
		if up == n || !f.g.IsObject(up) {
			break
		}
		n = up
		if size, ok := within[n]; ok {
			within[n] = max(size, s.retained)
		}
	}
	return nil
}

// above returns the nearest selected owner of n.
func (f *finder) above(ctx context.Context, n graph.Node, taken map[graph.Node]int) (int, bool, error) {
	for i := range maxKept {
		if i%lookStep == lookStep-1 && ctx.Err() != nil {
			return 0, false, ctx.Err()
		}
		up := f.doms.Idom(n)
		if up == n || !f.g.IsObject(up) && up == f.g.Root() {
			break
		}
		if i, ok := taken[up]; ok {
			return i, true, nil
		}
		n = up
	}
	return 0, false, nil
}

// ownerOf returns the collection of an array: its owner, skipping nested classes, which are parts.
func (f *finder) ownerOf(n graph.Node) graph.Node {
	if !f.g.Type(n).IsArray() {
		return graph.NoNode
	}
	for i := 0; i < maxClimb; {
		up := f.doms.Idom(n)
		if up == n || !f.g.IsObject(up) || up >= graph.Node(f.g.Objects()) {
			return graph.NoNode
		}
		if n = up; f.inner(n) {
			continue // a queue may have many segments
		}
		if !f.g.Type(n).IsArray() && !nested(f.typeName(n)) {
			return n
		}
		i++
	}
	return graph.NoNode
}

// single finds objects with a large retained size that only a root owns, unless the suspects below represent them.
func (f *finder) single(ctx context.Context) error {
	for i := range f.found {
		if s := &f.found[i]; s.point != graph.NoNode {
			f.covered[f.top(s.point)] += s.retained
		}
	}
	return f.each(ctx, patternLarge, func(n graph.Node) error {
		if f.g.IsObject(f.doms.Idom(n)) || f.inSum(n) || f.represented(n) {
			return nil
		}
		point, err := f.point(ctx, n)
		if err != nil || f.part[point] {
			return err
		}
		owner := f.ownerAbove(point)
		if owner != graph.NoNode && f.isCollection(point) {
			point, owner = owner, graph.NoNode // a collection in another form
		}
		s := suspect{kind: answer.SuspectObject, point: point, owner: owner, retained: f.doms.Retained(point), typ: -1}
		s.elements = f.elements(s.owner, point)
		if err := f.count(ctx, &s); err != nil {
			return err
		}
		if err := f.linked(ctx, &s); err != nil {
			return err
		}
		f.found = append(f.found, s)
		return nil
	})
}

// represented reports whether the suspects below an outermost owner have most of what it retains.
func (f *finder) represented(n graph.Node) bool {
	return float64(f.covered[n]) >= minShare*float64(f.doms.Retained(n))
}

// top returns the outermost owner of n, or n itself.
func (f *finder) top(n graph.Node) graph.Node {
	for range maxKept {
		up := f.doms.Idom(n)
		if !f.g.IsObject(up) || up == n {
			break
		}
		n = up
	}
	return n
}

// point returns where the retained size of n accumulates. It follows the largest child while that child has most of the
// size. A chain of objects of one type, or of types that take turns, counts at its first object, and a part of a collection at the collection.
func (f *finder) point(ctx context.Context, n graph.Node) (graph.Node, error) {
	path, last := []graph.Node{}, map[int]graph.Node{} // last has the last object of each type on the path
	for range maxKept {
		path, last[f.g.TypeIndex(n)] = append(path, n), n
		top, _, _, err := f.doms.Largest(ctx, n, 1)
		if err != nil {
			return n, err
		}
		if len(top) == 0 || !f.g.IsObject(top[0]) || float64(f.doms.Retained(top[0])) < drop*float64(f.doms.Retained(n)) ||
			f.g.TypeIndex(top[0]) == f.g.TypeIndex(n) {
			break
		}
		n = top[0]
	}
	for _, head := range path { // each link of a chain has most of the link before it, but the last has little of the first
		if float64(f.doms.Retained(last[f.g.TypeIndex(head)])) < drop*float64(f.doms.Retained(head)) {
			n = head
			break
		}
	}
	return f.whole(n), nil
}

// groups finds types with a large common retained size and without a single owner of their objects. Objects that are
// suspects themselves do not count. Few objects are a group if they are a suspect together.
func (f *finder) groups(ctx context.Context) error {
	types := map[int]*groupBy{}
	if err := f.unowned(ctx, func(list []graph.Node) error { return f.group(ctx, types, list, f.notInGroup) }); err != nil {
		return err
	}
	byType := make([]int, len(f.names)) // index in found, + 1
	for typ := range f.names {
		t := types[typ]
		if t == nil || t.size < f.least || float64(t.largest) > minShare*float64(t.size) {
			continue
		}
		if t.count < uint64(f.o.Count) && (f.a.Small || !f.suspect(t.size)) {
			continue
		}
		byType[typ] = len(f.found) + 1
		f.found = append(f.found, suspect{kind: answer.SuspectGroup, point: graph.NoNode, owner: graph.NoNode, member: t.first, retained: t.size, typ: typ, count: t.count, size: t.size})
	}
	seen, members := make([]uint64, len(f.names)), f.g.NewSet()
	err := f.unowned(ctx, func(list []graph.Node) error {
		for i, n := range list {
			if i%lookStep == lookStep-1 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !f.g.IsObject(n) || f.notInGroup(n) {
				continue
			}
			typ := f.g.TypeIndex(n)
			if byType[typ] == 0 {
				continue
			}
			s := &f.found[byType[typ]-1]
			if f.suspect(s.size) {
				members.Add(n)
			}
			// The sample is at regular distances.
			if step := max(1, s.count/sampled); seen[typ]%step == 0 && len(s.sample) < sampled {
				s.sample = append(s.sample, n)
			}
			seen[typ]++
		}
		return nil
	})
	for n := range members.All {
		f.summed.Add(n)
	}
	return err
}

// suspect reports whether a retained size makes a suspect.
func (f *finder) suspect(size uint64) bool {
	return float64(size) >= f.o.Share/100*float64(f.a.Live.Size)
}

// notInGroup reports whether n belongs to a pattern or a sum, or is a suspect without a group.
func (f *finder) notInGroup(n graph.Node) bool {
	return f.part[n] || f.summed.Has(n) || f.suspect(f.doms.Retained(n)) || f.represented(n)
}

// unowned calls visit with the direct children of the root and of the Sources.
func (f *finder) unowned(ctx context.Context, visit func([]graph.Node) error) error {
	for n := graph.Node(f.g.Objects()); n <= f.g.Root(); n++ {
		if n != f.g.Root() && !f.live.Live(n) {
			continue
		}
		if n != f.g.Root() && f.g.IsObject(f.doms.Idom(n)) {
			continue // the referents of a static field in an object have an owner
		}
		if f.summed.Has(n) {
			continue
		}
		children, err := f.doms.Children(ctx, n)
		if err != nil {
			return err
		}
		if err := visit(children); err != nil {
			return err
		}
	}
	return ctx.Err()
}
