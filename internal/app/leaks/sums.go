package leaks

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A sum adds up what several nodes retain. They do not overlap.
type sum struct {
	nodes   []graph.Node
	retains uint64
	largest uint64
}

func (s *sum) add(n graph.Node, size uint64) {
	s.nodes, s.retains, s.largest = append(s.nodes, n), s.retains+size, max(s.largest, size)
}

// listed reports whether the nodes are listed as one holder. A node with most of the size is a holder of its own.
func (s *sum) listed(f *finder) bool {
	return s.retains >= f.least && float64(s.largest) <= minShare*float64(s.retains)
}

// takeSum makes a suspect of a sum. No other suspect repeats what its nodes retain.
func (f *finder) takeSum(ctx context.Context, kind answer.SuspectKind, s *sum) (*suspect, error) {
	types := map[int]*groupBy{}
	for _, n := range s.nodes {
		f.summed.Add(n)
		children := []graph.Node{n}
		if !f.g.IsObject(n) {
			var err error
			if children, err = f.doms.Children(ctx, n); err != nil {
				return nil, err
			}
		}
		if err := f.group(ctx, types, children, nil); err != nil {
			return nil, err
		}
	}
	out := suspect{kind: kind, point: graph.NoNode, owner: graph.NoNode, member: graph.NoNode, retained: s.retains, roots: len(s.nodes), typ: -1}
	for typ, t := range types {
		if out.typ < 0 || cmp.Or(cmp.Compare(t.size, out.size), cmp.Compare(out.typ, typ)) > 0 {
			out.typ, out.member, out.count, out.size = typ, t.first, t.count, t.size
		}
	}
	if out.typ < 0 {
		return nil, nil
	}
	f.found = append(f.found, out)
	return &f.found[len(f.found)-1], nil
}

// threadStatics finds fields with values in several threads that retain much together.
func (f *finder) threadStatics(ctx context.Context) error {
	type field struct {
		class target.Addr
		name  string
	}
	byField, shared, order := map[field]*sum{}, map[field][]graph.Node{}, []field(nil)
	for n := graph.Node(f.g.Objects()); n < f.g.Root(); n++ {
		source := f.g.Source(n)
		if source.Kind != graph.SourceField || source.Thread == nil || source.Static == nil || source.Static.Field == nil || source.Static.Field.Declaring == nil {
			continue
		}
		if !f.live.Live(n) {
			continue
		}
		key := field{source.Static.Field.Declaring.MT.Addr, source.Static.Field.Name}
		if byField[key] == nil {
			byField[key] = &sum{}
			order = append(order, key)
		}
		if size := f.doms.Retained(n); size > 0 {
			byField[key].add(n, size)
			continue
		}
		shared[key] = append(shared[key], f.g.Referents(n)...) // something else refers to them, too
	}
	for _, key := range order {
		values := byField[key]
		own := func(source graph.Node, _ []graph.Node) bool {
			s := f.g.Source(source)
			return s.Kind == graph.SourceField && s.Thread != nil && s.Static != nil && s.Static.Field != nil && s.Static.Field.Declaring != nil &&
				key == field{s.Static.Field.Declaring.MT.Addr, s.Static.Field.Name}
		}
		if err := f.addShared(ctx, values, shared[key], own); err != nil {
			return err
		}
		if !values.listed(f) {
			continue
		}
		s, err := f.takeSum(ctx, answer.SuspectThreadStatic, values)
		if err != nil {
			return err
		}
		if s != nil {
			s.name = f.a.Text(f.staticName(key.class, key.name))
		}
	}
	return ctx.Err()
}

// staticName returns the name of a static field with its class.
func (f *finder) staticName(class target.Addr, field string) (string, error) {
	name, err := f.r.Runtime().TypeName(class, dac.NameManaged)
	return name + "." + field, err
}

// addShared adds values that other roots keep, too, if all of these are stacks: a method that works with the value of its thread has it in a variable. own
// reports whether a path belongs to the sum, given the Source at its start. Some values stand for all of them.
func (f *finder) addShared(ctx context.Context, s *sum, values []graph.Node, own func(source graph.Node, path []graph.Node) bool) error {
	with := *s
	with.nodes = slices.Clone(s.nodes)
	var added []graph.Node
	for _, n := range values {
		if f.g.IsObject(n) && f.live.Live(n) && !f.g.IsObject(f.doms.Idom(n)) && !slices.Contains(added, n) {
			with.add(n, f.doms.Retained(n))
			added = append(added, n)
		}
	}
	if len(added) == 0 || !with.listed(f) {
		return ctx.Err()
	}
	asked := min(len(added), followed, max(1, maxFollowed/max(1, f.g.Objects())))
	for i := range asked {
		ways, err := f.ways(ctx, added[i*len(added)/asked], f.through)
		if err != nil {
			return err
		}
		for _, w := range ways {
			if k := f.g.Source(w.source); k == nil || k.Kind != graph.SourceThread && k.Kind != graph.SourceFrame && !own(w.source, w.nodes) {
				return nil
			}
		}
	}
	*s = with
	return nil
}

// The values of a ThreadLocal are in a list of slots (ThreadLocal.cs). Each slot is in the table of its thread, too. If the ThreadLocal tracks all values,
// a slot of a thread that has ended stays without a table.
type (
	threadLocal struct {
		_     objects.Shape    `of:"System.Threading.ThreadLocal<>"`
		Slots objects.RefField `field:"_linkedSlot"`
	}
	threadSlot struct {
		_     objects.Shape    `of:"System.Threading.ThreadLocal<>+LinkedSlot"`
		Next  objects.RefField `field:"_next"`
		Table objects.RefField `field:"_slotArray"`
		Value objects.RefField `field:"_value"`
	}
)

// slotTables returns the tables with slots of the threads that have not ended: a thread static refers to each (ThreadLocal.cs).
func (f *finder) slotTables() map[graph.Node]bool {
	out := map[graph.Node]bool{}
	for n := graph.Node(f.g.Objects()); n < f.g.Root(); n++ {
		if s := f.g.Source(n); s.Kind != graph.SourceField && s.Kind != graph.SourceThreadStatics || !f.live.Live(n) {
			continue
		}
		for _, r := range f.g.Referents(n) {
			if f.slot(r) {
				out[r] = true
			}
		}
	}
	return out
}

// threadLocals finds ThreadLocals with values of several threads that retain much together.
func (f *finder) threadLocals(ctx context.Context) error {
	var living map[graph.Node]bool // read when it is needed
	return f.living(ctx, patternThreadLocal, func(n graph.Node) {
		var values sum
		ended, slots, shared := 0, []graph.Node(nil), []graph.Node(nil)
		l, x, err := bind[*threadLocal](f, n)
		if err != nil {
			return // of values that are no references
		}
		next := &l.Slots
		for range maxRead {
			slot, at, err := bindAt[*threadSlot](f, next, x)
			if err != nil || slot == nil {
				break
			}
			value, err := f.nodeAt(&slot.Value, at)
			self, known := f.g.Node(at.Object())
			if err == nil && value != graph.NoNode && known {
				if slots = append(slots, self); f.doms.Idom(value) == self { // no thread has it in its table, or on its stack
					values.add(value, f.doms.Retained(value))
				} else {
					shared = append(shared, value)
				}
				if living == nil {
					living = f.slotTables()
				}
				if table, err := f.nodeAt(&slot.Table, at); err == nil && !living[table] { // a table of a thread that has ended stays until its finalizer has run
					ended++
				}
			}
			next, x = &slot.Next, at
		}
		through := func(_ graph.Node, path []graph.Node) bool { return slices.Contains(path, n) }
		if f.addShared(ctx, &values, shared, through) != nil || len(values.nodes) < 2 || !values.listed(f) {
			return // an error of the context ends the walk
		}
		s, err := f.takeSum(ctx, answer.SuspectThreadLocal, &values)
		if err != nil || s == nil {
			return
		}
		f.take(slots)
		for _, value := range values.nodes {
			f.covered[f.top(value)] += f.doms.Retained(value)
		}
		s.dead = uint64(ended)
		s.name, err = f.fieldTo(ctx, n)
		f.a.Note(err)
	})
}

// fieldTo names the field that refers to an object on the best path to it.
func (f *finder) fieldTo(ctx context.Context, n graph.Node) (answer.Text, error) {
	path, err := f.path(ctx, n)
	if err != nil || len(path) < 2 {
		return answer.Text{}, err
	}
	before := path[len(path)-2]
	if !f.g.IsObject(before) {
		return f.x.Names().Text(&f.a.Gaps, before), nil
	}
	field, err := f.x.Names().Name(ctx, before, n)
	if name := f.typeName(before); err == nil && name != "" && field != "" {
		return answer.Text{S: name + "." + field}, nil
	}
	return answer.Text{}, err
}

// interned finds the strings in the runtime's arrays for literals and interned strings. Each array has few of them.
func (f *finder) interned(ctx context.Context) error {
	var arrays sum
	for n := graph.Node(f.g.Objects()); n < f.g.Root(); n++ {
		if s := f.g.Source(n); s.Kind != graph.SourceHandles || s.Handle != heap.HandleStrong {
			continue
		}
		children, err := f.doms.Children(ctx, n)
		if err != nil {
			return err
		}
		for _, array := range children {
			if !f.objectArray(array) {
				continue
			}
			strings, err := f.stringsIn(ctx, array)
			if err != nil {
				return err
			}
			if size := f.doms.Retained(array); float64(strings) >= minShare*float64(size) {
				arrays.add(array, size)
			}
		}
	}
	if !arrays.listed(f) {
		return ctx.Err()
	}
	_, err := f.takeSum(ctx, answer.SuspectInterned, &arrays)
	return err
}

// objectArray reports whether n is an object[].
func (f *finder) objectArray(n graph.Node) bool {
	known := f.r.Runtime().WellKnown()
	if known.String == 0 || !f.g.IsObject(n) {
		return false
	}
	mt := f.g.Type(n)
	return mt.IsArray() && mt.PerInstInfo == known.Object
}

// stringsIn returns the size of the strings that only an array keeps alive.
func (f *finder) stringsIn(ctx context.Context, array graph.Node) (size uint64, err error) {
	children, err := f.doms.Children(ctx, array)
	if err != nil {
		return 0, err
	}
	for _, n := range children {
		if f.g.IsObject(n) && f.g.Type(n).Addr == f.r.Runtime().WellKnown().String {
			size += f.doms.Retained(n)
		}
	}
	return size, nil
}

// inSum reports whether a sum has counted what n retains.
func (f *finder) inSum(n graph.Node) bool {
	for range maxKept {
		if f.summed.Has(n) {
			return true
		}
		up := f.doms.Idom(n)
		if up == n || !f.g.IsObject(n) {
			return false
		}
		n = up
	}
	return false
}
