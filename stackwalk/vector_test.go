package stackwalk

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// TestVectorVariable: a number in a vector register is known only in the frame where the thread stopped.
func TestVectorVariable(t *testing.T) {
	for _, arch := range []target.Arch{target.ArchARM64, target.ArchAMD64} {
		p, err := arch.RegisterFile()
		require.NoError(t, err)
		area := make([]byte, 512)
		copy(area[p.Vectors.Offset+16*8:], []byte{0, 0, 0, 0, 0, 0, 0x0c, 0x40}) // 3.5
		frame := &Frame{Regs: target.Registers{Arch: arch, Float: area}}
		v := Variable{Located: true, frame: frame, elem: metadata.ElementR8,
			Location: codeinfo.Location{Kind: codeinfo.LocRegisterFloat, Reg: codeinfo.XMM0 + 8}}
		bits, err := v.vector()
		require.NoError(t, err)
		assert.EqualValues(t, uint64(0x400c000000000000), bits)
		v.elem = metadata.ElementValueType
		_, err = v.vector()
		assert.ErrorIs(t, err, target.ErrUnsupported)
		v.elem, frame.Regs.Float = metadata.ElementR8, nil
		_, err = v.vector()
		assert.ErrorIs(t, err, target.ErrUnsupported)
	}
}
