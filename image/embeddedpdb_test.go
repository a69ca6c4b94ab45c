package image

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
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

func TestUnpackPDB(t *testing.T) {
	content := bytes.Repeat([]byte("BSJB and more"), 50)
	packed := packPDB(t, content, uint32(len(content)))
	got, err := unpackPDB(packed)
	require.NoError(t, err)
	assert.Equal(t, content, got)
	for name, b := range map[string][]byte{
		"longer than it is": packPDB(t, content, uint32(len(content)+1)),
		"far too long":      packPDB(t, content, 1<<31-1),
		"cut":               packed[:len(packed)/2],
		"other signature":   append([]byte("XXXX"), packed[4:]...),
	} {
		_, err := unpackPDB(b)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

func FuzzUnpackPDB(f *testing.F) {
	f.Add(packPDB(f, []byte("content"), 7))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= embeddedPDBHead {
			_, _ = unpackPDB(b)
		}
	})
}
