package codeinfo

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

func someMappings() []ILMapping {
	return []ILMapping{{0, ILProlog, 2}, {26, 0, 2}, {89, 33, 0}, {117, ILNoMapping, 2}, {5000, 1234, 3}, {5000, ILEpilog, 2}}
}

func plainBlob(list []ILMapping) []byte {
	w := synth.Nibbles{}
	w.Uint(uint32(len(list)))
	last := uint32(0)
	for _, m := range list {
		w.Uint(m.Native - last)
		w.Uint(uint32(m.IL - ILEpilog))
		w.Uint(uint32(m.Source))
		last = m.Native
	}
	return w.B
}

func packedBlob(list []ILMapping) []byte {
	w := synth.Nibbles{}
	w.Uint(uint32(len(list)))
	w.Uint(13 - 1)
	w.Uint(11 - 1)
	bits := bitWriter{}
	last := uint32(0)
	for _, m := range list {
		bits.bits(uint64(m.Source), 2)
		bits.bits(uint64(m.Native-last), 13)
		bits.bits(uint64(m.IL-ILEpilog), 11)
		last = m.Native
	}
	return append(w.B, bits.b...)
}

func packed10(b []byte) ([]ILMapping, error) { return packedBounds(b, packedSourceBits) }

func packed11(b []byte) ([]ILMapping, error) { return packedBounds(b, chunkSourceBits) }

func TestBounds(t *testing.T) {
	want := someMappings()
	got, err := plainBounds(plainBlob(want))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got, err = packed10(packedBlob(want))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for name, decode := range map[string]func([]byte) ([]ILMapping, error){"plain": plainBounds, "packed": packed10} {
		blob := plainBlob(want)
		if name == "packed" {
			blob = packedBlob(want)
		}
		for n := range blob {
			_, err := decode(blob[:n])
			assert.ErrorIs(t, err, target.ErrCorrupt, "%s cut to %d bytes", name, n)
		}
		lie := synth.Nibbles{}
		lie.Uint(1 << 30)
		lie.Uint(7)
		lie.Uint(7)
		_, err := decode(append(lie.B, 0))
		assert.ErrorIs(t, err, target.ErrCorrupt, "%s with 2^30 mappings", name)
	}
}

func TestILOffset(t *testing.T) {
	list := someMappings()
	for _, c := range []struct {
		native uint32
		il     int
	}{{0, 0}, {25, 0}, {26, 0}, {88, 0}, {89, 33}, {200, 33}, {5000, 1234}} {
		il, ok := ILOffset(list, c.native)
		assert.True(t, ok)
		assert.Equal(t, c.il, il, c.native)
	}
	_, ok := ILOffset(nil, 7)
	assert.False(t, ok)
}

// TestDebugInfo reads the header before the parts: flags, patchpoints, sizes.
func TestDebugInfo(t *testing.T) {
	header := DebugInfoHeader{Flags: true, PatchpointSize: 0x20, PatchpointNumLocal: 8}
	bounds := plainBlob(someMappings())
	sizes := (&synth.Nibbles{}).Uint(uint32(len(bounds)), 0)
	patch := make([]byte, 0x20+4*3)
	patch[8] = 3
	rich := []byte{5, 0, 0, 0, 1, 2, 3, 4, 5}
	for name, head := range map[string][]byte{
		"no patchpoints": {0},
		"patchpoints":    append([]byte{debugHasPatchpoints}, patch...),
		"inlined scopes": append([]byte{debugHasRich}, rich...),
		"both":           slices.Concat([]byte{debugHasRich | debugHasPatchpoints}, patch, rich),
	} {
		d, err := header.Open(lent(slices.Concat(head, sizes.B, bounds)), 0)
		require.NoError(t, err, name)
		got, err := d.ILMap()
		require.NoError(t, err, name)
		assert.Equal(t, someMappings(), got, name)
		vars, err := d.Variables(target.ArchAMD64)
		assert.NoError(t, err, name)
		assert.Empty(t, vars, name)
	}
	_, err := header.Open(lent{debugHasRich, 0, 0}, 0)
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, err = header.Open(lent{debugHasRich, 0, 0, 0, 0xff}, 0)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	patch[8], patch[11] = 0xff, 0xff
	_, err = header.Open(lent(append([]byte{debugHasPatchpoints}, patch...)), 0)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = DebugInfo{Mem: lent((&synth.Nibbles{}).Uint(0x7fffffff, 0).B)}.ILMap()
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = DebugInfo{Mem: lent(sizes.B)}.ILMap()
	assert.ErrorIs(t, err, target.ErrNotInDump, "the sizes alone")
	_, err = DebugInfo{Mem: lent{}}.Variables(target.ArchAMD64)
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

// TestFatBounds: of three sizes, the second is skipped.
func TestFatBounds(t *testing.T) {
	bounds := plainBlob(someMappings())
	w := (&synth.Nibbles{}).Uint(fatBounds, uint32(len(bounds)), 7, 0)
	got, err := DebugInfo{Mem: lent(slices.Concat(w.B, bounds, make([]byte, 7)))}.ILMap()
	require.NoError(t, err)
	assert.Equal(t, someMappings(), got)
}

// lent is a memory that starts at address 0.
type lent []byte

func (m lent) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := 0
	if a <= target.Addr(len(m)) {
		n = copy(p, m[a:])
	}
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

func (m lent) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (m lent) Span(target.Addr) []byte              { return nil }

func FuzzDebugInfo(f *testing.F) {
	f.Add(plainBlob(someMappings()))
	f.Add(packedBlob(someMappings()))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func([]byte) ([]ILMapping, error){plainBounds, packed10, packed11} {
			if list, err := decode(b); err == nil && len(list) > 8*len(b) {
				t.Fatalf("%d mappings in %d bytes", len(list), len(b))
			}
		}
		header := DebugInfoHeader{Flags: true, PatchpointSize: 0x20, PatchpointNumLocal: 8, Packed: true}
		if d, err := header.Open(lent(b), 0); err == nil {
			_, _ = d.ILMap()
			_, _ = d.Variables(target.ArchAMD64)
		}
	})
}
