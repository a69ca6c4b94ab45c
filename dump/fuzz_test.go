package dump_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/target"
)

// FuzzPack opens archives that may be packs. Packed files lie inside of them.
func FuzzPack(f *testing.F) {
	t := &testing.T{}
	f.Add(pack(t, entry{dump.PackMark, "", dump.PackMarkText}, entry{"dump/core", "", string(core()[:4096])},
		entry{"modules/0/libx.so", "/app/libx.so", "the library"}))
	f.Add(pack(t, entry{dump.PackMark, "", dump.PackMarkText}, entry{"dump/x", "", "text"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), dump.Options{MaxDecompressed: 1 << 20, TempDir: t.TempDir()})
		if err != nil {
			if !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		defer d.Close()
		for _, p := range d.PackedFiles() {
			n, err := io.Copy(io.Discard, io.NewSectionReader(p.Source(), 0, p.Source().Size()))
			if err != nil || n != p.Source().Size() || n > 1<<20 {
				t.Fatalf("%s: %d of %d bytes: %v", p.Path, n, p.Source().Size(), err)
			}
		}
	})
}
