package dac

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// narrow is a process of 32 bits.
type narrow struct {
	target.Target
	arch target.Arch
}

func (n narrow) Platform() target.Platform {
	return target.Platform{OS: target.OSWindows, Arch: n.arch}
}

// TestNarrowProcess: the CLR of a 32-bit process is said to be unsupported, with what
// was found and what still works.
func TestNarrowProcess(t *testing.T) {
	for _, arch := range []target.Arch{target.Arch386, target.ArchARM} {
		i := &Instance{Module: target.Module{Path: `C:\x\coreclr.dll`}, tgt: narrow{arch: arch}}
		_, err := i.Open()
		assert.ErrorIs(t, err, target.ErrUnsupported)
		assert.ErrorContains(t, err, "32-bit")
		assert.ErrorContains(t, err, arch.String())
		assert.ErrorContains(t, err, "coreclr.dll")
		assert.ErrorContains(t, err, "memory can")
	}
}
