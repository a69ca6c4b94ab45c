package gcdump

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
)

// A pseudoNode is a node that is not an object: it has no size and no address, and its type is its name. The
// first one is the root of the file, followed by the Sources of the graph in their order and the file's own.
type pseudoNode struct {
	typ      int32
	children []graph.Node // nodes of the graph
	more     []int64      // nodes of the file
}

func (e *encoder) planPseudo() error {
	names := e.g.Names(e.h.Objects)
	first := graph.Node(e.g.Objects())
	sources := slices.Collect(e.nodesOf.between(first, first+graph.Node(e.g.Nodes()-e.g.Objects()-1)))
	types := map[string]int32{}
	add := func(name string, children []graph.Node, more ...int64) {
		t, known := types[name]
		if !known {
			t = int32(len(e.types))
			types[name] = t
			e.types = append(e.types, fileType{name: name})
		}
		e.pseudo = append(e.pseudo, pseudoNode{t, children, more})
	}
	other := []int64{int64(e.nodesOf.objects + len(sources) + 1)}
	if e.garbage {
		other = append(other, other[0]+1)
	}
	var own, others []graph.Node // children of the root itself, and of [other roots]
	for _, n := range e.g.Referents(e.g.Root()) {
		switch e.g.Source(n).Kind {
		case graph.SourceStacks, graph.SourceStatics, graph.SourceThreadStatics:
			own = append(own, n)
		default:
			others = append(others, n)
		}
	}
	add("[.NET Roots]", own, other...)
	for _, n := range sources {
		add(sourceName(&e.summary.Gaps, e.g.Source(n), names, n), e.g.Referents(n))
	}
	add("[other roots]", others)
	if !e.garbage {
		return nil
	}
	d, err := e.g.Dominators(e.ctx)
	if err != nil {
		return err
	}
	dead, err := d.Children(e.ctx, d.Garbage())
	if err != nil {
		return err
	}
	add("[unreachable]", dead)
	return nil
}

// sourceName returns the name of a Source, in the words of PerfView's views where they have one.
func sourceName(g *answer.Gaps, s *graph.Source, names *graph.Names, n graph.Node) string {
	switch s.Kind {
	case graph.SourceStacks:
		return "[local vars]"
	case graph.SourceStatics:
		return "[static vars]"
	case graph.SourceThreadStatics:
		return "[thread static vars]"
	case graph.SourceFinalizer:
		return "[finalizer Handles]"
	case graph.SourceHandles:
		return handleName(s.Handle)
	}
	text := names.Text(g, n)
	name := text.S
	if text.Err != nil {
		if name = text.Instead; name == "" {
			name = s.Kind.String()
		}
	}
	if s.Kind == graph.SourceField {
		if s.Thread != nil {
			return "[thread static var " + name + "]"
		}
		return "[static var " + name + "]"
	}
	return "[" + name + "]"
}

func handleName(t heap.HandleType) string {
	switch t {
	case heap.HandlePinned, heap.HandleAsyncPinned:
		return "[pinning Handles]"
	case heap.HandleStrong:
		return "[strong Handles]"
	case heap.HandleDependent:
		return "[Dependent Handles]"
	case heap.HandleRefCounted:
		return "[COM/WinRT Objects]"
	}
	return fmt.Sprintf("[other Handles: %s]", t.Words())
}

// fileNode returns the number in the file of a node of the graph.
func (e *encoder) fileNode(n graph.Node) int64 {
	switch {
	case e.g.IsObject(n):
		return int64(e.nodesOf.number(n))
	case n == e.g.Root():
		return int64(e.nodesOf.objects)
	}
	return int64(e.nodesOf.number(n)) + 1
}

// A numbering numbers the nodes of the file, objects and Sources: all of the graph, or the live ones.
type numbering struct {
	objects int
	live    []uint64 // a bit for each node; nil if the file has all nodes
	before  []uint32 // live nodes before each word of live
}

func numberAll(g *graph.Graph) numbering { return numbering{objects: g.Objects()} }

func numberLive(g *graph.Graph, l *graph.Liveness) numbering {
	words := (g.Nodes() + 63) / 64
	x := numbering{live: make([]uint64, words), before: make([]uint32, words)}
	count := 0
	for n := range graph.Node(g.Nodes()) {
		if n%64 == 0 {
			x.before[n/64] = uint32(count)
		}
		if l.Live(n) {
			x.live[n/64] |= 1 << (n % 64)
			count++
			if g.IsObject(n) {
				x.objects++
			}
		}
	}
	return x
}

// number returns the number of nodes of the file before n, which is one of them.
func (x *numbering) number(n graph.Node) int {
	if x.live == nil {
		return int(n)
	}
	return int(x.before[n/64]) + bits.OnesCount64(x.live[n/64]&(1<<(n%64)-1))
}

// between returns the nodes of the file from one node up to another.
func (x *numbering) between(from, to graph.Node) iter.Seq[graph.Node] {
	return func(yield func(graph.Node) bool) {
		for n := from; n < to; n++ {
			if (x.live == nil || x.live[n/64]&(1<<(n%64)) != 0) && !yield(n) {
				return
			}
		}
	}
}

// pseudoLength returns the number of bytes of a pseudo node in the blob.
func (e *encoder) pseudoLength(i int) int64 {
	length := int64(0)
	e.pseudoNumbers(i, func(v int32) { length += int64(cintLength(v)) })
	return length
}

func (e *encoder) writePseudo(i int) {
	const room = 1 << 16
	buf := make([]byte, 0, room)
	e.pseudoNumbers(i, func(v int32) {
		if buf = appendCint(buf, v); len(buf) > room-8 {
			e.bytes(buf)
			buf = buf[:0]
		}
	})
	e.bytes(buf)
}

// pseudoNumbers calls yield with the numbers of a pseudo node.
func (e *encoder) pseudoNumbers(i int, yield func(int32)) {
	p := &e.pseudo[i]
	own := int64(e.nodesOf.objects + i)
	yield(p.typ * 2)
	yield(int32(len(p.children) + len(p.more)))
	for _, n := range p.children {
		yield(int32(e.fileNode(n) - own))
	}
	for _, n := range p.more {
		yield(int32(n - own))
	}
}
