package codeinfo

import (
	"github.com/sosgo/sosgo/target"
)

// codeLengthBytes is an upper bound for the offset in bytes of the code's length in GC info.
const codeLengthBytes = 16

// ReadCodeLength returns the length in bytes of the code that the GC info at an address describes,
// including funclets and the cold part. It reads only the beginning of the GC info. version is as
// in [GCDecoder.Reset].
func ReadCodeLength(mem target.Memory, at target.Addr, arch target.Arch, version int) (uint32, error) {
	var b [codeLengthBytes]byte
	n, missing := mem.ReadMemory(b[:], at)
	length, err := codeLength(b[:n], arch, version)
	if err != nil && missing != nil {
		err = missing
	}
	return length, err
}

func codeLength(b []byte, arch target.Arch, version int) (uint32, error) {
	d := GCDecoder{enc: encodingOf(arch)}
	if d.enc == nil {
		return 0, target.Unsupportedf("GC info of %v", arch)
	}
	d.begin(b, version)
	if d.r.bit() {
		d.fatStart()
	} else {
		d.slimHeader()
	}
	return d.CodeLength, d.r.err()
}
