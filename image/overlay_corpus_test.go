package image_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// patched is the maximum number of bytes in read-only segments of a library that the process
// changed: the runtime's copies of the write barrier in 3.1, and one quadword of .rodata in all.
const patched = 256

// TestCorpusOverlayAgrees compares the bytes that an overlay supplies from every module file with
// the bytes in the dump. They must agree; otherwise the overlay would make up memory.
func TestCorpusOverlayAgrees(t *testing.T) {
	empty, _ := memmap.New(target.BytesSource(nil), nil)
	eachCase(t, hasModules, func(t *testing.T, c *corpusCase) int {
		compared, supplied := 0, 0
		for _, m := range c.Target.Modules() {
			path := c.fileOf(m.Path)
			if !exists(path) || target.BaseName(path) == "ucrtbase.dll" {
				continue // the C runtime of another system
			}
			im, err := image.OpenFile(path)
			require.NoError(t, err)
			// Over an empty memory every byte comes from the file.
			alone := image.NewOverlay(empty)
			require.NoError(t, alone.Add(&m, im))
			assert.NoError(t, image.NewOverlay(c).Add(&m, im))
			n, k, differ := compareModule(c, alone, &m)
			compared, supplied = compared+n, supplied+k
			if strings.HasPrefix(target.BaseName(path), "libcoreclr") {
				assert.Less(t, differ, patched, m.Path)
			} else {
				assert.Zero(t, differ, m.Path)
			}
			require.NoError(t, im.Close())
		}
		t.Logf("%d bytes compared, %d supplied", compared, supplied)
		return compared
	})
}

func hasModules(c *testcase.Case) bool { return c.Modules != "" }

// compareModule compares the bytes of m that both memories have.
func compareModule(a, b target.Memory, m *target.Module) (compared, supplied, differ int) {
	var x, y [4096]byte
	for at := m.Base; at < m.Base+target.Addr(m.Size); at += target.Addr(len(x)) {
		n, _ := a.ReadMemory(x[:], at)
		k, _ := b.ReadMemory(y[:], at)
		supplied += k
		compared += min(n, k)
		for i := range min(n, k) {
			if x[i] != y[i] {
				differ++
			}
		}
	}
	return compared, supplied, differ
}
