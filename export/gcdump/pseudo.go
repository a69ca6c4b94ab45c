package gcdump

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
)

// A pseudoNode is a node that is no object: it has no size and no address, and its type is its name. The first one is the
// root of the file, after it come the Sources of the graph in their order, then what the file adds.
type pseudoNode struct {
	typ      int32
	children []graph.Node // nodes of the graph
	more     []int64      // nodes of the file
}

func (e *encoder) planPseudo() error {
	d, err := e.g.Dominators(e.ctx)
	if err != nil {
		return err
	}
	dead, err := d.Children(e.ctx, d.Garbage())
	if err != nil {
		return err
	}
	names := e.g.Names(e.h.Objects)
	sources := e.g.Nodes() - e.g.Objects() - 1
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
	other := int64(e.g.Objects() + sources + 1)
	var own, others []graph.Node // children of the root itself, and of [other roots]
	for _, n := range e.g.Referents(e.g.Root()) {
		switch e.g.Source(n).Kind {
		case graph.SourceStacks, graph.SourceStatics, graph.SourceThreadStatics:
			own = append(own, n)
		default:
			others = append(others, n)
		}
	}
	add("[.NET Roots]", own, other, other+1)
	for i := range sources {
		n := e.g.SourceNode(i)
		add(sourceName(&e.summary.Gaps, e.g.Source(n), names, n), e.g.Referents(n))
	}
	add("[other roots]", others)
	add("[unreachable]", dead)
	return nil
}

// sourceName returns the name of a Source, as PerfView's views know it where they do.
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
		return int64(n)
	case n == e.g.Root():
		return int64(e.g.Objects())
	}
	return int64(n) + 1
}

// pseudoLength returns how many bytes a pseudo node takes in the blob.
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

// pseudoNumbers calls yield with the numbers that a pseudo node is made of.
func (e *encoder) pseudoNumbers(i int, yield func(int32)) {
	p := &e.pseudo[i]
	own := int64(e.g.Objects() + i)
	yield(p.typ * 2)
	yield(int32(len(p.children) + len(p.more)))
	for _, n := range p.children {
		yield(int32(e.fileNode(n) - own))
	}
	for _, n := range p.more {
		yield(int32(n - own))
	}
}
