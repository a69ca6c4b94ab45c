package code

import (
	"errors"
	"fmt"
	"sort"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// The IL offsets that stand for no instruction (ICorDebugInfo::MappingTypes).
const (
	ILNoMapping = -1
	ILProlog    = -2
	ILEpilog    = -3
)

// An ILMapping ties a place in a method's code to a place in its IL.
type ILMapping struct {
	Native uint32 // bytes from the start of the code
	IL     int32  // bytes from the start of the IL, or ILNoMapping, ILProlog, ILEpilog
	Source uint8  // what the compiler says of the place (ICorDebugInfo::SourceTypes)
}

// ILMap returns the map from the code that info describes to the method's IL,
// by native offset. Code without one, such as that of a stub, is
// target.ErrUnsupported. The map belongs to this body of the method.
func (r *Reader) ILMap(info Info) ([]ILMapping, error) {
	blob, packed, err := r.debugInfo(info)
	if err != nil {
		return nil, err
	}
	bounds, err := blob.bounds()
	if err != nil || len(bounds) == 0 {
		return nil, err
	}
	var out []ILMapping
	if packed {
		out, err = packedBounds(bounds)
	} else {
		out, err = plainBounds(bounds)
	}
	if err != nil {
		return nil, fmt.Errorf("IL map of the code at %016x: %w", uint64(info.Start), err)
	}
	if !sort.SliceIsSorted(out, func(i, j int) bool { return out[i].Native < out[j].Native }) {
		sort.SliceStable(out, func(i, j int) bool { return out[i].Native < out[j].Native })
	}
	return out, nil
}

// ILOffset is the offset in the method's IL of the instruction that the code at
// info.Offset belongs to, and whether there is one.
func (r *Reader) ILOffset(info Info) (int, bool, error) {
	list, err := r.ILMap(info)
	if err != nil {
		return 0, false, err
	}
	il, ok := ilAt(list, info.Offset)
	return il, ok, nil
}

// ilAt finds the last mapping at or before native that names an instruction;
// the prolog belongs to the first one.
func ilAt(list []ILMapping, native uint32) (int, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].Native > native }) - 1
	for ; i >= 0; i-- {
		switch {
		case list[i].IL >= 0:
			return int(list[i].IL), true
		case list[i].IL == ILProlog:
			return 0, true
		}
	}
	return 0, false
}

// errNoDebugInfo is for code that the compiler left no map of.
var errNoDebugInfo = target.Unsupportedf("the code has no map to IL")

// debugInfo finds the compiler's debug information of a body, and whether its
// bounds are packed.
func (r *Reader) debugInfo(info Info) (*debugBlob, bool, error) {
	c, err := r.members()
	if err != nil {
		return nil, false, err
	}
	if c.debugInfo.FlagByte == layout.Absent {
		return nil, false, &layout.Error{Type: "constant DebugInfo"}
	}
	switch info.Kind {
	case JIT:
		at, err := r.ptr(info.Header, c.CodeHeader.DebugInfo, "RealCodeHeader.DebugInfo")
		if err == nil && at == 0 {
			err = errNoDebugInfo
		}
		if err != nil {
			return nil, false, err
		}
		b := &debugBlob{mem: r.mem, at: at}
		b.skipHeader(&c.debugInfo)
		return b, c.debugInfo.BoundsPacked != 0, b.err
	case ReadyToRun:
		return r.imageDebugInfo(c, info)
	}
	return nil, false, errNoDebugInfo
}

// A debugBlob reads the compiler's debug information (debuginfostore.cpp,
// CompressDebugInfo): the sizes of the bounds and of the variables as numbers
// of nibbles, the bounds, the variables.
type debugBlob struct {
	mem target.Memory
	at  target.Addr
	err error
}

// The flags in front of what the compiler in the process leaves.
const (
	debugHasPatchpoints = 1
	debugHasRich        = 2
)

// skipHeader passes the flags and the information about on-stack replacement.
func (b *debugBlob) skipHeader(f *debugInfoFormat) {
	if f.FlagByte == 0 {
		return
	}
	flags, err := target.Uint8(b.mem, b.at)
	if b.err = err; err != nil {
		return
	}
	b.at++
	if flags&debugHasRich != 0 {
		b.err = target.Unsupportedf("debug information at %016x with inlined scopes", uint64(b.at))
		return
	}
	if flags&debugHasPatchpoints == 0 {
		return
	}
	n, err := target.Uint32(b.mem, b.at+target.Addr(f.PatchpointNumLocal))
	if err == nil && n > limits.FieldsPerType {
		err = target.Corruptf("debug information at %016x of %d locals", uint64(b.at), n)
	}
	b.err = err
	b.at += target.Addr(f.PatchpointSize + 4*int(n))
}

// fatBounds says that the sizes are three: of the bounds, of those that were
// not instrumented, of the variables.
const fatBounds = 0xffffffff

// bounds returns the bytes of the bounds.
func (b *debugBlob) bounds() ([]byte, error) {
	n := nibbleReader{next: func(i int) (byte, error) { return target.Uint8(b.mem, b.at+target.Addr(i)) }}
	size := n.uint()
	if size == fatBounds {
		size = n.uint()
		n.uint()
	}
	n.uint()
	if n.err != nil {
		return nil, n.err
	}
	if size > limits.DebugInfoBytes {
		return nil, target.Corruptf("debug information at %016x of %d bytes", uint64(b.at), size)
	}
	return target.Bytes(b.mem, b.at+target.Addr(n.bytes()), int(size))
}

// plainBounds decodes bounds of nibbles: their number, then for each the
// distance to the native offset before, the IL offset and the source.
func plainBounds(b []byte) ([]ILMapping, error) {
	n := nibbleReader{next: byteAt(b)}
	count := n.uint()
	if n.err != nil {
		return nil, n.err
	}
	if uint64(count) > 2*uint64(len(b)) { // each takes three nibbles at least
		return nil, target.Corruptf("%d mappings in %d bytes", count, len(b))
	}
	out := make([]ILMapping, 0, count)
	native := uint32(0)
	for range count {
		native += n.uint()
		il := int32(n.uint()) + ILEpilog
		out = append(out, ILMapping{native, il, uint8(n.uint())})
		if n.err != nil {
			return nil, n.err
		}
	}
	return out, nil
}

// packedBounds decodes bounds of .NET 10: after the number and the widths of
// the two offsets, as nibbles, an array of bits.
func packedBounds(b []byte) ([]ILMapping, error) {
	n := nibbleReader{next: byteAt(b)}
	count, nativeBits, ilBits := n.uint(), uint64(n.uint())+1, uint64(n.uint())+1
	if n.err != nil {
		return nil, n.err
	}
	left := uint64(len(b)-n.bytes()) * 8
	if nativeBits > 32 || ilBits > 32 || uint64(count) > left/(packedSourceBits+nativeBits+ilBits) {
		return nil, target.Corruptf("%d mappings of %d and %d bits in %d bytes", count, nativeBits, ilBits, len(b))
	}
	bits := bitReader{b: b[n.bytes():]}
	out := make([]ILMapping, 0, count)
	native := uint32(0)
	for range count {
		source := uint8(bits.read(packedSourceBits))
		native += uint32(bits.read(int(nativeBits)))
		il := int32(bits.read(int(ilBits))) + ILEpilog
		out = append(out, ILMapping{native, il, source})
	}
	return out, bits.err
}

const packedSourceBits = 2

func byteAt(b []byte) func(int) (byte, error) {
	return func(i int) (byte, error) {
		if i >= len(b) {
			return 0, target.Corruptf("debug information ends after %d bytes", len(b))
		}
		return b[i], nil
	}
}

// A nibbleReader reads numbers of three bits a nibble, the highest first; the
// fourth bit says that another follows (nibblestream.h). The low nibble of a
// byte comes first. The first failure sticks.
type nibbleReader struct {
	next func(i int) (byte, error)
	pos  int // nibbles
	err  error
}

const (
	nibbleMore   = 8
	nibblesMax   = 11 // of a number of 32 bits
	nibbleDigits = 3
)

func (r *nibbleReader) uint() uint32 {
	v := uint32(0)
	for range nibblesMax {
		if r.err != nil {
			return 0
		}
		b, err := r.next(r.pos / 2)
		if err != nil {
			r.err = err
			return 0
		}
		n := b >> (4 * (r.pos & 1)) & 0xf
		r.pos++
		v = v<<nibbleDigits | uint32(n&(nibbleMore-1))
		if n&nibbleMore == 0 {
			return v
		}
	}
	r.err = target.Corruptf("number of more than %d nibbles", nibblesMax)
	return 0
}

// bytes is the number of bytes that were read, the last one perhaps in half.
func (r *nibbleReader) bytes() int { return (r.pos + 1) / 2 }

// NoDebugInfo reports whether err says that the compiler left no map of code.
func NoDebugInfo(err error) bool { return errors.Is(err, errNoDebugInfo) }
