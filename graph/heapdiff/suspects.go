package heapdiff

import (
	"context"
	"sync"

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
	for _, g := range []*graph.Graph{before, after} {
		used, done, err := g.Use(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		ctx = used
	}
	var mu sync.Mutex
	var all []*sameTypes
	create := func() *sameTypes {
		s := &sameTypes{before: before, after: after, a: newTypeNames(before.Heap().Runtime()), b: newTypeNames(after.Heap().Runtime()),
			equal: make([]int, len(before.Types())), known: map[[2]int]comparison{}}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, s)
		return s
	}
	if err := graph.Common(ctx, before, after, create, (*sameTypes).count); err != nil {
		return nil, err
	}
	out := &answer.SameObjects{Of: answer.HeapPart{Objects: before.Stats().Objects, Size: before.Stats().Bytes}}
	unknown := uint64(0)
	for _, s := range all {
		out.Same.Objects += s.found.Objects
		out.Same.Size += s.found.Size
		unknown += s.unknown
	}
	if unknown > 0 {
		out.Note(target.Unsupportedf("types without a name can't be compared: %d objects more may be the same", unknown))
	}
	return out, nil
}

// sameTypes counts objects, and tells by the indexes in two graphs whether their types are the same.
type sameTypes struct {
	before, after *graph.Graph
	a, b          *typeNames
	equal         []int // by index before: 1 more than the index of the same type after, 0 for not known
	known         map[[2]int]comparison
	found         Count
	unknown       uint64 // objects of which it can't be told
}

// count counts n if it is of the type of m.
func (s *sameTypes) count(n, m graph.Node) {
	if s.same(s.before.TypeIndex(n), s.after.TypeIndex(m)) {
		s.found.add(Count{1, s.before.Size(n)})
	}
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
