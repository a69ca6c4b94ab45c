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
var partTypes = []string{
	"System.Collections.Concurrent.ConcurrentQueueSegment<",
	"System.Collections.Generic.LinkedListNode<",
	"System.Collections.Generic.TreeSet<", // of a SortedDictionary
	"System.Collections.Immutable.SortedInt32KeyNode<",
	"Microsoft.Extensions.Caching.Memory.MemoryCache+",
	"System.Data.DataColumn", "System.Data.DataRowCollection", "System.Data.RBTree<", "System.Data.RecordManager", // of a DataTable
	"System.Data.Common.ObjectStorage", "System.Data.Common.StringStorage", // values by column; other storages have numbers
	"System.Threading.Tasks.Dataflow.Internal.", // the cores of blocks
	timerType,
}

// wrapperTypes are prefixes of the names of types that give one collection another form.
var wrapperTypes = []string{
	"System.Collections.Concurrent.BlockingCollection<",
	"System.Collections.Generic.SortedDictionary<",
	"System.Collections.Generic.SynchronizedCollection<",
	"System.Collections.Immutable.",
	"System.Collections.ObjectModel.",
	"System.Data.DataTable",
	"System.Text.Json.Nodes.JsonArray", "System.Text.Json.Nodes.JsonObject",
	"System.Threading.Channels.",
	"System.Threading.Tasks.Dataflow.",
	"Microsoft.Extensions.Caching.Memory.MemoryCache",
}

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

// isCollection reports whether an object is of a collection class and no part of a collection.
func (f *finder) isCollection(n graph.Node) bool {
	name := f.typeName(n)
	return !f.inner(n) && !f.g.Type(n).IsArray() && (hasPrefix(name, collectionTypes) || hasPrefix(name, wrapperTypes))
}

// wrapper returns the outermost collection that consists of the collection n, or n.
func (f *finder) wrapper(n graph.Node) graph.Node {
	for at := n; ; {
		up := f.doms.Idom(at)
		if up == at || !f.g.IsObject(up) || f.g.Type(up).IsArray() || float64(f.doms.Retained(n)) < drop*float64(f.doms.Retained(up)) {
			return n
		}
		switch at = up; {
		case f.inner(at): // such as the state of a cache
		case hasPrefix(f.typeName(at), wrapperTypes):
			n = at
		default:
			return n
		}
	}
}

// ownerAbove returns the collection that an array or a part is of, the outermost if one consists of another, or NoNode. Of
// other arrays it returns the object that has the array.
func (f *finder) ownerAbove(n graph.Node) graph.Node {
	found := f.ownerOf(n)
	if found == graph.NoNode {
		found = f.whole(n)
	}
	if f.isCollection(found) {
		found = f.wrapper(found)
	}
	if found == n || f.inner(found) {
		return graph.NoNode
	}
	return found
}

// partBelow reports whether an object that owner owns is a part of the same collection, and not an element.
func (f *finder) partBelow(owner, n graph.Node) bool {
	switch {
	case !f.g.IsObject(n):
		return false
	case f.inner(n):
		return true
	case f.g.Type(n).IsArray():
		name := f.typeName(owner)
		return !f.g.Type(owner).IsArray() && (!f.inner(owner) || strings.Contains(name, "+WorkStealingQueue") || strings.HasPrefix(name, "System.Data."))
	}
	return hasPrefix(f.typeName(owner), wrapperTypes) && f.isCollection(n)
}

// count sets the members of a suspect to the elements of its collection, in place of parts such as nodes. It keeps the
// members of a collection with too many parts.
func (f *finder) count(ctx context.Context, s *suspect) error {
	n := s.owner
	if n == graph.NoNode {
		n = s.point
	}
	if !f.isCollection(n) {
		return nil
	}
	types, queue, children, younger := map[int]*groupBy{}, append([]graph.Node{n}, s.pieces...), []graph.Node(nil), uint64(0)
	for i := 0; i < len(queue); i++ {
		if i == maxRead {
			return nil
		}
		var err error
		if children, err = f.doms.AppendChildren(ctx, children[:0], queue[i]); err != nil {
			return err
		}
		isPart := func(c graph.Node) bool { return f.partBelow(queue[i], c) }
		node := f.inner(queue[i]) && !f.g.Type(queue[i]).IsArray()
		for _, c := range children {
			switch {
			case isPart(c):
				queue = append(queue, c)
			case node && f.g.IsObject(c) && f.isYounger(c, queue[i]):
				younger++
			}
		}
		if f.inOrder(queue[i]) {
			younger += f.olderBehind(queue[i])
		}
		if err := f.group(ctx, types, children, isPart); err != nil {
			return err
		}
	}
	if typ, best := f.largest(types); best != nil {
		s.typ, s.count, s.size, s.member, s.younger = typ, best.count, best.size, best.first, younger
	}
	return nil
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
		if err := f.count(ctx, &s); err != nil {
			return err
		}
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
