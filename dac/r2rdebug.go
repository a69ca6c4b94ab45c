package dac

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

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
	methods nativeArray
	packed  bool
	name    string // of the image's file, or empty
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
	at, err := d.of(uint32(info.index))
	// The contract describes one format for images and for code compiled in the process.
	return codeinfo.DebugInfo{Mem: im.mem, At: at, Chunks: c.debugInfo.Chunks != 0, Packed: d.packed}, d.explain(err)
}

// explain adds what is missing, and of which file, to the error of a read.
func (d *r2rDebug) explain(err error) error {
	if !errors.Is(err, target.ErrNotInDump) {
		return err
	}
	return fmt.Errorf("%s: %w", strings.TrimSuffix("variables and lines of precompiled code of "+d.name, " of "), err)
}

// of returns the address of a method's debug information.
func (d *r2rDebug) of(index uint32) (target.Addr, error) {
	entry, ok, err := d.methods.at(index)
	if err == nil && !ok {
		err = errNoDebugInfo
	}
	if err != nil {
		return 0, err
	}
	// Methods with the same information share it: the number is the distance back to it.
	data := d.methods.read(entry)
	switch back := int64(data.uint()); {
	case back > int64(entry):
		return 0, target.Corruptf("debug information %d bytes before the start", back-int64(entry))
	case back != 0:
		data.pos = -int(back)
	}
	return d.methods.section.Start + target.Addr(entry+data.pos), data.err
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
	d := &r2rDebug{packed: h.major >= r2rPackedBounds}
	if m := target.ModuleAt(r.Runtime().Target().Modules(), h.base); m != nil {
		d.name = target.BaseName(m.Path)
	}
	d.methods, err = newNativeArray(h.mem, at)
	return d, d.explain(err)
}

// A nativeReader reads the numbers of NativeFormat (nativeformatreader.h). The low bits of the first byte
// encode the length. err is the first failure.
type nativeReader struct {
	b   []byte
	pos int
	end error // why b ends, if more bytes follow
	err error
}

func (r *nativeReader) byte() uint32 {
	if r.err != nil || r.pos < 0 || r.pos >= len(r.b) {
		if r.err == nil {
			r.err = cmp.Or(r.end, target.Corruptf("number at %#x of %#x bytes", r.pos, len(r.b)))
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
// each sixteen elements: the root of a binary tree. Only the numbers on the way to an element are read: a dump may lack others.
type nativeArray struct {
	mem       target.Memory
	section   target.Range
	count     uint32
	table     int // offset of the table
	entrySize int // bytes
}

const (
	nativeBlock  = 16
	nativeNumber = 5 // bytes of the longest number
)

func newNativeArray(mem target.Memory, section target.Range) (nativeArray, error) {
	a := nativeArray{mem: mem, section: section}
	r := a.read(0)
	head := r.uint()
	a.count, a.table, a.entrySize = head>>2, r.pos, 1<<min(head&3, 2)
	return a, r.err
}

// read returns a reader of the number at an offset.
func (a *nativeArray) read(offset int) nativeReader {
	size := int(a.section.Size())
	if offset < 0 || offset >= size {
		return nativeReader{err: target.Corruptf("number at %#x of %#x bytes", offset, size)}
	}
	at, n := a.section.Start+target.Addr(offset), min(nativeNumber, size-offset)
	if b, ok := a.mem.View(at, n); ok {
		return nativeReader{b: b}
	}
	b := make([]byte, n)
	n, err := a.mem.ReadMemory(b, at)
	return nativeReader{b: b[:n], end: err}
}

// at returns the offset of the data of element index.
func (a *nativeArray) at(index uint32) (offset int, ok bool, err error) {
	if index >= a.count {
		return 0, false, nil
	}
	r := a.read(a.table + a.entrySize*int(index/nativeBlock))
	pos := a.table + int(r.fixed(a.entrySize))
	for bit := uint32(nativeBlock >> 1); bit > 0; bit >>= 1 {
		if r.err == nil {
			r = a.read(pos)
		}
		v := r.uint()
		if r.err != nil {
			return 0, false, r.err
		}
		switch {
		case index&bit != 0 && v&2 != 0:
			pos += int(v >> 2)
		case index&bit == 0 && v&1 != 0:
			pos += r.pos
		case v&3 == 0 && v>>2 == index&(nativeBlock-1):
			return pos + r.pos, true, nil
		default:
			return 0, false, nil
		}
	}
	if pos < 0 || pos >= int(a.section.Size()) {
		return 0, false, target.Corruptf("element %d at %#x of %#x bytes", index, pos, a.section.Size())
	}
	return pos, true, nil
}
