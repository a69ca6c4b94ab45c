package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// resized lists the runtime's library with another size.
type resized struct {
	target.Target
	base target.Addr
	size uint32
}

func (r resized) Modules() []target.Module {
	out := append([]target.Module(nil), r.Target.Modules()...)
	for i := range out {
		if out[i].Base == r.base {
			out[i].Size, out[i].SizeOfImage = uint64(r.size), r.size
		}
	}
	return out
}

// TestContradictedSize: if the list of modules cuts the runtime's library off, the dump is damaged. It is neither without
// the runtime's data nor of an unknown runtime.
func TestContradictedSize(t *testing.T) {
	raw, err := dump.Open(testdump.Open(t, "win-net10-zoo").Case.Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { raw.Close() })
	own := dac.Find(raw, raw, nil)[0].Module
	for _, size := range []uint32{own.SizeOfImage, 0, 0x1000, own.SizeOfImage / 2} {
		_, err := dac.Find(resized{raw, own.Base, size}, raw, nil)[0].Open()
		if size == own.SizeOfImage {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, target.ErrCorrupt, "%#x", size)
		assert.ErrorContains(t, err, "in its own header")
	}
}
