package target

import "encoding/binary"

// An FXSave is the content of an FXSAVE area: floating-point and vector registers of x64 (Intel SDM, volume 1, 10.5.1).
type FXSave struct {
	MXCSR uint32
	ST    [8]Wide  // the x87 registers; of High the lower 16 bits count
	XMM   [16]Wide // the lower halves of the vector registers
}

// A Wide is a value of up to 128 bits.
type Wide struct{ High, Low uint64 }

// The members of an FXSAVE area.
const (
	fxMXCSR = 24
	fxST    = 32 // 16 bytes each; 10 are used
	fxXMM   = 160
	fxSize  = 512
)

// vectorsARM64 are the bytes of V0 to V31, in user_fpsimd_state and in CONTEXT.
const vectorsARM64 = 32 * 16

// FXSave decodes Float. It is ErrNotInDump if it is not in the dump, and ErrUnsupported of another processor.
func (r *Registers) FXSave() (*FXSave, error) {
	b := r.Float
	switch {
	case r.Arch != ArchAMD64:
		return nil, Unsupportedf("an FXSAVE area of %v", r.Arch)
	case len(b) < fxSize:
		return nil, ErrNotInDump
	}
	le := binary.LittleEndian
	s := &FXSave{MXCSR: le.Uint32(b[fxMXCSR:])}
	for i := range s.ST {
		at := b[fxST+16*i:]
		s.ST[i] = Wide{High: uint64(le.Uint16(at[8:])), Low: le.Uint64(at)}
	}
	xmm, err := r.Vectors()
	copy(s.XMM[:], xmm)
	return s, err
}
