package scrub

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// marked returns the bytes of a read that note marks, with dots for the others.
func marked(b []byte) string {
	m := &marks{pages: map[target.Addr]*page{}, isPointer: func(v uint64) bool { return v>>32 == 0x7f01 }}
	const at = keptPage - 8 // in two pages
	m.note(at, b)
	out := bytes.Clone(b)
	for i := range out {
		if a := target.Addr(at + i); !m.page(a).isMarked(a) {
			out[i] = '.'
		}
	}
	return string(out)
}

// TestNote checks that structures and texts that were read stay, and bytes beside them do not.
func TestNote(t *testing.T) {
	word := func(v uint64) string { return string(le.AppendUint64(nil, v)) }
	pad := func(s string, n int) string { return s + strings.Repeat("\x00", n-len(s)) }
	wide := "p\x00a\x00t\x00h\x00\x00\x00"
	series := word(^uint64(0xb7)) + word(0xb0) + word(^uint64(0x117)) + word(8)
	pointers := word(0x7f01_41424344) + strings.Repeat(word(5), 9)
	for _, c := range []struct{ what, read, want string }{
		{"a field", "hunter22", "hunter22"},
		{"a header after a block in use", "hunter22" + word(0x21), "........" + word(0x21)},
		{"a header after a free block", word(0x40) + word(0x20), word(0x40) + word(0x20)},
		{"a text, and what is behind it", pad("name\x00secret-of-others", textRead), "name\x00" + strings.Repeat(".", textRead-5)},
		{"a short text", pad("n\x00secret-of-others", textRead), "n\x00" + strings.Repeat(".", textRead-2)},
		{"a wide text", pad(wide+"secret", textRead), wide + strings.Repeat(".", textRead-len(wide))},
		{"a series of a GCDesc", series, series},
		{"pointers of printable bytes", pointers, pointers},
		{"text in a structure", word(1) + pad("secret-of-others", 72), word(1) + strings.Repeat(".", 16) + strings.Repeat("\x00", 56)},
	} {
		assert.Equal(t, c.want, marked([]byte(c.read)), c.what)
	}
}

// TestLayout checks that structures precede memory that overlaps them, and that parts past the end of the file
// are ignored.
func TestLayout(t *testing.T) {
	l := newLayout([]span{{off: 0, size: 32}, {off: 100, size: 10}, {off: 104, size: 16}, {off: 990, size: 100}, {off: 5000, size: 1}},
		[]memmap.Range{{Addr: 0x1000, Size: 200, Offset: 0}, {Addr: 0x5000, Size: 100, Offset: 150}, {Addr: 0x9000, Size: 1 << 60, Offset: 900}, {Addr: 1, Size: 8, Offset: -5}},
		[]edit{{102, []byte("ab")}, {1, []byte("c")}}, 1000)
	end := int64(0)
	for _, s := range l.spans {
		require.GreaterOrEqual(t, s.off, end)
		end = s.off + s.size
		if s.memory && s.off < 200 && s.addr < 0x5000 {
			assert.Equal(t, target.Addr(0x1000+s.off), s.addr)
		}
	}
	assert.EqualValues(t, 1000, end)
	b := make([]byte, 8)
	l.edit(b, 96)
	assert.Equal(t, "\x00\x00\x00\x00\x00\x00ab", string(b))
	l.edit(b[:1], 103)
	assert.Equal(t, "b", string(b[:1]))
	assert.Len(t, l.spansIn(20, 40), 2)
}

// TestDisguise: texts of a length stay apart, whatever their form, and each run has letters of its own.
func TestDisguise(t *testing.T) {
	d, err := newDisguise(map[string]bool{"a\x00": true})
	require.NoError(t, err)
	seen := map[string]bool{}
	for c := range 300 { // more characters than letters
		b := le.AppendUint16(nil, uint16(c+1))
		d.replace(b, true)
		assert.False(t, seen[string(b)] || string(b) == "a\x00", "%q", b)
		seen[string(b)] = true
	}
	narrow, wide := []byte("a secret of nobody"), []byte{}
	for _, c := range narrow {
		wide = append(wide, c, 0)
	}
	other, err := newDisguise(nil)
	require.NoError(t, err)
	again := bytes.Clone(narrow)
	other.replace(again, false)
	d.replace(narrow, false)
	d.replace(wide, true)
	assert.Equal(t, string(narrow), strings.ReplaceAll(string(wide), "\x00", ""))
	assert.NotEqual(t, narrow, again)
	assert.Equal(t, d.code(7), d.code(7))
	assert.NotEqual(t, d.code(7), d.code(8))
	assert.Equal(t, []uint32{0, ^uint32(0), 1 << 31}, []uint32{d.code(0), d.code(^uint32(0)), d.code(1 << 31)})
	assert.NotZero(t, d.code(1<<31|7)>>31)
}

// TestUserFolder: the name in a path of a user is found, whatever separates its parts.
func TestUserFolder(t *testing.T) {
	for path, want := range map[string]string{
		"/home/alice/app/X.dll": "/home/|alice", `C:\Users\Alice B\src\X.pdb`: `\Users\|Alice B`, "/Users/al/x": "/Users/|al", "/mnt/home/bob/x": "/home/|bob",
		"/home/": "|", "/home/file": "|", "/usr/lib/x.so": "|", "": "|", "/home//x": "|",
	} {
		home, name, ok := userFolder(path)
		assert.Equal(t, want, home+"|"+name, path)
		assert.Equal(t, want != "|", ok)
	}
}

// TestPatterns: secrets are found in both encodings, also across two pieces.
func TestPatterns(t *testing.T) {
	d, err := newDisguise(nil)
	require.NoError(t, err)
	p := newPatterns([]string{"tiger-99-tail", "abcd"}, nil, d)
	b := []byte("xx tiger-99-tail t\x00i\x00g\x00e\x00r\x00-\x009\x009\x00-\x00t\x00a\x00i\x00l\x00 abcd")
	assert.EqualValues(t, 39, p.overwrite(b))
	assert.NotContains(t, string(b), "tiger")
	assert.Contains(t, string(b), "abcd", "too short to be searched for in UTF-8")
	w := &writer{job: &job{secrets: p}}
	x, y := []byte("....tiger-"), []byte("99-tail...")
	w.seam(x, y)
	assert.NotContains(t, string(x)+string(y), "tiger")
	assert.Equal(t, "....", string(x[:4]))
	assert.Equal(t, "...", string(y[7:]))
}
