package heapdiff

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/target"
)

// What makes a suspect of a node of the paths.
const (
	// SuspectShare is the least part of all growth, in percent, that hangs on it.
	SuspectShare = 10.0
	// drop is the part of a node's growth that one node below it has to have for that to be the one to look at, as in package leaks.
	drop = 0.7
)

// growthFinder finds where growth hangs.
type growthFinder struct {
	nodes   []mergedNode
	all     int64 // bytes by which grew what lives
	growing bool
	found   []answer.GrowthSuspect
}

// find looks at n, to which path leads, and what is below it. of is the change of the last node on the path that is no object.
func (f *growthFinder) find(n uint32, path []string, of answer.Change) {
	grown := change(f.nodes[n].all)
	if f.nodes[n].source {
		of = grown
	}
	var large []uint32
	best, most := uint32(0), int64(0)
	for _, c := range f.nodes[n].children {
		g := change(f.nodes[c].all)
		if float64(g.SizeChange) < SuspectShare/100*float64(f.all) || f.growing && !g.Growing {
			continue
		}
		large = append(large, c)
		if g.SizeChange > most {
			best, most = c, g.SizeChange
		}
	}
	split := f.nodes[n].source && len(large) > 0 && float64(most) < drop*float64(grown.SizeChange)
	switch {
	case split || n == 0:
	case len(large) > 0 && float64(most) >= drop*float64(grown.SizeChange):
		large = []uint32{best}
	default:
		f.found = append(f.found, answer.GrowthSuspect{Path: path, Change: of, Share: 100 * float64(of.SizeChange) / float64(f.all)})
		return
	}
	for _, c := range large {
		f.find(c, append(path[:len(path):len(path)], f.nodes[c].name), of)
	}
}

// CompareAddresses counts the objects of a heap that stand at the same address with the same type in a later one of the
// process: those that were not moved. Types are the same if their names are.
func CompareAddresses(ctx context.Context, before, after *graph.Graph) (*answer.SameObjects, error) {
	s := sameTypes{before: before, after: after, a: newTypeNames(before.Heap().Runtime()), b: newTypeNames(after.Heap().Runtime()), equal: make([]int, len(before.Types())), known: map[[2]int]comparison{}}
	out := &answer.SameObjects{}
	for n := range graph.Node(before.Objects()) {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		size := before.Size(n)
		out.Of.Objects++
		out.Of.Size += size
		m, ok := after.Node(before.Address(n))
		if ok && s.same(before.TypeIndex(n), after.TypeIndex(m)) {
			out.Same.Objects++
			out.Same.Size += size
		}
	}
	if s.unknown > 0 {
		out.Note(target.Unsupportedf("types without a name can't be compared: %d objects more may be the same", s.unknown))
	}
	return out, nil
}

// sameTypes tells by their indexes in two graphs whether types are the same.
type sameTypes struct {
	before, after *graph.Graph
	a, b          *typeNames
	equal         []int // by index before: 1 more than the index of the same type after, 0 for not known
	known         map[[2]int]comparison
	unknown       uint64 // objects of which it can't be told
}

type comparison uint8

const (
	different comparison = iota + 1
	equal
	nameless // the name of one can't be read
)

func (s *sameTypes) same(i, j int) bool {
	if s.equal[i] == j+1 {
		return true
	}
	k := [2]int{i, j}
	if s.known[k] == 0 {
		s.known[k] = s.compare(i, j)
	}
	switch s.known[k] {
	case equal:
		s.equal[i] = j + 1
		return true
	case nameless:
		s.unknown++
	}
	return false
}

func (s *sameTypes) compare(i, j int) comparison {
	a, err := s.a.of(s.before.Types()[i])
	b, err2 := s.b.of(s.after.Types()[j])
	switch {
	case err != nil || err2 != nil:
		return nameless
	case a == b:
		return equal
	}
	return different
}
