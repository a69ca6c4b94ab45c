package heapdiff

import (
	"context"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/target"
)

// Criteria for suspects among the nodes of the paths.
const (
	SuspectShare = 10.0 // smallest percentage of all growth below a suspect
	// drop is the fraction of a node's growth that a child must have to replace it as the suspect, as in package leaks.
	drop = 0.7
)

type growthFinder struct {
	nodes   []mergedNode
	all     int64 // growth of the live part in bytes
	growing bool
	found   []answer.GrowthSuspect
}

// find examines n, at the end of path, and its children. of is the change of the last Source on the path.
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

// CompareAddresses counts the objects of a heap that have the same address and type in a later heap of the process:
// objects that were not moved. Types are equal if their names are equal.
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
		out.Note(target.Unsupportedf("types without a name can't be compared: %d more objects may be the same", unknown))
	}
	return out, nil
}

// A sameTypes counts objects, and compares types by their indexes in two graphs.
type sameTypes struct {
	before, after *graph.Graph
	a, b          *typeNames
	equal         []int // by index before: 1 + the index of the equal type after, 0 if unknown
	known         map[[2]int]comparison
	found         Count
	unknown       uint64 // objects that can't be compared
}

func (s *sameTypes) count(n, m graph.Node) {
	if s.same(s.before.TypeIndex(n), s.after.TypeIndex(m)) {
		s.found.add(Count{1, s.before.Size(n)})
	}
}

type comparison uint8

const (
	different comparison = iota + 1
	equal
	nameless // a name is unreadable
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
	a, err := s.a.key(s.before.Types()[i])
	b, err2 := s.b.key(s.after.Types()[j])
	switch {
	case err != nil || err2 != nil:
		return nameless
	case a == b:
		return equal
	}
	return different
}
