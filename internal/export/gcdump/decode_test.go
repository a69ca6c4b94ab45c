package gcdump_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

// A decoded file. The decoder follows the rules of the format, independent of the encoder.
type decoded struct {
	total       int64
	root        int32
	types       []decodedType
	nodes       []decodedNode
	segments    [][7]int64
	process     string
	id          int32
	time        int64
	machine     string
	log, tool   string
	multipliers int
}

type decodedType struct {
	name, module string
	size         int32
}

type decodedNode struct {
	typ, size int32
	children  []int32
	address   uint64
}

type decoder struct {
	b     []byte
	at    int
	out   decoded
	known map[uint32]objectType // by where they begin
}

// An objectType is a type of FastSerialization.
type objectType struct {
	name    string
	version int32
}

var errForm = errors.New("not in the form")

// decode reads a whole file. It returns an error for an invalid file.
func decode(b []byte) (out *decoded, err error) {
	d := &decoder{b: b, known: map[uint32]objectType{}}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("at %d of %d: %v", d.at, len(b), v)
		}
	}()
	d.file()
	return &d.out, nil
}

func (d *decoder) want(ok bool) {
	if !ok {
		panic(errForm)
	}
}

func (d *decoder) byte() byte    { d.at++; return d.b[d.at-1] }
func (d *decoder) int32() int32  { d.at += 4; return int32(binary.LittleEndian.Uint32(d.b[d.at-4:])) }
func (d *decoder) int64() int64  { d.at += 8; return int64(binary.LittleEndian.Uint64(d.b[d.at-8:])) }
func (d *decoder) tag(want byte) { d.want(d.byte() == want) }

func (d *decoder) string() (string, bool) {
	n := d.int32()
	if n < 0 {
		return "", false
	}
	var units []uint16
	for range n {
		b := uint16(d.byte())
		switch {
		case b < 0x80:
		case b < 0xe0:
			b = b&0x1f<<6 | uint16(d.byte())&0x3f
		default:
			b = b&0xf<<12 | uint16(d.byte())&0x3f<<6
			b |= uint16(d.byte()) & 0x3f
		}
		units = append(units, b)
	}
	return string(utf16.Decode(units)), true
}

// begin reads the begin of an object and returns its type.
func (d *decoder) begin() objectType {
	d.tag(4)
	at := uint32(d.at)
	switch d.byte() {
	case 2:
		return d.known[uint32(d.int32())]
	case 4:
		d.tag(1)
		t := objectType{version: d.int32()}
		d.int32()
		t.name, _ = d.string()
		d.tag(6)
		d.known[at] = t
		return t
	}
	panic(errForm)
}

func (d *decoder) file() {
	name, _ := d.string()
	d.want(name == "!FastSerialization.1")
	d.want(d.begin().name == "GCHeapDump")
	d.graph()
	d.want(d.byte() <= 1)
	d.int32()
	d.int32()
	d.tag(1)
	if d.b[d.at] == 1 {
		d.at++
	} else {
		d.want(d.begin().name == "DotNetHeapInfo")
		d.int64()
		for range d.int32() {
			t := d.begin()
			d.want(t.name == "GCHeapDumpSegment")
			var s [7]int64
			for i := range 6 + t.version { // version 0 knew no pinned objects
				s[i] = d.int64()
			}
			d.out.segments = append(d.out.segments, s)
			d.tag(6)
		}
		d.tag(6)
	}
	d.out.log, _ = d.string()
	d.out.time = d.int64()
	d.out.machine, _ = d.string()
	d.out.process, _ = d.string()
	d.out.id = d.int32()
	d.int64()
	d.int64()
	d.out.multipliers = int(d.int32())
	d.at += 4 * d.out.multipliers
	d.tag(12)
	d.want(d.int32() == 0)
	last := func(back int) int { return int(binary.LittleEndian.Uint32(d.b[len(d.b)-back:])) }
	interop := last(12) // where what may be skipped ends
	if d.b[d.at] == 1 {
		d.at++
		d.want(d.at == interop)
	} else {
		d.tag(4) // information about COM, which sosgo does not write
		d.at = interop
	}
	if d.b[d.at] == 13 {
		d.tag(13)
		d.out.tool, _ = d.string()
	}
	d.tag(6)
	d.tag(6)
	forward := d.at
	d.want(d.int32() == 1)
	d.want(d.int32() == int32(interop))
	trailer := d.at
	d.want(d.int32() == int32(forward))
	d.want(d.int32() == int32(trailer))
	d.want(d.at == len(d.b))
}

func (d *decoder) graph() {
	d.want(d.begin().name == "Graphs.MemoryGraph")
	d.out.total = d.int64()
	d.out.root = d.int32()
	for range d.int32() {
		var t decodedType
		t.name, _ = d.string()
		t.size = d.int32()
		t.module, _ = d.string()
		d.out.types = append(d.out.types, t)
	}
	labels := make([]int32, d.int32())
	for i := range labels {
		labels[i] = d.int32()
	}
	n := int(d.int32())
	blob := d.b[d.at : d.at+n]
	d.at += n
	d.out.nodes = make([]decodedNode, len(labels))
	used := 2
	for i, at := range labels {
		used += d.node(&d.out.nodes[i], int32(i), blob, int(at))
	}
	d.want(int(d.int32()) == len(labels))
	for i := range d.out.nodes {
		d.out.nodes[i].address = uint64(d.int64())
	}
	d.tag(8)
	d.want(d.byte() <= 1)
	d.tag(6)
	d.want(used == n)
}

// node reads a node of the blob and returns its length.
func (d *decoder) node(n *decodedNode, own int32, blob []byte, at int) int {
	from := at
	cint := func() int32 {
		b := blob[at]
		at++
		v := int32(b) << 25 >> 25
		for b&0x80 != 0 {
			b = blob[at]
			at++
			v = v<<7 | int32(b&0x7f)
		}
		return v
	}
	t := cint()
	n.typ = t >> 1
	n.size = d.out.types[n.typ].size
	if t&1 != 0 {
		n.size = cint()
	}
	for range cint() {
		child := own + cint()
		d.want(child >= 0 && int(child) < len(d.out.nodes))
		n.children = append(n.children, child)
	}
	if from == 0 {
		return 0 // the undefined node replaces nodes that the file omits
	}
	return at - from
}
