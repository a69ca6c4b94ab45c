package dac

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// embeddingFiles are module files that each have a PDB in themselves.
type embeddingFiles struct {
	t    *testing.T
	size int // of each PDB once unpacked
}

func (f embeddingFiles) File(_ *target.Module, im *image.Image) (*image.Image, error) {
	if im == nil {
		return nil, target.ErrNotInDump
	}
	id, err := im.PDB()
	if err != nil {
		return nil, err
	}
	return image.OpenSource("with a PDB", target.BytesSource(peWithPDB(f.t, id.GUID, f.size)))
}

// peWithPDB returns a PE file that has a portable PDB of size bytes with the GUID in itself.
func peWithPDB(t *testing.T, guid target.GUID, size int) []byte {
	le := binary.LittleEndian
	pdb := le.AppendUint32([]byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00"), 12)
	pdb = append(pdb, "PDB v1.0\x00\x00\x00\x00\x00\x00\x02\x00"...)
	pdb = le.AppendUint32(le.AppendUint32(pdb, 64), 32)
	pdb = append(pdb, "#Pdb\x00\x00\x00\x00"...)
	pdb = le.AppendUint32(le.AppendUint32(pdb, 96), 24)
	pdb = append(pdb, "#~\x00\x00"...)
	pdb = append(pdb, make([]byte, 64-len(pdb))...)
	pdb = append(append(pdb, guid[:]...), make([]byte, 16)...)
	pdb = append(pdb, 0, 0, 0, 0, 2, 0, 0, 1)
	pdb = append(pdb, make([]byte, size-len(pdb))...)
	var packed bytes.Buffer
	packed.Write(le.AppendUint32([]byte("MPDB"), uint32(size)))
	z, err := flate.NewWriter(&packed, flate.NoCompression)
	require.NoError(t, err)
	_, err = z.Write(pdb)
	require.NoError(t, err)
	require.NoError(t, z.Close())

	const pe, optional, directory, content, debug = 0x80, 0x98, 0x98 + 112, 0x400, 6
	b := make([]byte, content)
	copy(b, "MZ")
	le.PutUint32(b[0x3c:], pe)
	copy(b[pe:], "PE\x00\x00\x64\x86")
	le.PutUint16(b[pe+20:], directory+16*8-optional)
	le.PutUint16(b[optional:], 0x20b)
	le.PutUint32(b[optional+56:], 0x1000)
	le.PutUint32(b[optional+60:], content)
	le.PutUint32(b[optional+108:], 16)
	le.PutUint32(b[directory+8*debug:], 0x300)
	le.PutUint32(b[directory+8*debug+4:], 28)
	le.PutUint32(b[0x300+12:], 17)
	le.PutUint32(b[0x300+16:], uint32(packed.Len()))
	le.PutUint32(b[0x300+24:], content)
	return append(b, packed.Bytes()...)
}

// TestManyEmbeddedPDBs: images may be the same few bytes of a dump, and each has a PDB in itself that unpacks to much more. All
// of them together have a bound.
func TestManyEmbeddedPDBs(t *testing.T) {
	const size = 4096
	rt := openCanned(t, "net8-zoo", func(m target.Memory) target.Memory { return m }, embeddingFiles{t, size})
	rt.pdbBytes.Store(limits.EmbeddedPDBs - 3*size - 1) // as if others had been unpacked
	modules, err := rt.Modules()
	require.NoError(t, err)
	kept, refused := 0, 0
	for _, m := range modules {
		im, err := m.PEImage()
		if err != nil {
			continue
		}
		if _, err := im.PDB(); err != nil {
			continue
		}
		if _, err = m.PDB(); err == nil {
			kept++
			continue
		}
		refused++
		require.ErrorIs(t, err, target.ErrLimit, m.Label())
		require.ErrorContains(t, err, "unpacks to 4096 bytes")
	}
	assert.Equal(t, 3, kept)
	assert.Positive(t, refused)
}
