package graph

import (
	"context"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// A Path leads from outside of the heap to an object. It has Sources, from the one at the root to the one that refers
// to the first object, and then objects. The last object is the end of the path.
type Path struct{ Nodes []Node }

// PathOptions selects paths.
type PathOptions struct {
	Each  PathEach        // the starts; each has a path
	Skip  func(Node) bool // if not nil, excludes nodes, such as the Source of the stacks
	Below *Set            // if not nil, excludes all objects that are not in the set
	Ends  []Node          // further ends: the path from a start leads to the nearest one
}

// A PathEach is a kind of start of paths.
type PathEach uint8

// The kinds of starts.
const (
	EachKind   PathEach = iota // each Source at the root: stacks, strong handles, statics …
	EachSource                 // each Source that refers to objects: a frame, a static field, all strong handles
	EachRoot                   // each reference of such a Source: each handle
)

// Paths iterates over the shortest path to n from each start, the shortest first. Equally short paths are ordered by
// their last Source, then by their objects. One search backwards from n finds the paths, and ends when the caller
// stops. It needs 4 bytes for each visited node.
//
// The last element may be an error: the error of ctx, or of a limit.
func (g *Graph) Paths(ctx context.Context, n Node, o PathOptions) iter.Seq2[Path, error] {
	return func(yield func(Path, error) bool) {
		ctx, done, err := g.Use(ctx)
		defer done()
		var s *backSearch
		if err == nil {
			s, err = g.newBackSearch(ctx, n, o)
		}
		if err == nil {
			defer s.next.Free()
			err = s.run(ctx, func(p Path) bool { return yield(p, nil) })
		}
		if err != nil {
			yield(Path{}, err)
		}
	}
}

// A backSearch searches breadth first from an object to its referrers.
type backSearch struct {
	g       *Graph
	reverse *Referrers
	o       PathOptions
	next    *offheap.Array[uint32] // by node: 1 + the next node towards the object; 0 if not visited
	queue   []Node
	seen    map[Node]bool // kinds or Sources that have a path
	kinds   int           // number of kinds
}

func (g *Graph) newBackSearch(ctx context.Context, n Node, o PathOptions) (*backSearch, error) {
	reverse, err := g.Referrers(ctx)
	if err != nil {
		return nil, err
	}
	next, err := offheap.Make[uint32](g.budget, g.Nodes())
	if err != nil {
		return nil, err
	}
	s := &backSearch{g: g, reverse: reverse, o: o, next: next, seen: map[Node]bool{}}
	for _, end := range append([]Node{n}, o.Ends...) {
		if next.Slice()[end] == 0 {
			next.Slice()[end] = end + 1
			s.queue = append(s.queue, end)
		}
	}
	for _, k := range g.Referents(g.Root()) {
		if o.Skip == nil || !o.Skip(k) {
			s.kinds++
		}
	}
	return s, nil
}

// searchStep is the number of edges between two checks of ctx.
const searchStep = 1 << 14

func (s *backSearch) run(ctx context.Context, yield func(Path) bool) error {
	next, left := s.next.Slice(), searchStep
	for i := 0; i < len(s.queue); i++ {
		n := s.queue[i]
		for row := s.reverse.Of(n); len(row) > 0; row = row[1:] {
			if left--; left == 0 {
				left = searchStep
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			switch r := row[0]; {
			case s.o.Skip != nil && s.o.Skip(r):
			case !s.g.IsObject(r) && !s.g.inTable(r):
				if more := s.yieldPath(r, n, yield); !more {
					return nil
				}
			case next[r] == 0 && (s.o.Below == nil || s.o.Below.Has(r)):
				next[r] = n + 1
				s.queue = append(s.queue, r)
			}
		}
	}
	return ctx.Err()
}

// inTable reports whether n is a static field that its table keeps alive, so that a path continues from it.
func (g *Graph) inTable(n Node) bool {
	s := g.Source(n)
	return s != nil && s.Parent == InTable
}

// yieldPath yields the path from the Source r, which refers to n, unless there was one. It reports whether more may
// follow.
func (s *backSearch) yieldPath(r, n Node, yield func(Path) bool) bool {
	chain := s.g.sourceChain(r)
	key := r
	if s.o.Each == EachKind {
		key = chain[0]
	}
	for _, c := range chain {
		if s.o.Skip != nil && s.o.Skip(c) {
			return true
		}
	}
	if s.o.Each != EachRoot {
		if s.seen[key] {
			return true
		}
		s.seen[key] = true
	}
	p, next := Path{Nodes: chain}, s.next.Slice()
	for {
		p.Nodes = append(p.Nodes, n)
		if next[n] == n+1 {
			break
		}
		n = next[n] - 1
	}
	return yield(p) && (s.o.Each != EachKind || len(s.seen) < s.kinds)
}

// sourceChain returns a Source after the Sources that it depends on, from the root on. A static field that its table
// keeps alive is alone.
func (g *Graph) sourceChain(n Node) []Node {
	var chain []Node
	for i := int(n) - g.objects; i >= 0 && i < len(g.sources); i = g.sources[i].Parent {
		chain = append(chain, g.SourceNode(i))
	}
	slices.Reverse(chain)
	return chain
}
