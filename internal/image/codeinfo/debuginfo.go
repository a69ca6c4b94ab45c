package codeinfo

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A DebugInfo is a compiler's debug information for one method body (runtime: debuginfostore.cpp,
// CompressDebugInfo). It begins with the sizes of two parts as nibble-encoded numbers. Then follow
// the bounds, which map code to IL, and the variables.
type DebugInfo struct {
	Mem    target.Memory
	At     target.Addr // the sizes
	Chunks bool        // chunks instead of two parts (contract DebugInfo, since .NET 11)
	// Packed is set for compilers since .NET 10: bounds are bits and not nibbles, and the numbers of
	// AMD64's registers have room for APX's.
	Packed bool
}

// A DebugInfoHeader describes the header that the compiler in the process puts before DebugInfo. In
// images there is no header.
type DebugInfoHeader struct {
	Flags              bool // a byte of flags comes first; otherwise there is no header
	PatchpointSize     int  // size in bytes of a PatchpointInfo without its locals
	PatchpointNumLocal int  // offset in it of the number of locals
	Chunks             bool // there is no header, but chunks
	Packed             bool // of the DebugInfo behind the header
}

// The flags (runtime: debuginfostore.cpp, EXTRA_DEBUG_INFO_TYPE).
const (
	debugHasPatchpoints = 1
	debugHasRich        = 2
)

// Open returns the debug information after the header at an address. It skips the flags, the
// information about on-stack replacement, and the scopes of inlined code (DOTNET_RichDebugInfo=1).
func (h DebugInfoHeader) Open(mem target.Memory, at target.Addr) (DebugInfo, error) {
	d := DebugInfo{Mem: mem, At: at, Chunks: h.Chunks, Packed: h.Packed}
	if !h.Flags || h.Chunks {
		return d, nil
	}
	flags, err := target.Uint8(mem, d.At)
	if err != nil {
		return d, err
	}
	d.At++
	if flags&debugHasPatchpoints != 0 {
		n, err := target.Uint32(mem, d.At+target.Addr(h.PatchpointNumLocal))
		if err == nil && n > limits.FieldsPerType {
			err = target.Corruptf("debug information at %016x of %d locals", uint64(d.At), n)
		}
		if err != nil {
			return d, err
		}
		d.At += target.Addr(h.PatchpointSize + 4*int(n))
	}
	if flags&debugHasRich != 0 { // scopes of inlined code, for profilers: their size and data
		n, err := target.Uint32(mem, d.At)
		if err == nil && n > limits.DebugInfoBytes {
			err = target.Corruptf("debug information at %016x with %d bytes of inlined scopes", uint64(d.At), n)
		}
		if err != nil {
			return d, err
		}
		d.At += target.Addr(4 + n)
	}
	return d, nil
}

// fatBounds marks three sizes: of the bounds, of uninstrumented bounds, and of the variables.
const fatBounds = 0xffffffff

// fatChunks marks that the sizes of all chunks follow: bounds, variables, uninstrumented bounds,
// patchpoints, inlined scopes, suspension points.
const fatChunks = 0

// sizeBytes is the maximum length of six sizes and the mark: eleven nibbles each.
const sizeBytes = 39

// debugParts are the ranges of the parts that are read.
type debugParts struct{ bounds, variables, suspensions target.Range }

// parts returns the ranges of the parts.
func (d DebugInfo) parts() (p debugParts, err error) {
	if d.Mem == nil {
		return p, target.Unsupportedf("no debugging data")
	}
	var head [sizeBytes]byte
	n, _ := d.Mem.ReadMemory(head[:], d.At)
	r := nibbleReader{b: head[:n]}
	size, skip, vars := uint64(r.uint()), uint64(0), uint64(0)
	between, suspensions := uint64(0), uint64(0) // after the variables
	switch {
	case d.Chunks && size == fatChunks:
		size, vars = uint64(r.uint()), uint64(r.uint())
		between = uint64(r.uint()) + uint64(r.uint()) + uint64(r.uint())
		suspensions = uint64(r.uint())
	case !d.Chunks && size == fatBounds:
		size, skip, vars = uint64(r.uint()), uint64(r.uint()), uint64(r.uint())
	default:
		vars = uint64(r.uint())
	}
	if errors.Is(r.err, io.ErrUnexpectedEOF) && n < sizeBytes {
		_, r.err = target.Uint8(d.Mem, d.At+target.Addr(n))
	}
	if r.err != nil {
		return p, r.err
	}
	if max(size, skip, vars, between, suspensions) > limits.DebugInfoBytes {
		return p, target.Corruptf("debug information at %016x of %d, %d and %d bytes", uint64(d.At), size+skip, vars, between+suspensions)
	}
	at := d.At + target.Addr(r.bytes())
	next := func(skip, size uint64) target.Range {
		start := at + target.Addr(skip)
		at = start + target.Addr(size)
		return target.Range{Start: start, End: at}
	}
	p.bounds = next(0, size)
	p.variables = next(skip, vars)
	p.suspensions = next(between, suspensions)
	return p, nil
}

// read returns the bytes of a part.
func (d DebugInfo) read(part target.Range, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return target.Bytes(d.Mem, part.Start, int(part.Size()))
}

// Variables returns the locations of variables. The numbers of registers depend on the processor. An
// unknown one is target.ErrUnsupported.
func (d DebugInfo) Variables(arch target.Arch) ([]Variable, error) {
	p, err := d.parts()
	b, err := d.read(p.variables, err)
	if err != nil {
		return nil, err
	}
	return variables(b, arch, d.Packed, d.Chunks)
}

// ILMap returns the map from code to IL, sorted by native offset.
func (d DebugInfo) ILMap() ([]ILMapping, error) {
	p, err := d.parts()
	b, err := d.read(p.bounds, err)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	var list []ILMapping
	switch {
	case d.Chunks:
		list, err = packedBounds(b, chunkSourceBits)
	case d.Packed:
		list, err = packedBounds(b, packedSourceBits)
	default:
		list, err = plainBounds(b)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b ILMapping) int { return cmp.Compare(a.Native, b.Native) })
	return list, nil
}

// The IL offsets without an instruction (runtime: cordebuginfo.h, ICorDebugInfo::MappingTypes).
const (
	ILNoMapping = -1
	ILProlog    = -2
	ILEpilog    = -3
)

// An ILMapping maps an offset in a method's code to an offset in its IL.
type ILMapping struct {
	Native uint32 // bytes from the start of the code
	IL     int32  // bytes from the start of the IL, or ILNoMapping, ILProlog, ILEpilog
	Source uint8  // the compiler's flags (ICorDebugInfo::SourceTypes)
}

// ILOffset returns the offset of the IL instruction for the code at offset native. It uses the last
// mapping at or before native that refers to an instruction. The prolog belongs to the first
// instruction.
func ILOffset(list []ILMapping, native uint32) (int, bool) {
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

// plainBounds decodes nibble-encoded bounds: their number, then for each the difference to the
// previous native offset, the IL offset and the source.
func plainBounds(b []byte) ([]ILMapping, error) {
	r := nibbleReader{b: b}
	count := r.uint()
	if r.err != nil {
		return nil, r.err
	}
	const fewest = 3 // minimum number of nibbles of a mapping
	if uint64(count) > uint64(r.left()/fewest) {
		return nil, target.Corruptf("%d mappings in %d bytes", count, len(b))
	}
	out := make([]ILMapping, count)
	native := uint32(0)
	for i := range out {
		native += r.uint()
		out[i] = ILMapping{Native: native, IL: int32(r.uint()) + ILEpilog, Source: uint8(r.uint())}
	}
	if r.err != nil {
		return nil, r.err
	}
	return out, nil
}

// The number of bits of a mapping's source: two in .NET 10, and one more since then, for suspension
// points of async methods.
const (
	packedSourceBits = 2
	chunkSourceBits  = 3
)

// packedBounds decodes bounds of .NET 10 and later: their number and the widths of the two offsets
// as nibbles, then an array of bits.
func packedBounds(b []byte, sourceBits uint64) ([]ILMapping, error) {
	r := nibbleReader{b: b}
	count, nativeBits, ilBits := r.uint(), uint64(r.uint())+1, uint64(r.uint())+1
	if r.err != nil {
		return nil, r.err
	}
	bits := bitReader{b: b[r.bytes():]}
	if nativeBits > 32 || ilBits > 32 || uint64(count) > bits.left()/(sourceBits+nativeBits+ilBits) {
		return nil, target.Corruptf("%d mappings of %d and %d bits in %d bytes", count, nativeBits, ilBits, len(b))
	}
	out := make([]ILMapping, count)
	native := uint32(0)
	for i := range out {
		source := uint8(bits.read(sourceBits))
		native += uint32(bits.read(nativeBits))
		out[i] = ILMapping{Native: native, IL: int32(bits.read(ilBits)) + ILEpilog, Source: source}
	}
	return out, bits.err()
}
