package heap

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// hashes are n strings of m contents, in the order of addresses.
func hashes(n, m int) []hashedString {
	list := make([]hashedString, n)
	for i := range list {
		k := uint64(i % m)
		list[i] = hashedString{a: k * 0x9e3779b97f4a7c15, b: k * 0xc2b2ae3d27d4eb4f, addr: target.Addr(0x1000 + 32*i), size: 24 + 2*k}
	}
	return list
}

// TestStringTable: contents are counted as a map counts them, in their order, whatever the number of keepers and batches.
func TestStringTable(t *testing.T) {
	const contents = 5000
	list := hashes(3*contents+7, contents)
	naive := map[uint64]*StringStats{}
	for _, s := range list {
		e := naive[s.a]
		if e == nil {
			e = &StringStats{First: s.addr, Size: s.size}
			naive[s.a] = e
		}
		e.Count++
	}
	var want []StringStats
	for _, e := range naive {
		want = append(want, *e)
	}
	slices.SortFunc(want, func(a, b StringStats) int { return compareStrings(&a, &b) })
	for _, jobs := range []int{1, 2, 8, 20} {
		for _, batch := range []int{1000, len(list)} {
			t.Run(fmt.Sprint(jobs, batch), func(t *testing.T) {
				table := newStringTable()
				keepers := table.keep(jobs, func() {})
				for part := range slices.Chunk(list, batch) {
					keepers.add(t.Context(), slices.Clone(part))
				}
				keepers.end()
				assert.Equal(t, want, slices.Collect(table.sorted(jobs)))
				assert.NoError(t, table.gap())
			})
		}
	}
}

// TestStringCeiling: what has no room is told, and the rest does not depend on the number of keepers.
func TestStringCeiling(t *testing.T) {
	list := hashes(20_000, 10_000)
	var first []StringStats
	for _, jobs := range []int{1, 3, 8} {
		table := newStringTable()
		table.most = 4
		keepers := table.keep(jobs, func() {})
		keepers.add(t.Context(), slices.Clone(list))
		keepers.end()
		got := slices.Collect(table.sorted(jobs))
		counted := uint64(0)
		for _, s := range got {
			counted += s.Count
		}
		assert.LessOrEqual(t, len(got), 4*stringParts)
		err := table.gap()
		require.ErrorIs(t, err, target.ErrUnsupported)
		assert.ErrorContains(t, err, fmt.Sprintf("%d strings are not counted", uint64(len(list))-counted))
		if first == nil {
			first = got
		}
		assert.Equal(t, first, got)
	}
}

// TestTextsEnd: who wants no more, and who cancels, waits for nobody.
func TestTextsEnd(t *testing.T) {
	b := &builder{}
	for i := range 5000 {
		b.add(mtString, 22, 2, i%7)
	}
	h := b.heap(true, nil)
	all := func(yield func(StringStats) bool) {
		for _, a := range b.objs {
			if !yield(StringStats{First: a, Count: 1, Size: 24}) {
				return
			}
		}
	}
	n := 0
	for s := range h.texts(t.Context(), all, 3) {
		require.Equal(t, b.objs[n], s.Address)
		n++
	}
	assert.Equal(t, len(b.objs), n)
	for range h.texts(t.Context(), all, 3) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range h.texts(ctx, all, 3) {
		t.Log("a batch may be ready")
	}
}

// TestTextOfStrings: ASCII and other text.
func TestTextOfStrings(t *testing.T) {
	r := &textReader{}
	for _, s := range []string{"", "plain", "tab\there", "na\u00efve", "\u4e2d\u6587", "a\U0001f600"} {
		var b []byte
		for _, c := range s {
			if c > 0xffff {
				c -= 0x10000
				hi, lo := 0xd800+c>>10, 0xdc00+c&0x3ff
				b = append(b, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
				continue
			}
			b = append(b, byte(c), byte(c>>8))
		}
		assert.Equal(t, s, r.text(b))
	}
}
