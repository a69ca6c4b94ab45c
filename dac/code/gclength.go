package code

import (
	"github.com/sosgo/sosgo/target"
)

// The start of a GC info block on AMD64 (gcinfotypes.h, gcinfodecoder.cpp): a
// bit that chooses the long header, that header's flags, in versions before 4
// the kind of the return value, and the length of the code.
const (
	gcHeaderBytes       = 16 // more than the length can reach into
	gcFatFlagBits       = 10
	gcSlimFlagBits      = 2 // with the bit that chooses
	gcReturnKindSlim    = 2
	gcReturnKindFat     = 4
	gcNoReturnKind      = 4 // the first version without
	gcCodeLengthBits    = 8 // in each part of the number
	gcMaxCodeLengthPart = 5
)

// gcCodeLength is the length of the code in bytes, with its funclets, that the
// GC info of info describes. Its version is that of the compiler: an image
// made for another major than the runtime's has another.
func (r *Reader) gcCodeLength(mem target.Memory, info Info) (uint64, error) {
	version, err := r.gcInfoVersion(info)
	if err != nil {
		return 0, err
	}
	var b [gcHeaderBytes]byte
	n, missing := mem.ReadMemory(b[:], info.GCInfo)
	length, err := gcLength(b[:n], version)
	if err != nil && missing != nil {
		err = missing
	}
	return length, err
}

func gcLength(b []byte, version int) (uint64, error) {
	bits := bitReader{b: b}
	flags, kind := gcSlimFlagBits-1, gcReturnKindSlim
	if bits.read(1) == 1 {
		flags, kind = gcFatFlagBits, gcReturnKindFat
	}
	bits.read(flags)
	if version < gcNoReturnKind {
		bits.read(kind)
	}
	n := uint64(0)
	for i := range gcMaxCodeLengthPart {
		part := bits.read(gcCodeLengthBits + 1)
		n |= part & (1<<gcCodeLengthBits - 1) << (gcCodeLengthBits * i)
		if part>>gcCodeLengthBits == 0 {
			return n, bits.err
		}
	}
	return 0, target.Corruptf("GC info with a code length of more than %d bits", gcMaxCodeLengthPart*gcCodeLengthBits)
}

// A bitReader reads numbers of some bits, the lowest bit of a byte first. The
// first failure sticks.
type bitReader struct {
	b   []byte
	pos int // bits
	err error
}

// read returns the next n bits, at most 32.
func (r *bitReader) read(n int) uint64 {
	v := uint64(0)
	for i := range n {
		if r.pos>>3 >= len(r.b) {
			if r.err == nil {
				r.err = target.Corruptf("bits end after %d bytes", len(r.b))
			}
			return 0
		}
		v |= uint64(r.b[r.pos>>3]>>(r.pos&7)&1) << i
		r.pos++
	}
	return v
}
