package image

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func packPDB(t testing.TB, content []byte, size uint32) []byte {
	var b bytes.Buffer
	b.WriteString(embeddedPDBSignature)
	b.Write(binary.LittleEndian.AppendUint32(nil, size))
	z, err := flate.NewWriter(&b, flate.BestCompression)
	require.NoError(t, err)
	_, err = z.Write(content)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// portablePDB returns the head of a portable PDB with the GUID, and n more bytes.
func portablePDB(guid target.GUID, n int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00"), 12)
	b = append(b, "PDB v1.0\x00\x00\x00\x00"...)
	b = append(b, 0, 0, 1, 0)
	b = le.AppendUint32(le.AppendUint32(b, 48), 32)
	b = append(b, "#Pdb\x00\x00\x00\x00"...)
	b = append(b, guid[:]...)
	return append(b, bytes.Repeat([]byte("and more "), n/9+4)...)[:len(b)+max(n, 32)]
}

func TestUnpackPDB(t *testing.T) {
	guid := target.GUID{1, 2, 3}
	content := portablePDB(guid, 650)
	packed := packPDB(t, content, uint32(len(content)))
	got, err := unpackPDB(packed, guid, int64(len(content)))
	require.NoError(t, err)
	assert.Equal(t, content, got)
	_, err = unpackPDB(packed, guid, int64(len(content))-1)
	assert.ErrorIs(t, err, target.ErrLimit)
	for name, b := range map[string][]byte{
		"longer than it is": packPDB(t, content, uint32(len(content)+1)),
		"far too long":      packPDB(t, content, 1<<31-1),
		"no PDB":            packPDB(t, []byte("BSJB and more"), 13),
		"another PDB":       packPDB(t, portablePDB(target.GUID{9}, 100), 150),
		"cut":               packed[:len(packed)/2],
		"other signature":   append([]byte("XXXX"), packed[4:]...),
	} {
		_, err := unpackPDB(b, guid, 1<<40)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

// TestUnpackPDBCosts: an embedded PDB with a huge size, or huge content, is rejected before it
// takes much memory.
func TestUnpackPDBCosts(t *testing.T) {
	zeros := make([]byte, 64<<20)
	other := packPDB(t, append(portablePDB(target.GUID{9}, 64), zeros...), 64<<20)
	bomb := packPDB(t, append(portablePDB(target.GUID{1}, 64), zeros...), 2<<30-1)
	for name, b := range map[string][]byte{"another id": other, "a ratio that no PDB has": bomb} {
		before := allocated()
		_, err := unpackPDB(b, target.GUID{1}, 1<<40)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
		assert.Less(t, allocated()-before, uint64(1<<20), name)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func FuzzUnpackPDB(f *testing.F) {
	f.Add(packPDB(f, portablePDB(target.GUID{1}, 7), 70))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= embeddedPDBHead {
			_, _ = unpackPDB(b, target.GUID{1}, 1<<40)
		}
	})
}

func TestPortablePDBID(t *testing.T) {
	guid := target.GUID{4, 5, 6}
	b := portablePDB(guid, 10)
	got, err := PortablePDBID(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	assert.Equal(t, guid, got)
	for n := range 48 + pdbIDSize {
		_, err := PortablePDBID(bytes.NewReader(b[:n]), int64(n))
		assert.Error(t, err, n)
	}
}

func FuzzPortablePDBID(f *testing.F) {
	f.Add(portablePDB(target.GUID{1}, 7))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = PortablePDBID(bytes.NewReader(b), int64(len(b))) })
}
