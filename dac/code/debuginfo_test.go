package code

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// A nibbleWriter writes what a nibbleReader reads.
type nibbleWriter struct {
	b   []byte
	pos int
}

func (w *nibbleWriter) put(v uint32) {
	digits := []byte{byte(v & 7)}
	for v >>= 3; v != 0; v >>= 3 {
		digits = append(digits, byte(v&7)|nibbleMore)
	}
	for i := len(digits) - 1; i >= 0; i-- {
		if w.pos&1 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.pos/2] |= digits[i] << (4 * (w.pos & 1))
		w.pos++
	}
}

func someMappings() []ILMapping {
	return []ILMapping{{0, ILProlog, 2}, {26, 0, 2}, {89, 33, 0}, {117, ILNoMapping, 2}, {5000, 1234, 3}, {5000, ILEpilog, 2}}
}

func plainBlob(list []ILMapping) []byte {
	w := nibbleWriter{}
	w.put(uint32(len(list)))
	last := uint32(0)
	for _, m := range list {
		w.put(m.Native - last)
		w.put(uint32(m.IL - ILEpilog))
		w.put(uint32(m.Source))
		last = m.Native
	}
	return w.b
}

func packedBlob(list []ILMapping) []byte {
	w := nibbleWriter{}
	w.put(uint32(len(list)))
	w.put(13 - 1)
	w.put(11 - 1)
	bits := bitWriter{}
	last := uint32(0)
	for _, m := range list {
		bits.put(uint64(m.Source), 2)
		bits.put(uint64(m.Native-last), 13)
		bits.put(uint64(m.IL-ILEpilog), 11)
		last = m.Native
	}
	return append(w.b, bits.b...)
}

func TestBounds(t *testing.T) {
	want := someMappings()
	got, err := plainBounds(plainBlob(want))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got, err = packedBounds(packedBlob(want))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for name, decode := range map[string]func([]byte) ([]ILMapping, error){"plain": plainBounds, "packed": packedBounds} {
		blob := plainBlob(want)
		if name == "packed" {
			blob = packedBlob(want)
		}
		for n := range blob {
			_, err := decode(blob[:n])
			assert.ErrorIs(t, err, target.ErrCorrupt, "%s cut to %d bytes", name, n)
		}
		lie := nibbleWriter{}
		lie.put(1 << 30)
		lie.put(7)
		lie.put(7)
		_, err := decode(append(lie.b, 0))
		assert.ErrorIs(t, err, target.ErrCorrupt, "%s with 2^30 mappings", name)
	}
}

func TestILAt(t *testing.T) {
	list := someMappings()
	for _, c := range []struct {
		native uint32
		il     int
	}{{0, 0}, {25, 0}, {26, 0}, {88, 0}, {89, 33}, {200, 33}, {5000, 1234}} {
		il, ok := ilAt(list, c.native)
		assert.True(t, ok)
		assert.Equal(t, c.il, il, c.native)
	}
	_, ok := ilAt(nil, 7)
	assert.False(t, ok)
}

// TestDebugBlob reads the header in front of bounds: flags, patchpoints, sizes.
func TestDebugBlob(t *testing.T) {
	format := debugInfoFormat{FlagByte: 1, PatchpointSize: 0x20, PatchpointNumLocal: 8}
	bounds := plainBlob(someMappings())
	sizes := nibbleWriter{}
	sizes.put(uint32(len(bounds)))
	sizes.put(0)
	patch := make([]byte, 0x20+4*3)
	patch[8] = 3
	for name, head := range map[string][]byte{"no patchpoints": {0}, "patchpoints": append([]byte{debugHasPatchpoints}, patch...)} {
		blob := debugBlob{mem: bytesMemory(append(append(append([]byte{}, head...), sizes.b...), bounds...))}
		blob.skipHeader(&format)
		require.NoError(t, blob.err, name)
		b, err := blob.bounds()
		require.NoError(t, err, name)
		assert.Equal(t, bounds, b, name)
	}
	rich := debugBlob{mem: bytesMemory{debugHasRich, 0, 0}}
	rich.skipHeader(&format)
	assert.ErrorIs(t, rich.err, target.ErrUnsupported)
	patch[8], patch[11] = 0xff, 0xff
	lie := debugBlob{mem: bytesMemory(append([]byte{debugHasPatchpoints}, patch...))}
	lie.skipHeader(&format)
	assert.ErrorIs(t, lie.err, target.ErrCorrupt)
	huge := nibbleWriter{}
	huge.put(0x7fffffff)
	huge.put(0)
	_, err := (&debugBlob{mem: bytesMemory(huge.b)}).bounds()
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func FuzzDebugInfo(f *testing.F) {
	f.Add(plainBlob(someMappings()))
	f.Add(packedBlob(someMappings()))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func([]byte) ([]ILMapping, error){plainBounds, packedBounds} {
			if list, err := decode(b); err == nil && len(list) > 8*len(b) {
				t.Fatalf("%d mappings in %d bytes", len(list), len(b))
			}
		}
		blob := debugBlob{mem: bytesMemory(b)}
		blob.skipHeader(&debugInfoFormat{FlagByte: 1, PatchpointSize: 0x20, PatchpointNumLocal: 8})
		if blob.err == nil {
			_, _ = blob.bounds()
		}
	})
}
