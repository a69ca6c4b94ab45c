package gcdump

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/target"
)

var le = binary.LittleEndian

// Tags of FastSerialization.
const (
	tagNull       = 1
	tagReference  = 2
	tagBegin      = 4
	tagEnd        = 6
	tagByte       = 8
	tagSkipRegion = 12
	tagString     = 13
)

// sizeSuffixes distinguish large arrays and strings from small ones of the same type, like PerfView's reader of
// heaps.
var sizeSuffixes = [...]string{"", " (Bytes > 1K)", " (Bytes > 10K)", " (Bytes > 100K)", " (Bytes > 1M)", " (Bytes > 10M)", " (Bytes > 100M)"}

// sizeClass returns the index of the suffix for an array or string of the size.
func sizeClass(size uint64) int {
	class := 0
	for least := uint64(1000); class < len(sizeSuffixes)-1 && size >= least; least *= 10 {
		class++
	}
	return class
}

type fileType struct {
	name, module string
	hasModule    bool
	size         int32 // size of its first node; nodes of the same size omit it
}

type encoder struct {
	out
	ctx     context.Context
	h       *pieces.Heap
	g       *graph.Graph
	summary *Summary

	types   []fileType
	byClass [][len(sizeSuffixes)]int32 // by TypeIndex and sizeClass: index in types, or 0
	classes []bool                     // by TypeIndex: size classes apply
	nodesOf numbering
	garbage bool // nodesOf includes garbage
	pseudo  []pseudoNode
	pieces  []int64 // offset in the blob of each piece of objects, then of each pseudo node, and the end
	total   int64   // bytes of all objects
}

// plan lists the types, and computes the offset in the blob of each piece of nodes.
func (e *encoder) plan() error {
	e.planTypes()
	if err := e.planPseudo(); err != nil {
		return err
	}
	at := int64(2) // after the undefined node
	type sums struct {
		bytes, size int64
		edges       uint64
		shortened   int
	}
	err := pieces.InOrder(e.ctx, e.h, pieces.None, func(_ struct{}, p *pieces.Piece, _ sums) (s sums, _ error) {
		for n := range e.nodesOf.between(p.From, p.To) {
			length, size := e.nodeLength(n)
			s.bytes += int64(length)
			s.size += int64(size)
			s.edges += uint64(len(e.g.Referents(n)))
			if e.g.Size(n) > maxSize {
				s.shortened++
			}
		}
		return s, nil
	}, func(s sums) error {
		e.pieces = append(e.pieces, at)
		at += s.bytes
		e.total += s.size
		e.summary.Edges += s.edges
		e.summary.Shortened += s.shortened
		return nil
	})
	if err != nil {
		return err
	}
	for i := range e.pseudo {
		e.pieces = append(e.pieces, at)
		at += e.pseudoLength(i)
	}
	e.pieces = append(e.pieces, at)
	s := e.summary
	s.Objects, s.Nodes, s.Types, s.Size = uint64(e.nodesOf.objects), e.nodes(), len(e.types), uint64(e.total)
	s.NoteAll(e.g.Stats().Warnings())
	return checkSize(e.nodes(), at)
}

// nodes returns the number of nodes of the file: the objects in the graph's order, then the pseudo nodes.
func (e *encoder) nodes() int { return e.nodesOf.objects + len(e.pseudo) }

// planTypes lists the types of objects in the order of their first objects.
func (e *encoder) planTypes() {
	known := e.h.Types(&e.summary.Gaps)
	e.types = []fileType{{name: "UNDEFINED"}}
	e.byClass = make([][len(sizeSuffixes)]int32, len(known))
	e.classes = make([]bool, len(known))
	for i := range known {
		e.classes[i] = known[i].HasComponents()
	}
	for n := range e.nodesOf.between(0, graph.Node(e.g.Objects())) {
		i, size := e.g.TypeIndex(n), e.g.Size(n)
		class := 0
		if e.classes[i] {
			class = sizeClass(size)
		}
		if at := &e.byClass[i][class]; *at == 0 {
			*at = int32(len(e.types))
			t := &known[i]
			e.types = append(e.types, fileType{t.Name + sizeSuffixes[class], t.Path, t.Path != "", int32(min(size, maxSize))})
		}
	}
}

// typeOf returns the type of an object in the file, and its size there.
func (e *encoder) typeOf(n graph.Node) (index, size int32) {
	i, bytes := e.g.TypeIndex(n), e.g.Size(n)
	class := 0
	if e.classes[i] {
		class = sizeClass(bytes)
	}
	return e.byClass[i][class], int32(min(bytes, maxSize))
}

// nodeLength returns the bytes of an object in the blob, and its size.
func (e *encoder) nodeLength(n graph.Node) (length int, size int32) {
	t, size := e.typeOf(n)
	if e.types[t].size == size {
		length = cintLength(t * 2)
	} else {
		length = cintLength(t*2+1) + cintLength(size)
	}
	to, own := e.g.Referents(n), e.fileNode(n)
	length += cintLength(int32(len(to)))
	for _, m := range to {
		length += cintLength(int32(e.fileNode(m) - own))
	}
	return length, size
}

// appendNode appends an object in the blob's form.
func (e *encoder) appendNode(dst []byte, n graph.Node) []byte {
	t, size := e.typeOf(n)
	if e.types[t].size == size {
		dst = appendCint(dst, t*2)
	} else {
		dst = appendCint(appendCint(dst, t*2+1), size)
	}
	to, own := e.g.Referents(n), e.fileNode(n)
	dst = appendCint(dst, int32(len(to)))
	for _, m := range to {
		dst = appendCint(dst, int32(e.fileNode(m)-own))
	}
	return dst
}

func (e *encoder) file(o Options) {
	e.string("!FastSerialization.1")
	e.begin("GCHeapDump", 10, 8)
	e.graph()
	e.bool(true)
	e.int32(int32(math.Float32bits(1)))
	e.int32(int32(math.Float32bits(1)))
	e.byte(tagNull) // JavaScript heap
	e.segments()
	e.string(e.summary.logText())
	e.int64(dateTime(o.Time))
	e.string(o.Machine)
	e.string(o.Process)
	e.int32(int32(o.ID))
	e.int64(0) // committed memory and working set
	e.int64(0)
	e.int32(0) // multipliers of types: nothing was sampled
	e.byte(tagSkipRegion)
	e.int32(0)
	e.byte(tagNull) // COM information
	interopEnd := e.at
	e.byte(tagString)
	e.string("sosgo")
	e.byte(tagEnd)
	e.byte(tagEnd)
	forward := e.at
	e.int32(1)
	e.label(interopEnd)
	trailer := e.at
	e.label(forward)
	e.label(trailer)
}

// begin starts an object of a type that was not used before.
func (e *encoder) begin(name string, version, reader int32) {
	e.byte(tagBegin)
	e.typeObject(name, version, reader)
}

func (e *encoder) typeObject(name string, version, reader int32) {
	e.byte(tagBegin)
	e.byte(tagNull)
	e.int32(version)
	e.int32(reader)
	e.string(name)
	e.byte(tagEnd)
}

func (e *encoder) graph() {
	e.begin("Graphs.MemoryGraph", 1, 0)
	e.int64(e.total)
	e.int32(int32(e.nodesOf.objects)) // the root, the first pseudo node
	e.int32(int32(len(e.types)))
	for i := range e.types {
		t := &e.types[i]
		e.string(e.h.Masked(t.name))
		e.int32(t.size)
		if t.hasModule {
			e.string(e.h.Masked(t.module))
		} else {
			e.int32(-1)
		}
	}
	e.int32(int32(e.nodes()))
	e.labels()
	e.int32(int32(e.pieces[len(e.pieces)-1]))
	e.blob()
	e.int32(int32(e.nodes()))
	e.addresses()
	e.byte(tagByte)
	e.bool(true) // 64 bits
	e.byte(tagEnd)
}

// labels writes the offset of each node in the blob.
func (e *encoder) labels() {
	e.eachPiece(func(p *pieces.Piece, dst []byte) []byte {
		at := e.pieces[p.Index]
		for n := range e.nodesOf.between(p.From, p.To) {
			dst = le.AppendUint32(dst, uint32(at))
			length, _ := e.nodeLength(n)
			at += int64(length)
		}
		return dst
	})
	objects := len(e.pieces) - 1 - len(e.pseudo)
	for i := range e.pseudo {
		e.label(e.pieces[objects+i])
	}
}

func (e *encoder) blob() {
	e.byte(0) // the undefined node: type 0
	e.byte(0) // without children
	e.eachPiece(func(p *pieces.Piece, dst []byte) []byte {
		for n := range e.nodesOf.between(p.From, p.To) {
			dst = e.appendNode(dst, n)
		}
		return dst
	})
	for i := range e.pseudo {
		e.writePseudo(i)
	}
}

// addresses writes the addresses of objects.
func (e *encoder) addresses() {
	e.eachPiece(func(p *pieces.Piece, dst []byte) []byte {
		for n := range e.nodesOf.between(p.From, p.To) {
			dst = le.AppendUint64(dst, uint64(p.Address(n)))
		}
		return dst
	})
	for range e.pseudo {
		e.int64(0)
	}
}

func (e *encoder) eachPiece(encode func(*pieces.Piece, []byte) []byte) {
	if e.err != nil {
		return
	}
	err := pieces.InOrder(e.ctx, e.h, pieces.None, func(_ struct{}, p *pieces.Piece, reuse []byte) ([]byte, error) {
		return encode(p, reuse[:0]), nil
	}, func(b []byte) error {
		e.bytes(b)
		return e.err
	})
	e.err = cmp.Or(e.err, err)
}

// segments writes the DotNetHeapInfo, from which PerfView finds generations.
func (e *encoder) segments() {
	e.begin("DotNetHeapInfo", 0, 0)
	list := e.g.Heap().Segments()
	size := int64(0)
	for i := range list {
		size += int64(list[i].Objects.Size())
	}
	e.int64(size)
	e.int32(int32(len(list)))
	label := int64(0)
	for i := range list {
		e.byte(tagBegin)
		if i == 0 {
			label = e.at
			e.typeObject("GCHeapDumpSegment", 1, 1)
		} else {
			e.byte(tagReference)
			e.label(label)
		}
		e.int64(int64(list[i].Objects.Start))
		e.int64(int64(list[i].Objects.End))
		for _, end := range generationEnds(&list[i]) {
			e.int64(int64(end))
		}
		e.byte(tagEnd)
	}
	e.byte(tagEnd)
}

// generationEnds returns the ends of generations 0, 1 and 2, of large and of pinned objects, in PerfView's
// form: an address belongs to the last of them with a greater end. Objects of frozen segments have no
// generation, and count as generation 2.
func generationEnds(s *heap.Segment) (ends [5]target.Addr) {
	set := func(g int, end target.Addr) {
		for i := range g + 1 {
			ends[i] = end
		}
	}
	for i := range ends {
		ends[i] = s.Objects.Start
	}
	switch s.Kind {
	case heap.KindEphemeral:
		ends[0], ends[1], ends[2] = s.Objects.End, s.Gen0.Start, s.Gen1.Start
	case heap.KindGeneration0:
		set(0, s.Objects.End)
	case heap.KindGeneration1:
		set(1, s.Objects.End)
	case heap.KindLarge:
		set(3, s.Objects.End)
	case heap.KindPinned:
		set(4, s.Objects.End)
	default:
		set(2, s.Objects.End)
	}
	return ends
}

// appendCint appends a number in groups of 7 bits, the highest first.
func appendCint(dst []byte, v int32) []byte {
	switch cintLength(v) {
	case 1:
		return append(dst, byte(v)&0x7f)
	case 2:
		return append(dst, byte(v>>7)|0x80, byte(v)&0x7f)
	case 3:
		return append(dst, byte(v>>14)|0x80, byte(v>>7)|0x80, byte(v)&0x7f)
	case 4:
		return append(dst, byte(v>>21)|0x80, byte(v>>14)|0x80, byte(v>>7)|0x80, byte(v)&0x7f)
	}
	return append(dst, byte(v>>28)|0x80, byte(v>>21)|0x80, byte(v>>14)|0x80, byte(v>>7)|0x80, byte(v)&0x7f)
}

// cintLength returns the number of bytes that appendCint appends.
func cintLength(v int32) int {
	switch {
	case v<<25>>25 == v:
		return 1
	case v<<18>>18 == v:
		return 2
	case v<<11>>11 == v:
		return 3
	case v<<4>>4 == v:
		return 4
	}
	return 5
}

// appendString appends a string: its number of UTF-16 code units, and each of them in UTF-8, including halves
// of surrogates.
func appendString(dst []byte, s string) []byte {
	units := utf16text.Units(s)
	dst = le.AppendUint32(dst, uint32(len(units)))
	for _, u := range units {
		switch {
		case u < 0x80:
			dst = append(dst, byte(u))
		case u < 0x800:
			dst = append(dst, 0xc0|byte(u>>6), 0x80|byte(u&0x3f))
		default:
			dst = append(dst, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
		}
	}
	return dst
}
