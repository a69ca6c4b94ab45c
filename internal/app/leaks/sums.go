package leaks

import (
	"cmp"
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
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
		children, err := f.doms.Children(ctx, n)
		if err != nil {
			return nil, err
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
	byField, order := map[field]*sum{}, []field(nil)
	for n := graph.Node(f.g.Objects()); n < f.g.Root(); n++ {
		source := f.g.Source(n)
		if source.Kind != graph.SourceField || source.Thread == nil || source.Static == nil || source.Static.Field == nil || source.Static.Field.Declaring == nil {
			continue
		}
		size := f.doms.Retained(n)
		if size == 0 || !f.live.Live(n) {
			continue
		}
		key := field{source.Static.Field.Declaring.MT.Addr, source.Static.Field.Name}
		if byField[key] == nil {
			byField[key] = &sum{}
			order = append(order, key)
		}
		byField[key].add(n, size)
	}
	for _, key := range order {
		values := byField[key]
		if !values.listed(f) {
			continue
		}
		s, err := f.takeSum(ctx, answer.SuspectThreadStatic, values)
		if err != nil {
			return err
		}
		if s != nil {
			s.name = f.a.Text(f.g.Source(values.nodes[0]).Static.Name())
		}
	}
	return ctx.Err()
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
