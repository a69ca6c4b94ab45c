package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

const (
	r2rSectionDebugInfo = 105 // ReadyToRunSectionType::DebugInfo
	r2rPackedBounds     = 16  // the first major version with packed bounds
)

// An r2rDebug is the section of an image with the debug information of its methods.
type r2rDebug struct {
	section []byte
	at      target.Addr // address of the section
	methods nativeArray
	packed  bool
}

// imageDebugInfo finds the debug information of a precompiled method by the index of its RUNTIME_FUNCTION.
func (r *CodeReader) imageDebugInfo(c *members, info CodeInfo) (codeinfo.DebugInfo, error) {
	var none codeinfo.DebugInfo
	im, err := r.imageOf(c, info)
	if err != nil {
		return none, err
	}
	d, err := im.debug.Get(func() (*r2rDebug, error) { return r.readR2RDebug(info) })
	if err != nil {
		return none, err
	}
	entry, ok, err := d.methods.at(uint32(info.index))
	if err == nil && !ok {
		err = errNoDebugInfo
	}
	if err != nil {
		return none, err
	}
	// Methods with the same information share it: the number is the distance back to it.
	data := nativeReader{b: d.section, pos: entry}
	if back := int64(data.uint()); back != 0 {
		if back > int64(entry) {
			return none, target.Corruptf("debug information %d bytes before the start", back-int64(entry))
		}
		data.pos = entry - int(back)
	}
	// The contract describes one format for images and for code compiled in the process.
	return codeinfo.DebugInfo{Mem: im.mem, At: d.at + target.Addr(data.pos), Chunks: c.debugInfo.Chunks != 0, Packed: d.packed}, data.err
}

func (r *CodeReader) readR2RDebug(info CodeInfo) (*r2rDebug, error) {
	h, err := r.r2rHeader(info)
	if err != nil {
		return nil, err
	}
	at, err := h.section(r2rSectionDebugInfo)
	if err != nil {
		return nil, err
	}
	if at.Size() == 0 {
		return nil, errNoDebugInfo
	}
	if at.Size() > limits.DebugInfoBytes {
		return nil, target.Corruptf("%d bytes of debug information", at.Size())
	}
	b, err := target.Bytes(h.mem, at.Start, int(at.Size()))
	if err != nil {
		what := "variables and lines of precompiled code"
		if m := target.ModuleAt(r.Runtime().Target().Modules(), h.base); m != nil {
			what += " of " + target.BaseName(m.Path)
		}
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	d := &r2rDebug{section: b, at: at.Start, packed: h.major >= r2rPackedBounds}
	d.methods, err = newNativeArray(b)
	return d, err
}

// A nativeReader reads the numbers of NativeFormat (nativeformatreader.h). The low bits of the first byte
// encode the length. err is the first failure.
type nativeReader struct {
	b   []byte
	pos int
	err error
}

func (r *nativeReader) byte() uint32 {
	if r.err != nil || r.pos < 0 || r.pos >= len(r.b) {
		if r.err == nil {
			r.err = target.Corruptf("number at %#x of %#x bytes", r.pos, len(r.b))
		}
		return 0
	}
	v := r.b[r.pos]
	r.pos++
	return uint32(v)
}

// fixed reads a number of n bytes, the lowest first.
func (r *nativeReader) fixed(n int) uint32 {
	v := uint32(0)
	for i := range n {
		v |= r.byte() << (8 * i)
	}
	return v
}

func (r *nativeReader) uint() uint32 {
	first := r.byte()
	for n := range 4 { // n ones, then a zero: n more bytes
		if first>>n&1 == 0 {
			return first>>(n+1) | r.fixed(n)<<(7-n)
		}
	}
	if first>>4&1 == 0 {
		return r.fixed(4)
	}
	if r.err == nil {
		r.err = target.Corruptf("number at %#x starts with %#x", r.pos-1, first)
	}
	return 0
}

// A nativeArray is a sparse array of NativeFormat (nativeformatreader.h, NativeArray). A table has an entry for
// each sixteen elements: the root of a binary tree.
type nativeArray struct {
	b         []byte
	count     uint32
	table     int // offset of the table
	entrySize int // bytes
}

const nativeBlock = 16

func newNativeArray(b []byte) (nativeArray, error) {
	r := nativeReader{b: b}
	head := r.uint()
	a := nativeArray{b: b, count: head >> 2, table: r.pos}
	switch head & 3 {
	case 0:
		a.entrySize = 1
	case 1:
		a.entrySize = 2
	default:
		a.entrySize = 4
	}
	return a, r.err
}

// at returns the offset of the data of element index.
func (a *nativeArray) at(index uint32) (offset int, ok bool, err error) {
	if index >= a.count {
		return 0, false, nil
	}
	r := nativeReader{b: a.b, pos: a.table + a.entrySize*int(index/nativeBlock)}
	pos := a.table + int(r.fixed(a.entrySize))
	for bit := uint32(nativeBlock >> 1); bit > 0; bit >>= 1 {
		node := nativeReader{b: a.b, pos: pos, err: r.err}
		v := node.uint()
		if node.err != nil {
			return 0, false, node.err
		}
		switch {
		case index&bit != 0 && v&2 != 0:
			pos += int(v >> 2)
		case index&bit == 0 && v&1 != 0:
			pos = node.pos
		case v&3 == 0 && v>>2 == index&(nativeBlock-1):
			return node.pos, true, nil
		default:
			return 0, false, nil
		}
	}
	if pos < 0 || pos >= len(a.b) {
		return 0, false, target.Corruptf("element %d at %#x of %#x bytes", index, pos, len(a.b))
	}
	return pos, true, nil
}
