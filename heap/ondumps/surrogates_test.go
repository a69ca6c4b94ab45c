package ondumps_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestLoneSurrogates checks that strings that differ only in half a character count as two, with different
// texts in all forms.
func TestLoneSurrogates(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	const length = 5
	var same []target.Addr
	require.NoError(t, h.ListStrings(t.Context(), heap.ListOptions{}).Objects.Format(100, func() answer.AppendObject {
		return func(b []byte, o *answer.HeapObject) []byte {
			if o.Size == 22+2*length && len(same) < 3 {
				same = append(same, o.Address)
			}
			return b
		}
	}, func([]byte) error { return nil }))
	require.Len(t, same, 3)
	var damage []testdump.Damage
	for i, unit := range []uint16{0xd800, 0xd801, 0xfffd} {
		damage = append(damage, testdump.Damage{At: same[i] + 12, Bytes: binary.LittleEndian.AppendUint16(bytes.Repeat([]byte{'x', 0}, length-1), unit)})
	}
	v := d.Damaged(t, damage...)
	h, err = v.Heap()
	require.NoError(t, err)
	counts := map[target.Addr]answer.StringCount{}
	for s, err := range h.CountStrings(t.Context(), heap.ListOptions{}).Strings.All() {
		require.NoError(t, err)
		counts[s.Address] = s
	}
	r, err := v.Objects()
	require.NoError(t, err)
	for i, want := range []string{`"xxxx\ud800"`, `"xxxx\ud801"`, "\"xxxx\ufffd\""} {
		assert.EqualValues(t, 1, counts[same[i]].Count)
		assert.Equal(t, want, string(jsonenc.AppendString(nil, counts[same[i]].Text.S)), "a list")
		s, err := r.DescribeString(same[i])
		require.NoError(t, err)
		text, err := jsonenc.Marshal(&s.Text)
		require.NoError(t, err)
		assert.Equal(t, want, string(text), "dumpstring")
		o, err := r.Object(same[i])
		require.NoError(t, err)
		assert.Equal(t, want, o.Inline(100), "a line of dumpobj")
	}
	// A cut text ends before half of a pair.
	pair := testdump.Damage{At: same[0] + 12, Bytes: []byte{'x', 0, 0x34, 0xd8, 0x1e, 0xdd, 'x', 0, 'x', 0}}
	h, err = d.Damaged(t, pair).Heap()
	require.NoError(t, err)
	for limit, want := range []string{"", "x", "x", "x𝄞"} {
		text, whole, err := h.StringText(same[0], limit)
		require.NoError(t, err)
		assert.Equal(t, want, text)
		assert.False(t, whole)
	}
}
