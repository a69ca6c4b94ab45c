package heapsnapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A slots names the references in objects of a type by offset: from the object's start, or for an array of
// structs from an element's start. Offsets ascend.
type slots struct {
	data    uint64 // offset of an array's elements, else 0
	stride  uint64 // bytes of an element
	offsets []uint64
	names   []uint32
}

// maxSlots is the largest number of named references of one type. The others are named by index.
const maxSlots = 1 << 14

// planSlots names the references of all types.
func (e *encoder) planSlots() error {
	e.slots = make([]slots, len(e.types))
	mem := e.h.Objects.Runtime().Memory()
	for i := range e.types {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		t := &e.types[i]
		desc, err := heap.ReadGCDesc(mem, t.MethodTable)
		if err != nil || desc.Empty() {
			continue // the graph has noted it
		}
		s := &e.slots[i]
		size := uint64(t.BaseSize)
		if t.IsArray() {
			s.data, s.stride = size-min(size, 8), uint64(t.ComponentSize)
			size += s.stride
		}
		o, err := e.h.Objects.Of(heap.Object{Type: t.MethodTable})
		if err != nil {
			continue
		}
		desc.Slots(size, func(off uint64) bool {
			s.offsets = append(s.offsets, off-s.data)
			s.names = append(s.names, e.names.indexOf(slotName(o, s, off)))
			return len(s.offsets) < maxSlots
		})
		if s.stride == 8 && len(s.offsets) == 1 && s.offsets[0] == 0 && !elementIsStruct(o) {
			s.offsets, s.names = nil, nil // array of references: the index is the name
		}
	}
	return nil
}

func elementIsStruct(o objects.Object) bool {
	t, err := o.Type.Element()
	return err == nil && t != nil && t.MT.IsValueType()
}

// slotName returns the name of an offset in an object, or in an element of an array.
func slotName(o objects.Object, s *slots, off uint64) string {
	if s.data == 0 {
		return o.SlotName(off)
	}
	if t, err := o.Type.Element(); err == nil && t != nil {
		if path, _ := t.FieldPath(off - s.data); path != "" {
			return "[]." + path
		}
	}
	return fmt.Sprintf("[]+%#x", off-s.data)
}

// edge returns the type and the name or index of the reference at an offset in an object.
func (s *slots) edge(off uint64, unknown uint32) (typ int, name uint64) {
	element := uint64(0)
	if s.data > 0 && s.stride > 0 && off >= s.data {
		off -= s.data
		if len(s.offsets) == 0 {
			return edgeElement, off / s.stride
		}
		element = off / s.stride
		off -= element * s.stride
	}
	if i, found := slices.BinarySearch(s.offsets, off); found {
		return edgeProperty, uint64(s.names[i])
	}
	return edgeInternal, uint64(unknown)
}

// appendEdge appends an edge. All edges except the first of the file start with a comma. An edge from garbage
// to a live object is weak, because it must not count for retention.
func (e *encoder) appendEdge(b []byte, typ int, name, to uint64, weak bool) []byte {
	if weak {
		if typ == edgeElement { // the index is the name, and weak edges have names
			name = uint64(e.own.unknown)
		}
		typ = edgeWeak
	}
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(typ), 10)
	b = append(b, ',')
	b = strconv.AppendUint(b, name, 10)
	b = append(b, ',')
	b = strconv.AppendUint(b, 6*to, 10)
	return append(b, '\n')
}

func (e *encoder) edges() {
	var b []byte
	flush := func() {
		if len(b) > 1<<16 {
			_ = e.write(b) // kept in e
			b = b[:0]
		}
	}
	for _, to := range e.g.Referents(e.g.Root()) {
		b = e.appendEdge(b, edgeProperty, uint64(e.nameOf(to)), e.fileNode(to), false)
	}
	b = e.appendEdge(b, edgeProperty, uint64(e.own.unreachable), uint64(len(e.sources))+1, false)
	b = b[1:]
	for i := range e.sources {
		source := e.g.SourceNode(i)
		dead := !e.live.Live(source) // a static field of a type that was unloaded
		for k, to := range e.g.Referents(source) {
			if e.g.IsObject(to) {
				b = e.appendEdge(b, edgeElement, uint64(k), e.fileNode(to), dead && e.live.Live(to))
			} else {
				b = e.appendEdge(b, edgeProperty, uint64(e.nameOf(to)), e.fileNode(to), dead && e.live.Live(to))
			}
			flush()
		}
	}
	for k, to := range e.dead {
		b = e.appendEdge(b, edgeElement, uint64(k), e.fileNode(to), false)
		flush()
	}
	_ = e.write(b) // kept in e
	e.eachPiece(func(r *edgeReader, p *pieces.Piece, b []byte) []byte {
		for n := p.From; n < p.To; n++ {
			b = r.append(b, n, p.Address(n))
		}
		return b
	})
}

func (e *encoder) nameOf(n graph.Node) uint32 { return e.sources[int(n)-e.g.Objects()] }

// An edgeReader names the references of objects for one goroutine.
type edgeReader struct {
	e     *encoder
	edges *heap.Edges
}

// append appends the edges of an object in the graph, with the names of their places.
func (r *edgeReader) append(b []byte, n graph.Node, a target.Addr) []byte {
	e := r.e
	to := e.g.Referents(n)
	if len(to) == 0 {
		return b
	}
	s, dead := &e.slots[e.g.TypeIndex(n)], !e.live.Live(n)
	o := heap.Object{Addr: a, Type: e.g.Type(n), Size: e.g.Size(n)}
	for ref, err := range r.edges.Of(&o) {
		if err != nil {
			continue // the graph lacks it too
		}
		if m, known := e.g.Node(ref.Target); known && m == to[0] {
			typ, name := s.edge(uint64(ref.Slot-a), e.own.unknown)
			b = e.appendEdge(b, typ, name, e.fileNode(m), dead && e.live.Live(m))
		} else if !e.g.IsObject(to[0]) {
			b = e.appendEdge(b, edgeProperty, uint64(e.nameOf(to[0])), e.fileNode(to[0]), dead && e.live.Live(to[0]))
		} else {
			continue
		}
		if to = to[1:]; len(to) == 0 {
			return b
		}
	}
	return r.appendOthers(b, &o, to, dead)
}

// appendOthers appends the edges that are not stored in the object.
func (r *edgeReader) appendOthers(b []byte, o *heap.Object, to []graph.Node, dead bool) []byte {
	e := r.e
	allocator, _ := r.edges.LoaderAllocator(o) // the graph has the edge, so it is readable
	for i, m := range to {
		name := e.own.dependent
		switch {
		case !e.g.IsObject(m):
			name = e.nameOf(m)
		case i == len(to)-1 && allocator != 0 && e.g.Address(m) == allocator:
			name = e.own.allocator
		}
		b = e.appendEdge(b, edgeInternal, uint64(name), e.fileNode(m), dead && e.live.Live(m))
	}
	return b
}

func (e *encoder) eachPiece(encode func(*edgeReader, *pieces.Piece, []byte) []byte) {
	if e.err != nil {
		return
	}
	state := func() *edgeReader { return &edgeReader{e, e.g.Heap().Edges(heap.EdgeOptions{})} }
	err := pieces.InOrder(e.ctx, e.h, state, func(r *edgeReader, p *pieces.Piece, reuse []byte) ([]byte, error) {
		return encode(r, p, reuse[:0]), nil
	}, e.write)
	e.err = cmp.Or(e.err, err)
}

// A textState reads the text of strings for one goroutine.
type textState struct {
	texts *heap.Texts
	raw   []byte
}

func (e *encoder) textState() *textState { return &textState{texts: e.g.Heap().Texts()} }

// append appends the text of a string as a JSON string of at most chars characters. It replaces an unreadable
// text by the reason.
func (s *textState) append(b []byte, a target.Addr, chars int) ([]byte, error) {
	var err error
	if s.raw, _, err = s.texts.Append(s.raw[:0], a, chars); err != nil {
		return jsonenc.AppendString(b, answer.Absent(err)), err
	}
	return jsonenc.AppendString(b, string(s.raw)), nil
}
