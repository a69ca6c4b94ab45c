package image_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/memmap"
	"github.com/sosgo/sosgo/target"
)

// TestCorpusOverlayAgrees compares what an overlay supplies for every module
// file with every byte of the module that the dump holds: the two must agree,
// or the overlay would invent memory where the dump has none.
func TestCorpusOverlayAgrees(t *testing.T) {
	empty, _ := memmap.New(memmap.Bytes(nil), nil)
	eachCase(t, "", func(t *testing.T, c *corpusCase) {
		if c.modules == "" {
			t.Skip("no module files")
		}
		var compared, supplied int
		for _, m := range c.Modules() {
			path := c.fileOf(m.Path)
			if !exists(path) {
				continue
			}
			im, err := image.OpenFile(path)
			require.NoError(t, err)
			// Over no memory at all: every byte comes from the file.
			alone := image.NewOverlay(empty)
			if err := image.NewOverlay(c).Add(&m, im); err != nil {
				t.Errorf("%s at %#x: %v", m.Path, uint64(m.Base), err)
			} else {
				require.NoError(t, alone.Add(&m, im))
			}
			var have, want [4096]byte
			for a := m.Base; a < m.Base+target.Addr(m.Size); a += target.Addr(len(have)) {
				n, _ := c.ReadMemory(have[:], a)
				k, _ := alone.ReadMemory(want[:], a)
				supplied += k
				compared += min(n, k)
				if n = min(n, k); !bytes.Equal(have[:n], want[:n]) {
					i := 0
					for have[i] == want[i] {
						i++
					}
					t.Errorf("%s at %#x (RVA %#x): dump % x, file % x", m.Path, uint64(a)+uint64(i), uint64(a-m.Base)+uint64(i), have[i:min(n, i+16)], want[i:min(n, i+16)])
				}
			}
			require.NoError(t, im.Close())
		}
		t.Logf("%d bytes compared, %d supplied", compared, supplied)
	})
}
