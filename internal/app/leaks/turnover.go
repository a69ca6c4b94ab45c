package leaks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/objects"
)

// The collections that count their changes: additions, and in some versions removals.
type (
	changingSet struct {
		_       objects.Shape    `of:"System.Collections.Generic.Dictionary<,>|System.Collections.Generic.HashSet<>"`
		Changes objects.IntField `field:"_version"`
	}
	changingList struct {
		_       objects.Shape    `of:"System.Collections.Generic.List<>|System.Collections.Generic.Queue<>|System.Collections.Generic.LinkedList<>"`
		Changes objects.IntField `field:"_version|version"`
	}
)

// The evidence that elements are replaced: a collection that only grows has one change for each element, and no element
// younger than the node that was made for it, or than an element behind it.
const (
	manyChanges  = 10 // for each element
	manyReplaced = 10 // elements in places that are older
	moreReplaced = 2  // in percent of all elements
)

// turnover returns the evidence that the elements of a suspect's collection are replaced again and again.
func (f *finder) turnover(s *suspect) answer.Statement {
	n := s.owner
	if n == graph.NoNode {
		n = s.point
	}
	if n == graph.NoNode {
		return answer.Statement{}
	}
	if s.elements.Err() == nil && s.elements.Value > 0 {
		if changes := f.changes(n); changes/manyChanges >= s.elements.Value {
			return says.Changed(changes, s.elements.Value)
		}
	}
	if s.younger >= manyReplaced && 100*s.younger >= moreReplaced*s.count {
		return says.Younger(s.younger, s.count)
	}
	return answer.Statement{}
}

// changes returns how often a collection was changed, or 0 if it does not count that.
func (f *finder) changes(n graph.Node) uint64 {
	changes := int64(0)
	set, x, err := bind[*changingSet](f, n)
	if err == nil {
		changes, err = set.Changes.Int(x)
	} else if list, x, other := bind[*changingList](f, n); other == nil {
		changes, err = list.Changes.Int(x)
	}
	if err != nil || changes < 0 {
		return 0
	}
	return uint64(changes)
}

// isYounger reports whether an element is younger than the node that has it.
func (f *finder) isYounger(element, node graph.Node) bool {
	of := f.g.Generation(node)
	return of <= heap.Generation2 && f.g.Generation(element) < of
}

// inOrder reports whether n is an array in which a collection that only grows has its elements in the order in which they
// were added.
func (f *finder) inOrder(n graph.Node) bool {
	name := f.typeName(n)
	return strings.HasSuffix(name, "+Entry[]") && (strings.HasPrefix(name, "System.Collections.Generic.Dictionary<") || strings.HasPrefix(name, "System.Collections.Generic.HashSet<"))
}

// olderBehind counts the objects that an array owns and that are younger than another one behind them.
func (f *finder) olderBehind(n graph.Node) (younger uint64) {
	oldest := heap.Generation0
	for _, c := range slices.Backward(f.g.Referents(n)) {
		if !f.g.IsObject(c) || f.doms.Idom(c) != n {
			continue
		}
		switch of := f.g.Generation(c); {
		case of > heap.Generation2: // large objects are old from the start
		case of < oldest:
			younger++
		default:
			oldest = of
		}
	}
	return younger
}
