package bundle_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/bundle"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

const place = 16

// program returns a program with room for a bundle.
func program() []byte { return append(make([]byte, place), synth.BundlePlace()...) }

func deflated(b []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func sample(major uint32) *synth.Bundle {
	b := &synth.Bundle{Major: major, Files: []synth.BundleFile{
		{Path: "App.dll", Data: []byte("assembly"), Kind: byte(bundle.KindAssembly)},
		{Path: "fr/App.resources.dll", Data: []byte("ressources"), Kind: byte(bundle.KindAssembly)},
	}}
	if major >= 6 {
		text := bytes.Repeat([]byte("one and the same "), 100)
		b.Files = append(b.Files, synth.BundleFile{Path: "Packed.dll", Data: deflated(text), Size: uint64(len(text)), Kind: byte(bundle.KindAssembly)})
	}
	return b
}

// TestRead decodes every version and the content of every file.
func TestRead(t *testing.T) {
	for _, major := range []uint32{1, 2, 6} {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			app, manifest, offsets := sample(major).Append(program(), place)
			src := target.BytesSource(app)
			require.Equal(t, place, bundle.Place(app))
			require.Equal(t, manifest, binary.LittleEndian.Uint64(app[place:]))
			m, err := bundle.Read(src, int64(manifest))
			require.NoError(t, err)
			assert.Equal(t, "ABCD", m.ID)
			assert.Equal(t, major == 1, m.Extracts)
			require.Len(t, m.Files, len(offsets))
			assert.Equal(t, bundle.File{Path: "App.dll", Kind: bundle.KindAssembly, Offset: int64(offsets[0]), Size: 8}, m.Files[0])
			assert.Equal(t, "fr/App.resources.dll", m.Files[1].Path)
			assert.Equal(t, "ressources", content(t, src, &m.Files[1]))
			assert.Same(t, &m.Files[1], m.At(offsets[1]+2))
			assert.Nil(t, m.At(manifest))
			if major >= 6 {
				assert.Equal(t, int64(1700), m.Files[2].Size)
				assert.Equal(t, "one and the same one", content(t, src, &m.Files[2])[:20])
			}
		})
	}
}

func content(t *testing.T, src target.Source, f *bundle.File) string {
	s, err := bundle.Open(src, f, 1<<20)
	require.NoError(t, err)
	b := make([]byte, s.Size()+5)
	n, err := s.ReadAt(b, 0)
	require.Equal(t, io.EOF, err, "it ends with the file")
	require.EqualValues(t, s.Size(), n)
	assert.Equal(t, b[1:n], s.Bytes(1, n-1))
	return string(b[:n])
}

// TestExtracts checks a program of .NET 5 and later that writes its files to a folder.
func TestExtracts(t *testing.T) {
	b := sample(6)
	b.Flags = 1
	app, manifest, _ := b.Append(program(), place)
	m, err := bundle.Read(target.BytesSource(app), int64(manifest))
	require.NoError(t, err)
	assert.True(t, m.Extracts)
}

// TestTruncated checks that every cut of a manifest is an error.
func TestTruncated(t *testing.T) {
	for _, major := range []uint32{1, 2, 6} {
		app, manifest, _ := sample(major).Append(program(), place)
		for n := range app {
			_, err := bundle.Read(target.BytesSource(app[:n]), int64(manifest))
			require.ErrorIs(t, err, target.ErrCorrupt, "%d bytes of version %d", n, major)
		}
	}
	assert.Equal(t, -1, bundle.Place(synth.BundlePlace()[8:]), "a mark without a place")
}

// TestLies checks that a manifest is compared with the file.
func TestLies(t *testing.T) {
	app, manifest, _ := sample(6).Append(program(), place)
	const entry = 12 + 5 + 40
	for name, c := range map[string]struct {
		at    uint64 // from the manifest
		value uint64
		want  error
	}{
		"a version that is not known": {0, 7, target.ErrUnsupported},
		"a count beyond the file":     {8, 0x7fffffff << 0, target.ErrCorrupt},
		"a file at 0":                 {entry, 0, target.ErrCorrupt},
		"a file behind the end":       {entry, 1 << 40, target.ErrCorrupt},
		"a file with a negative size": {entry + 8, 1 << 63, target.ErrCorrupt},
		"a file beyond the end":       {entry + 8, 1 << 40, target.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(app)
			if c.at < entry {
				binary.LittleEndian.PutUint32(b[manifest+c.at:], uint32(c.value))
			} else {
				binary.LittleEndian.PutUint64(b[manifest+c.at:], c.value)
			}
			_, err := bundle.Read(target.BytesSource(b), int64(manifest))
			require.ErrorIs(t, err, c.want)
		})
	}
	for _, offset := range []int64{0, -1, int64(len(app)), 1 << 40} {
		_, err := bundle.Read(target.BytesSource(app), offset)
		require.ErrorIs(t, err, target.ErrCorrupt)
	}
}

// TestUnpackBounds checks that a compressed file has the size in the manifest, and at most the allowed one.
func TestUnpackBounds(t *testing.T) {
	app, manifest, _ := sample(6).Append(program(), place)
	src := target.BytesSource(app)
	m, err := bundle.Read(src, int64(manifest))
	require.NoError(t, err)
	right := m.Files[2]
	for name, c := range map[string]struct {
		change func(*bundle.File)
		most   int64
		want   error
	}{
		"more than allowed":     {func(*bundle.File) {}, 1699, target.ErrUnsupported},
		"more than it says":     {func(f *bundle.File) { f.Size-- }, 1 << 40, target.ErrCorrupt},
		"less than it says":     {func(f *bundle.File) { f.Size++ }, 1 << 40, target.ErrCorrupt},
		"more than deflate can": {func(f *bundle.File) { f.Size = f.Packed * 1100 }, 1 << 40, target.ErrCorrupt},
		"not deflated":          {func(f *bundle.File) { f.Offset-- }, 1 << 40, target.ErrCorrupt},
		"a stream that is cut":  {func(f *bundle.File) { f.Packed -= 4 }, 1 << 40, target.ErrCorrupt},
		"just what is allowed":  {func(*bundle.File) {}, 1700, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := right
			c.change(&f)
			_, err := bundle.Open(src, &f, c.most)
			require.ErrorIs(t, err, c.want)
		})
	}
}

// FuzzRead reads bundles of arbitrary programs.
func FuzzRead(f *testing.F) {
	for _, major := range []uint32{1, 2, 6} {
		app, _, _ := sample(major).Append(program(), place)
		f.Add(app)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		at := bundle.Place(b)
		if at < 0 {
			return
		}
		src := target.BytesSource(b)
		m, err := bundle.Read(src, int64(binary.LittleEndian.Uint64(b[at:])))
		known := func(err error) bool {
			return errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrUnsupported)
		}
		if err != nil {
			require.True(t, known(err), err)
			return
		}
		for i := range m.Files {
			s, err := bundle.Open(src, &m.Files[i], 1<<20)
			if err != nil {
				require.True(t, known(err), err)
				continue
			}
			require.Equal(t, m.Files[i].Size, s.Size())
		}
	})
}
