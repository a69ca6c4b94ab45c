// Package heappprof writes a heap as a profile. The stack of a sample is the path of dominators of its objects,
// by type, from what keeps them alive on. In pprof (and Pyroscope, Parca, speedscope, flame graphs) flat is the
// size of the objects themselves, and cum their retained size. It does not compute dominators; package graph
// does. Start at Read.
//
// Consecutive owners of the same type, such as the nodes of a list, share a frame. Objects that retain less
// than Options.Least are summed by type below their owner, so that large objects bound the size of a profile.
// No object is left out. The order is fixed.
package heappprof

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/target"
)

// Options select the details of a profile.
type Options struct {
	// Least is the retained size in bytes from which an object gets its own frame; 0 means a millionth of the
	// heap.
	Least   uint64
	Garbage bool // include garbage below a frame "(garbage)"
}

// maxDepth is the largest number of frames in a path.
const maxDepth = 64

// A Profile holds the paths of a heap.
type Profile struct {
	answer.Gaps
	Objects, Size uint64 // of all samples

	frames []frame
	nodes  []node
	index  map[nodeKey]int32
	masked func(name string) string
}

// A frame is a type, or something that keeps objects alive.
type frame struct{ name, assembly string }

// A node is a path: its last frame, and the path before it. Paths that samples end in have sums.
type node struct {
	nodeKey
	depth int32
	sums  [heap.GenerationUnknown + 1]sum
}

type nodeKey struct{ parent, frame int32 }

type sum struct{ objects, size int64 }

// noNode is the parent of the first frames.
const noNode = -1

// Read makes the profile of a heap.
func Read(ctx context.Context, h *pieces.Heap, o Options) (*Profile, error) {
	ctx, done, err := h.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	d, err := h.Graph.Dominators(ctx)
	if err != nil {
		return nil, err
	}
	p := &Profile{index: map[nodeKey]int32{}, masked: h.Masked}
	p.NoteAll(h.Graph.Stats().Warnings())
	r := reader{p: p, h: h, g: h.Graph, d: d, least: o.Least, names: h.Graph.Names(h.Objects)}
	if r.least == 0 {
		r.least = (d.Retained(h.Graph.Root()) + d.Retained(d.Garbage())) / 1_000_000
	}
	r.frames()
	if err := r.below(ctx, h.Graph.Root(), noNode); err != nil {
		return nil, err
	}
	if o.Garbage {
		return p, r.below(ctx, d.Garbage(), p.child(noNode, p.frame("(garbage)", "")))
	}
	return p, nil
}

// A reader walks down the dominators.
type reader struct {
	p     *Profile
	h     *pieces.Heap
	g     *graph.Graph
	d     *graph.Dominators
	names *graph.Names
	least uint64
	cut   bool // there are too many paths

	shared  int32 // the frame for objects that several roots keep alive
	segment *heap.Segment
}

func (r *reader) frames() {
	for _, t := range r.h.Types(&r.p.Gaps) {
		r.p.frame(t.Name, t.Assembly)
	}
	r.shared = r.p.frame("(several roots)", "")
}

// A step is a node to visit.
type step struct {
	n      graph.Node
	path   int32
	folded bool // too small for frames: objects are summed by type below path
}

// below adds everything that n dominates below path.
func (r *reader) below(ctx context.Context, n graph.Node, path int32) error {
	steps, children := []step{{n, path, false}}, []graph.Node(nil)
	for i := 0; len(steps) > 0; i++ {
		if i%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s := steps[len(steps)-1]
		steps = steps[:len(steps)-1]
		if s.n != n {
			s.path, s.folded = r.visit(s)
		}
		var err error
		if children, err = r.d.AppendChildren(ctx, children[:0], s.n); err != nil {
			return err
		}
		for _, c := range children {
			next := step{c, s.path, s.folded || r.g.IsObject(c) && r.d.Retained(c) < r.least}
			if s.n == r.g.Root() && r.g.IsObject(c) {
				next.path = r.p.child(s.path, r.shared)
			}
			steps = append(steps, next)
		}
	}
	return nil
}

// visit adds a node, and returns the path for what it dominates.
func (r *reader) visit(s step) (path int32, folded bool) {
	if !r.g.IsObject(s.n) {
		return r.p.child(s.path, r.source(s.n)), s.folded
	}
	a := r.g.Address(s.n)
	if r.segment == nil || !r.segment.Objects.Contains(a) {
		r.segment = r.g.Heap().Segment(a)
	}
	gen := heap.GenerationUnknown
	if r.segment != nil {
		gen = r.segment.Generation(a)
	}
	at := r.object(s)
	size := r.g.Size(s.n)
	sum := &r.p.nodes[at].sums[gen]
	sum.objects++
	sum.size += int64(size)
	r.p.Objects++
	r.p.Size += size
	if s.folded {
		return s.path, true
	}
	return at, r.p.nodes[at].depth >= maxDepth
}

// object returns the path that ends with an object. It is the path before it if that ends with the same type.
func (r *reader) object(s step) int32 {
	typ := int32(r.g.TypeIndex(s.n))
	if s.path != noNode && r.p.nodes[s.path].frame == typ {
		return s.path
	}
	if at, known := r.p.index[nodeKey{s.path, typ}]; known {
		return at
	}
	if len(r.p.nodes) >= limits.PathNodes && s.path != noNode {
		if !r.cut {
			r.cut = true
			r.p.Note(target.Unsupportedf("the heap has more than %d paths: what is beyond stands with its owners", limits.PathNodes))
		}
		return s.path
	}
	return r.p.child(s.path, typ)
}

// source returns the frame of a root or another Source.
func (r *reader) source(n graph.Node) int32 {
	text := r.names.Text(&r.p.Gaps, n)
	name := text.S
	if text.Err != nil {
		name = text.Instead
	}
	if s := r.g.Source(n); name == "" {
		name = s.Kind.String()
	} else if s.Kind == graph.SourceField {
		name = "static " + name
	}
	return r.p.frame(name, "")
}

// frame adds a frame. Each type has its own. Frames of Sources with the same name differ by assembly.
func (p *Profile) frame(name, assembly string) int32 {
	p.frames = append(p.frames, frame{p.masked(name), p.masked(assembly)})
	return int32(len(p.frames) - 1)
}

// child returns the path that continues parent with a frame.
func (p *Profile) child(parent, frame int32) int32 {
	k := nodeKey{parent, frame}
	at, known := p.index[k]
	if !known {
		at = int32(len(p.nodes))
		p.index[k] = at
		n := node{nodeKey: k, depth: 1}
		if parent != noNode {
			n.depth = p.nodes[parent].depth + 1
		}
		p.nodes = append(p.nodes, n)
	}
	return at
}

// Paths returns the number of distinct paths of objects.
func (p *Profile) Paths() int {
	n := 0
	for i := range p.nodes {
		if objects, _ := p.nodes[i].total(); objects > 0 {
			n++
		}
	}
	return n
}

func (n *node) total() (objects, size int64) {
	for _, s := range n.sums {
		objects += s.objects
		size += s.size
	}
	return objects, size
}

// path returns the frames of a node from the last on.
func (p *Profile) path(dst []int32, at int32) []int32 {
	for ; at != noNode; at = p.nodes[at].parent {
		dst = append(dst, p.nodes[at].frame)
	}
	return dst
}
