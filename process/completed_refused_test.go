package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// A bareProcess has one module and no memory.
type bareProcess struct {
	target.Target
	memory *memmap.Map
}

func (p bareProcess) Modules() []target.Module {
	return []target.Module{{Base: 0x10000, Size: 0x1000, Path: "/a.dll"}}
}

func (p bareProcess) ReadMemory(b []byte, a target.Addr) (int, error) {
	return p.memory.ReadMemory(b, a)
}
func (p bareProcess) View(a target.Addr, n int) ([]byte, bool) { return p.memory.View(a, n) }
func (p bareProcess) Span(a target.Addr) []byte                { return p.memory.Span(a) }

// TestRefusedFile checks that the reason why a found file is refused is kept, and that the file supplies nothing.
func TestRefusedFile(t *testing.T) {
	none, _ := memmap.New(target.BytesSource(nil), nil)
	loaded, err := image.NewBytes(synth.ELFImage(3, 0, [4]uint64{0, 0, 0x2000, 0x2000}), image.Loaded) // no image from a file
	require.NoError(t, err)
	m := complete(bareProcess{nil, none}, func(*target.Module) (*image.Image, error) { return loaded, nil }, nil)
	of, refused := m.fileAt(0x10010)
	require.NotNil(t, of)
	assert.Equal(t, "/a.dll", of.Path)
	require.ErrorIs(t, refused, target.ErrUnsupported)
	_, err = target.Uint8(m, 0x10000)
	require.ErrorIs(t, err, target.ErrNotInDump)

	of, refused = m.fileAt(0x20000)
	assert.Nil(t, of, "outside all modules")
	require.NoError(t, refused)
}
