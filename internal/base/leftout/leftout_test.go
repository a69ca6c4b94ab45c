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

func ExampleDecode() {
	note := leftout.NewMark(0x123456789abcdef0).Note()
	m, err := leftout.Decode(note)
	fmt.Printf("%d bytes, mark %#x, %v\n", len(note), uint64(m), err)
	// Output: 24 bytes, mark 0xa5c3123456789abc, <nil>
}

func TestDecode(t *testing.T) {
	good := leftout.NewMark(7 << 32).Note()
	require.Len(t, good, leftout.Size)
	m, err := leftout.Decode(good)
	require.NoError(t, err)
	assert.Equal(t, leftout.NewMark(7<<32), m)
	assert.Equal(t, "\x00\x00\x07\x00\x00\x00\xc3\xa5", string(m.Bytes()))
	for n := range good {
		_, err := leftout.Decode(good[:n])
		assert.ErrorIs(t, err, target.ErrCorrupt, n)
	}
	_, err = leftout.Decode(append(bytes.Clone(good), 0))
	assert.ErrorIs(t, err, target.ErrCorrupt)
	later := bytes.Clone(good)
	later[12]++
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
	f.Add(leftout.NewMark(1 << 40).Note())
	f.Add([]byte("sosgo shrink\x02\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := leftout.Decode(b)
		if err == nil && !bytes.Equal(m.Note(), b) {
			t.Fatalf("%x became %x", b, m.Note())
		}
	})
}
