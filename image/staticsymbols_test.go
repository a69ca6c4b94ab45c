package image_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// TestStaticSymbols: an ELF file yields the symbols that .symtab defines; a PE file has no such
// table.
func TestStaticSymbols(t *testing.T) {
	img, err := image.OpenSource("x", target.BytesSource(buildELF(true, 0)))
	require.NoError(t, err)
	var names []string
	for e, err := range img.StaticSymbols() {
		require.NoError(t, err)
		names = append(names, e.Name)
	}
	assert.Equal(t, []string{"gamma"}, names)
	rva, _, err := img.Symbol("gamma")
	require.NoError(t, err)
	for e, err := range img.StaticSymbols() {
		require.NoError(t, err)
		assert.Equal(t, rva, e.RVA)
	}
}

// FuzzStaticSymbols reads .symtab from damaged files.
func FuzzStaticSymbols(f *testing.F) {
	f.Add([]byte(buildELF(true, 0)))
	f.Fuzz(func(_ *testing.T, b []byte) {
		img, err := image.OpenSource("x", target.BytesSource(b))
		if err != nil {
			return
		}
		for e, err := range img.StaticSymbols() {
			if err != nil || e.Name == "" {
				break
			}
		}
	})
}
