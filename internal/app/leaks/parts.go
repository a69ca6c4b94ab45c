package leaks

import (
	"context"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/together"
)

// collectionTypes are prefixes of the names of collections. Their nested classes are parts.
var collectionTypes = []string{"System.Collections.", "System.Runtime.CompilerServices.ConditionalWeakTable<"}

// partTypes are prefixes of the names of other parts of collections.
var partTypes = []string{"System.Collections.Concurrent.ConcurrentQueueSegment<", "System.Collections.Generic.LinkedListNode<", timerType}

// nested reports whether a name is of a nested class, or of an array of it. Type arguments do not count.
func nested(name string) bool {
	return strings.Contains(name[strings.LastIndexByte(name, '>')+1:], "+")
}

func hasPrefix(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// inner reports whether an object is a part of a collection: a node, a bucket, a segment, a table of entries.
func (f *finder) inner(n graph.Node) bool {
	if !f.g.IsObject(n) {
		return false
	}
	if f.isInner == nil {
		f.isInner = make([]bool, len(f.names))
		for i, name := range f.names {
			f.isInner[i] = hasPrefix(name, partTypes) || nested(name) && hasPrefix(name, collectionTypes)
		}
	}
	return f.isInner[f.g.TypeIndex(n)]
}

// whole returns the collection that n is a part of, if it owns n, or else n.
func (f *finder) whole(n graph.Node) graph.Node {
	for at := n; ; {
		if !f.inner(at) {
			return at
		}
		up := f.doms.Idom(at)
		if up == at || !f.g.IsObject(up) {
			return n
		}
		at = up
	}
}

// shared finds collections with parts that something else refers to, too, such as a method that reads a node. No
// object owns such a part, but it belongs to its collection.
func (f *finder) shared(ctx context.Context) error {
	byWhole, order := map[graph.Node][]graph.Node{}, []graph.Node(nil)
	err := f.each(ctx, patternLarge, func(n graph.Node) error {
		if !f.inner(n) || f.g.IsObject(f.doms.Idom(n)) || f.part[n] {
			return nil
		}
		c, err := f.partOfCollection(ctx, n)
		if err != nil || c == graph.NoNode || f.part[c] {
			return err
		}
		if byWhole[c] == nil {
			order = append(order, c)
		}
		byWhole[c] = append(byWhole[c], n)
		return nil
	})
	for _, c := range order {
		pieces := byWhole[c]
		nodes := append([]graph.Node{c}, pieces...)
		s := suspect{kind: answer.SuspectObject, point: c, owner: graph.NoNode, pieces: pieces, retained: together.Retained(f.g, f.doms, nodes), typ: -1,
			elements: f.elements(graph.NoNode, c)}
		f.take(nodes)
		for _, n := range nodes {
			f.summed.Add(n)
		}
		f.found = append(f.found, s)
	}
	return err
}

// partOfCollection returns the only live collection that refers to n through its parts, or NoNode. Immutable collections
// share parts.
func (f *finder) partOfCollection(ctx context.Context, n graph.Node) (graph.Node, error) {
	found := graph.NoNode
	held, err := f.g.Referrers(ctx)
	if err != nil {
		return graph.NoNode, err
	}
	seen, queue := f.g.NewSet(), []graph.Node{n}
	seen.Add(n)
	for i := 0; i < len(queue) && i < maxKept; i++ {
		if i%lookStep == 0 && ctx.Err() != nil {
			return graph.NoNode, ctx.Err()
		}
		list := held.Of(queue[i])
		for _, r := range list[:min(len(list), lookStep)] {
			switch {
			case !f.g.IsObject(r) || !f.live.Live(r):
			case f.inner(r):
				if seen.Add(r) {
					queue = append(queue, r)
				}
			case hasPrefix(f.typeName(r), collectionTypes) && !f.g.Type(r).IsArray():
				if found != graph.NoNode && found != r {
					return graph.NoNode, nil
				}
				found = r
			}
		}
	}
	return found, nil
}
