package acceptance_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// fileBytes is a growing file in memory.
type fileBytes struct{ b []byte }

func (f *fileBytes) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p); need > len(f.b) {
		f.b = append(f.b, make([]byte, need-len(f.b))...)
	}
	return copy(f.b[off:], p), nil
}

var _ io.WriterAt = (*fileBytes)(nil)

// TestSaveImage: saving a flat image restores its file byte by byte.
func TestSaveImage(t *testing.T) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		compared := 0
		for _, m := range d.Dump.Modules() {
			want, err := os.ReadFile(filepath.Join(d.Case.Modules, target.BaseName(m.Path)))
			if err != nil {
				continue
			}
			img, err := image.OpenMemory(d.Memory(), &m.Module)
			if err != nil || img.Layout() != image.Flat {
				continue
			}
			var f fileBytes
			saved, err := img.Save(t.Context(), &f)
			require.NoError(t, err)
			if saved.Missing > 0 || len(f.b) > len(want) {
				continue // another file with this name, or a partial dump
			}
			compared++
			assert.True(t, bytes.Equal(want[:len(f.b)], f.b), "%s", m.Path)
		}
		t.Logf("%d images", compared)
		if compared == 0 {
			t.Skip("no image lies flat and whole in the dump")
		}
		return compared
	})
}
