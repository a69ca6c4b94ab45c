package metadata

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sources builds a PDB with documents a.cs, b.cs and c.cs and a Source Link map. The first two are embedded.
func sources(t *testing.T, a, b []byte, link string) *Metadata {
	t.Helper()
	w := newBuilder()
	w.pdb = make([]byte, 32)
	w.guids = append(append(w.guids, kindEmbeddedSource[:]...), kindSourceLink[:]...)
	g1, g2 := uint16(len(w.guids)/16-1), uint16(len(w.guids)/16)
	blob := func(b []byte) uint16 { // of any length
		i := len(w.blobs)
		w.blobs = append(append(w.blobs, 0x80|byte(len(b)>>8), byte(len(b))), b...)
		return uint16(i)
	}
	for _, name := range []string{"a.cs", "b.cs", "c.cs"} {
		w.row(TableDocument, w.blob('/', byte(w.blob([]byte(name)...))), uint16(0), uint16(0), uint16(0))
	}
	w.row(TableCustomDebugInformation, uint16(1<<5|7), g2, blob([]byte(link)))
	w.row(TableCustomDebugInformation, uint16(1<<5|22), g1, blob(a))
	w.row(TableCustomDebugInformation, uint16(2<<5|22), g1, blob(b))
	return w.open(t)
}

// deflated returns an embedded source with the recorded size.
func deflated(t *testing.T, text string, size uint32) []byte {
	t.Helper()
	out := bytes.NewBuffer(binary.LittleEndian.AppendUint32(nil, size))
	z, err := flate.NewWriter(out, 9)
	require.NoError(t, err)
	_, err = z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

func TestEmbeddedSource(t *testing.T) {
	long := strings.Repeat("class A {}\n", 100)
	md := sources(t, append([]byte{0, 0, 0, 0}, "class B {}"...), deflated(t, long, uint32(len(long))),
		`{"documents":{"C:\\src\\*":"https://x/raw/*","C:\\src\\deep\\*":"https://y/*","/one.cs":"https://z/one"}}`)
	for rid, want := range map[uint32]string{1: "class B {}", 2: long} {
		text, ok, err := md.EmbeddedSource(rid)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, want, string(text))
	}
	_, ok, err := md.EmbeddedSource(3)
	require.NoError(t, err)
	assert.False(t, ok)
	for file, want := range map[string]string{`C:\src\a\b.cs`: "https://x/raw/a/b.cs", `c:\SRC\deep\c.cs`: "https://y/c.cs", "/one.cs": "https://z/one", "/two.cs": ""} {
		link, err := md.SourceLink(file)
		require.NoError(t, err)
		assert.Equal(t, want, link)
	}
}

// TestSourceLinkOfTwins: entries that differ by case alone have the same answer each time.
func TestSourceLinkOfTwins(t *testing.T) {
	md := sources(t, nil, nil, `{"documents":{"/src/*":"https://b/*","/SRC/*":"https://a/*","/x.cs":"https://d","/X.cs":"https://c"}}`)
	for range 100 {
		for file, want := range map[string]string{"/src/a.cs": "https://a/a.cs", "/x.cs": "https://c"} {
			link, err := md.SourceLink(file)
			require.NoError(t, err)
			require.Equal(t, want, link)
		}
	}
}

// TestBadSources checks that wrong sizes, cut streams and invalid maps are errors.
func TestBadSources(t *testing.T) {
	md := sources(t, []byte{1, 0}, deflated(t, "x", 1<<31), "{")
	for rid := uint32(1); rid <= 2; rid++ {
		_, ok, err := md.EmbeddedSource(rid)
		assert.False(t, ok)
		assert.ErrorAs(t, err, new(*FormatError))
	}
	_, err := md.SourceLink("/a")
	assert.ErrorAs(t, err, new(*FormatError))
	md = sources(t, deflated(t, "x", 100), deflated(t, "x", 2), "[]")
	for rid := uint32(1); rid <= 2; rid++ {
		_, _, err := md.EmbeddedSource(rid)
		assert.ErrorAs(t, err, new(*FormatError))
	}
	_, err = md.SourceLink("/a")
	assert.ErrorAs(t, err, new(*FormatError))
	link, err := newBuilder().open(t).SourceLink("/a")
	require.NoError(t, err)
	assert.Empty(t, link)
}
