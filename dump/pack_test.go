package dump_test

import (
	"archive/tar"
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

type entry struct{ name, path, content string }

func pack(t *testing.T, entries ...entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Size: int64(len(e.content)), Mode: 0o644, Format: tar.FormatPAX}
		if e.path != "" {
			h.PAXRecords = map[string]string{dump.PackPathRecord: e.path}
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := io.WriteString(w, e.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestPack(t *testing.T) {
	b := pack(t, entry{dump.PackMark, "", dump.PackMarkText}, entry{"dump/core", "", string(core())},
		entry{"modules/0/libx.so", "/app/libx.so", "the library"}, entry{"other", "", "ignored"})
	for _, b := range [][]byte{b, zst(t, b), gz(t, b)} {
		f, err := dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), dump.Options{})
		require.NoError(t, err)
		require.Equal(t, int64(len(core())), f.Size)
		require.Equal(t, dump.FormatELFCore, f.Format)
		files := f.PackedFiles()
		require.Len(t, files, 1)
		require.Equal(t, "/app/libx.so", files[0].Path)
		got, err := io.ReadAll(io.NewSectionReader(files[0].Source(), 0, files[0].Source().Size()))
		require.NoError(t, err)
		require.Equal(t, "the library", string(got))
		require.NoError(t, f.Close())
	}
}

func TestBadPacks(t *testing.T) {
	whole := pack(t, entry{dump.PackMark, "", dump.PackMarkText}, entry{"dump/core", "", string(core())})
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"another archive": {pack(t, entry{"readme", "", "x"}, entry{"dump/core", "", string(core())}), target.ErrUnsupported},
		"no dump":         {pack(t, entry{dump.PackMark, "", dump.PackMarkText}), target.ErrCorrupt},
		"no dump in it":   {pack(t, entry{dump.PackMark, "", dump.PackMarkText}, entry{"dump/x", "", "text"}), target.ErrUnsupported},
		"cut":             {whole[:2500], target.ErrCorrupt},
		"pack in a pack":  {pack(t, entry{dump.PackMark, "", dump.PackMarkText}, entry{"dump/x", "", string(whole)}), target.ErrUnsupported},
	} {
		_, err := dump.OpenReaderAt(bytes.NewReader(c.b), int64(len(c.b)), dump.Options{})
		require.ErrorIs(t, err, c.want, name)
	}
}

// TestPackedFileBounds: a packed file ends at its own end, not at the archive's.
func TestPackedFileBounds(t *testing.T) {
	b := pack(t, entry{dump.PackMark, "", dump.PackMarkText}, entry{"dump/core", "", string(core())},
		entry{"modules/0/libx.so", "/app/libx.so", "the library"}, entry{"modules/1/liby.so", "/app/liby.so", "another"})
	f, err := dump.Open(write(t, b), dump.Options{})
	require.NoError(t, err)
	defer f.Close()
	src := f.PackedFiles()[0].Source()
	require.Equal(t, "library", string(src.Bytes(4, 7)))
	var p [16]byte
	n, err := src.ReadAt(p[:], 4)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "library", string(p[:n]))
	for _, off := range []int64{-1, 11, 1 << 40} {
		n, err = src.ReadAt(p[:], off)
		require.ErrorIs(t, err, io.EOF)
		require.Zero(t, n)
	}
}

// TestPackIsBounded: folders in a pack are ignored, and a pack with more entries than a process has
// modules is rejected.
func TestPackIsBounded(t *testing.T) {
	entries := []entry{{dump.PackMark, "", dump.PackMarkText}, {"dump/", "", ""}, {"dump/core", "", string(core())}}
	b := pack(t, entries...)
	f, err := dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), dump.Options{})
	require.NoError(t, err)
	require.Equal(t, int64(len(core())), f.Size)
	require.NoError(t, f.Close())
	for range limits.Modules {
		entries = append(entries, entry{"modules/0/x", "", ""})
	}
	b = pack(t, entries...)
	_, err = dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), dump.Options{})
	require.ErrorIs(t, err, target.ErrCorrupt)
	require.ErrorContains(t, err, "entries")
}
