package codeinfo

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A DebugInfo holds what a compiler records for debuggers of one body (runtime: debuginfostore.cpp, CompressDebugInfo):
// the sizes of two parts as numbers of nibbles, then the bounds, which tie code to IL, and the variables.
type DebugInfo struct {
	Mem    target.Memory
	At     target.Addr // of the sizes
	Chunks bool        // the sizes are those of chunks (contract DebugInfo, since .NET 11)
}

// A DebugInfoHeader describes what the compiler in the process puts in front of
// DebugInfo. What a compiler puts into an image has no header.
type DebugInfoHeader struct {
	Flags              bool // a byte of flags comes first; nothing does without
	PatchpointSize     int  // bytes of a PatchpointInfo without its locals
	PatchpointNumLocal int  // offset of the number of locals in it
	Chunks             bool // there is no header, and sizes are those of chunks
}

// The flags (runtime: debuginfostore.cpp, EXTRA_DEBUG_INFO_TYPE).
const (
	debugHasPatchpoints = 1
	debugHasRich        = 2
)

// Open finds the debug information after the header at an address: it passes the flags, the information about on-stack
// replacement, and the scopes of inlined code (DOTNET_RichDebugInfo=1).
func (h DebugInfoHeader) Open(mem target.Memory, at target.Addr) (DebugInfo, error) {
	d := DebugInfo{Mem: mem, At: at, Chunks: h.Chunks}
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
	if flags&debugHasRich != 0 { // scopes of inlined code, for profilers: their size, and they
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

// fatBounds reports that the sizes are three: of the bounds, of those that were not instrumented, of the variables.
const fatBounds = 0xffffffff

// fatChunks reports that the sizes of all chunks follow: of the bounds, of the variables, of bounds that were not instrumented, of
// patchpoints, of inlined scopes, and of suspension points.
const fatChunks = 0

// sizeBytes is what six sizes and the mark take at most: eleven nibbles each.
const sizeBytes = 39

// debugParts are the ranges of a DebugInfo that are read.
type debugParts struct{ bounds, variables, suspensions target.Range }

// parts returns where the parts lie.
func (d DebugInfo) parts() (p debugParts, err error) {
	var head [sizeBytes]byte
	n, _ := absent.Memory(d.Mem).ReadMemory(head[:], d.At)
	r := nibbleReader{b: head[:n]}
	size, skip, vars := uint64(r.uint()), uint64(0), uint64(0)
	between, suspensions := uint64(0), uint64(0) // behind the variables
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

// Variables returns the variables: see the function of that name.
func (d DebugInfo) Variables(arch target.Arch, apx bool) ([]Variable, error) {
	p, err := d.parts()
	b, err := d.read(p.variables, err)
	if err != nil {
		return nil, err
	}
	return variables(b, arch, apx, d.Chunks)
}

// ILMap returns the map from code to IL, by native offset. packed selects the
// form: bounds are arrays of bits since .NET 10, and nibbles before.
func (d DebugInfo) ILMap(packed bool) ([]ILMapping, error) {
	p, err := d.parts()
	b, err := d.read(p.bounds, err)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	var list []ILMapping
	switch {
	case d.Chunks:
		list, err = packedBounds(b, chunkSourceBits)
	case packed:
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

// The IL offsets that stand for no instruction (runtime: cordebuginfo.h, ICorDebugInfo::MappingTypes).
const (
	ILNoMapping = -1
	ILProlog    = -2
	ILEpilog    = -3
)

// An ILMapping ties a place in a method's code to a place in its IL.
type ILMapping struct {
	Native uint32 // bytes from the start of the code
	IL     int32  // bytes from the start of the IL, or ILNoMapping, ILProlog, ILEpilog
	Source uint8  // the compiler's flags of the place (ICorDebugInfo::SourceTypes)
}

// ILOffset finds the IL instruction that the code at offset native belongs to. The last mapping at or before native
// that names an instruction decides. The prolog belongs to the first instruction.
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

// plainBounds decodes bounds of nibbles: their number, then for each the
// distance to the native offset before, the IL offset and the source.
func plainBounds(b []byte) ([]ILMapping, error) {
	r := nibbleReader{b: b}
	count := r.uint()
	if r.err != nil {
		return nil, r.err
	}
	const fewest = 3 // nibbles of a mapping
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

// The bits of a mapping's source: two in .NET 10, and one more since, for the suspension points of async methods.
const (
	packedSourceBits = 2
	chunkSourceBits  = 3
)

// packedBounds decodes bounds of .NET 10 and later: after the number and the widths of the two offsets, as nibbles, an array of bits.
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
