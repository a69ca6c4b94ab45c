package leftout_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/target"
)

// plain is the length in bytes of a note without runs.
const plain = 24

func note(mark leftout.Mark, runs ...leftout.Run) []byte {
	return (&leftout.Note{Mark: mark, Runs: runs}).Bytes()
}

func ExampleDecode() {
	b := (&leftout.Note{Mark: leftout.NewMark(0x123456789abcdef0)}).Bytes()
	n, err := leftout.Decode(b)
	fmt.Printf("%d bytes, mark %#x, %v\n", len(b), uint64(n.Mark), err)
	// Output: 24 bytes, mark 0xa5c3123456789abc, <nil>
}

func TestDecode(t *testing.T) {
	good := note(leftout.NewMark(7 << 32))
	require.Len(t, good, plain)
	n, err := leftout.Decode(good)
	require.NoError(t, err)
	assert.Equal(t, leftout.NewMark(7<<32), n.Mark)
	assert.Equal(t, "\x00\x00\x07\x00\x00\x00\xc3\xa5", string(n.Mark.Bytes()))
	for n := range good {
		_, err := leftout.Decode(good[:n])
		assert.ErrorIs(t, err, target.ErrCorrupt, n)
	}
	_, err = leftout.Decode(append(bytes.Clone(good), 0))
	assert.ErrorIs(t, err, target.ErrCorrupt)
	later := bytes.Clone(good)
	later[12] = 3
	_, err = leftout.Decode(append(later, 1, 2, 3))
	assert.ErrorIs(t, err, target.ErrUnsupported)
	for i := range good[:12] {
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		_, err = leftout.Decode(bad)
		assert.ErrorIs(t, err, target.ErrCorrupt)
	}
	_, err = leftout.Decode(append(bytes.Clone(good[:16]), make([]byte, 8)...))
	assert.ErrorIs(t, err, target.ErrCorrupt, "zeros are data")
}

// TestRuns checks that impossible runs are damage.
func TestRuns(t *testing.T) {
	const page = leftout.Page
	mark := leftout.NewMark(7 << 32)
	runs := []leftout.Run{{Addr: page, Size: page}, {Addr: 2 * page, Size: 3 * page, Kind: leftout.Zeros},
		{Addr: 8 * page, Size: page}, {Addr: 9 * page, Size: 2 * page, Kind: leftout.InFile, Sums: []uint64{7, 8}}}
	good := (&leftout.Note{Mark: mark, Runs: runs, Segments: []byte("headers")}).Bytes()
	n, err := leftout.Decode(good)
	require.NoError(t, err)
	assert.Equal(t, runs, n.Runs)
	assert.Equal(t, "headers", string(n.Segments))
	for n := range len(good) - len("headers") {
		_, err := leftout.Decode(good[:n])
		assert.ErrorIs(t, err, target.ErrCorrupt, n)
	}
	for what, bad := range map[string][]leftout.Run{
		"no size":     {{Addr: page}},
		"not a page":  {{Addr: page + 8, Size: page}},
		"half a page": {{Addr: page, Size: page / 2}},
		"no kind":     {{Addr: page, Size: page, Kind: 3}},
		"no sums":     {{Addr: page, Size: page, Kind: leftout.InFile}},
		"many pages":  {{Addr: page, Size: 1 << 50, Kind: leftout.InFile, Sums: make([]uint64, 8)}},
		"wraps":       {{Addr: ^target.Addr(0) &^ (page - 1), Size: 2 * page}},
		"overlap":     {{Addr: page, Size: 2 * page}, {Addr: 2 * page, Size: page}},
		"order":       {{Addr: 2 * page, Size: page}, {Addr: page, Size: page}},
	} {
		_, err := leftout.Decode(note(mark, bad...))
		assert.ErrorIs(t, err, target.ErrCorrupt, what)
	}
}

// TestIndex finds only whole aligned words.
func TestIndex(t *testing.T) {
	word := leftout.NewMark(0x0102030405060708).Bytes()
	at := func(before int) []byte { return append(bytes.Repeat([]byte{1}, before), word...) }
	for _, c := range []struct {
		b    []byte
		a    target.Addr
		want int
	}{
		{at(0), 0x1000, 0}, {at(0), 0x1004, -1}, {at(4), 0x1004, 4}, {at(3), 0x1000, -1}, {append(at(3), at(5)...), 0x1000, 16}, {word[:7], 0x1000, -1}, {nil, 0x1001, -1},
		{append(word[4:], at(0)...), 0x1004, 4}, {word[1:], 0x1001, -1},
	} {
		assert.Equal(t, c.want, leftout.Index(c.b, c.a, word), "%x at %v", c.b, c.a)
	}
}

// FuzzDecode: Decode returns an error, or a mark with the same note.
func FuzzDecode(f *testing.F) {
	f.Add(note(leftout.NewMark(1 << 40)))
	f.Add(note(leftout.NewMark(1<<40), leftout.Run{Addr: 4096, Size: 8192, Kind: leftout.Zeros}))
	f.Add(note(leftout.NewMark(1<<40), leftout.Run{Addr: 4096, Size: 8192, Kind: leftout.InFile, Sums: []uint64{1, 2}}))
	f.Add([]byte("sosgo shrink\x02\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := leftout.Decode(b)
		if err == nil && !bytes.Equal(n.Bytes(), b) {
			t.Fatalf("%x became %x", b, n.Bytes())
		}
	})
}
