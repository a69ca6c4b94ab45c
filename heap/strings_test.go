package heap

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/offheap"
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

// lanes are list by lanes.
func lanes(list []hashedString) *stringLists {
	var l stringLists
	for _, s := range list {
		l[s.a%stringLanes] = append(l[s.a%stringLanes], s)
	}
	return &l
}

// ordered returns all ranges of s.
func ordered(s *sortedStrings) []StringStats {
	var list []StringStats
	var rows, spare []stringRow
	for i := range s.ranges() {
		rows, spare = s.rows(i, rows, spare)
		for j := range rows {
			list = append(list, rows[j].stats())
		}
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
	slices.SortFunc(want, func(a, b StringStats) int {
		return cmp.Or(cmp.Compare(a.TotalSize(), b.TotalSize()), cmp.Compare(a.First, b.First))
	})
	for _, jobs := range []int{1, 2, 8, 20} {
		for _, batch := range []int{1000, len(list)} {
			t.Run(fmt.Sprint(jobs, batch), func(t *testing.T) {
				keepers := keepStrings(t.Context(), jobs, func() {})
				for part := range slices.Chunk(list, batch) {
					keepers.add(t.Context(), &stringHasher{hashed: *lanes(part)})
				}
				table := keepers.end()
				assert.NoError(t, table.gap())
				assert.Equal(t, want, ordered(table.sort(jobs)))
			})
		}
	}
}

// TestStringCeiling checks that strings without room are reported, and that the others do not depend on the
// number of keepers.
func TestStringCeiling(t *testing.T) {
	list := hashes(20_000, 10_000)
	var first []StringStats
	for _, jobs := range []int{1, 3, 8} {
		keepers := keepStrings(t.Context(), jobs, func() {})
		keepers.table.most = 4
		keepers.add(t.Context(), &stringHasher{hashed: *lanes(list)})
		table := keepers.end()
		got := ordered(table.sort(jobs))
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

// TestStringRanges: rows of many ranges are in order, whatever they have in common: sizes, counts, or nothing.
func TestStringRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, sizes := range []uint64{1, 3, 1 << 12, 1 << 40} {
		var list []hashedString
		for i := range 20 * rangeRows {
			list = append(list, hashedString{a: r.Uint64(), b: r.Uint64(), addr: 0x7fff_0000_0000 + target.Addr(32*i), size: 22 + r.Uint64N(sizes)})
		}
		keepers := keepStrings(t.Context(), 2, func() {})
		keepers.add(t.Context(), &stringHasher{hashed: *lanes(list)})
		sorted := keepers.end().sort(2)
		require.Greater(t, sorted.ranges(), 10)
		got := ordered(sorted)
		slices.SortFunc(list, func(a, b hashedString) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.addr, b.addr)) })
		require.Len(t, got, len(list))
		for i := range got {
			require.Equal(t, StringStats{First: list[i].addr, Count: 1, Size: list[i].size}, got[i])
		}
	}
}

// TestSortRows checks that the order is by both keys for rows in any order, as from segments out of order.
func TestSortRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		rows := make([]stringRow, r.IntN(100))
		for i := range rows {
			rows[i] = stringRow{first: target.Addr(r.Uint64() >> r.IntN(64)), total: r.Uint64() >> (48 + r.IntN(16))}
		}
		want := slices.Clone(rows)
		slices.SortFunc(want, func(a, b stringRow) int { return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.first, b.first)) })
		got, _ := sortRows(rows, nil)
		assert.Equal(t, want, got)
	}
}

// TestInOrder checks that a caller that stops or cancels does not wait, and that results come in order.
func TestInOrder(t *testing.T) {
	work := func() func(int, *int) { return func(i int, into *int) { *into = i } }
	n := 0
	require.NoError(t, inOrder(t.Context(), 1000, 3, work, func(i *int) error {
		require.Equal(t, n, *i)
		n++
		return nil
	}))
	assert.Equal(t, 1000, n)
	assert.Equal(t, errEnough, inOrder(t.Context(), 1000, 3, work, func(*int) error { return errEnough }))
	ctx, cancel := context.WithCancel(t.Context())
	assert.ErrorIs(t, inOrder(ctx, 1000, 3, work, func(*int) error { cancel(); return nil }), context.Canceled)
	assert.Panics(t, func() {
		_ = inOrder(t.Context(), 1000, 3, func() func(int, *int) { return func(int, *int) { panic("work") } }, func(*int) error { return nil })
	})
}

// TestStringBudget checks that strings without room in the budget are reported as a limit, and that sorting returns all
// memory.
func TestStringBudget(t *testing.T) {
	budget := offheap.NewBudget(stringSlab * 32)
	keepers := keepStrings(offheap.WithBudget(t.Context(), budget), 2, func() {})
	keepers.add(t.Context(), &stringHasher{hashed: *lanes(hashes(800_000, 700_000))})
	table := keepers.end()
	assert.ErrorIs(t, table.gap(), target.ErrLimit)
	assert.LessOrEqual(t, budget.Peak(), int64(stringSlab*32))
	assert.NotEmpty(t, ordered(table.sort(2)))
	assert.Zero(t, budget.InUse())
}

// TestTextOfStrings: ASCII and other text.
func TestTextOfStrings(t *testing.T) {
	for _, s := range []string{"", "plain", "of four and more", "of four and m\u00f6re", "tab\there", "na\u00efve", "\u4e2d\u6587", "a\U0001f600"} {
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
		assert.Equal(t, "before"+s, string(appendText([]byte("before"), b)))
	}
}

// BenchmarkStringTable counts a million strings of half as many contents, which is more than a cache has room for.
func BenchmarkStringTable(b *testing.B) {
	const strings = 1 << 20
	r := rand.New(rand.NewPCG(1, 2))
	list := hashes(strings, strings/2)
	for i := range list {
		k := r.Uint64N(strings / 2)
		list[i].a, list[i].b = k*0x9e3779b97f4a7c15, k*0xc2b2ae3d27d4eb4f
	}
	all := lanes(list)
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			t := newStringTable(nil)
			for _, lane := range all {
				t.addAll(lane)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/strings, "ns/string")
	})
	b.Run("sort", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			t := newStringTable(nil)
			for _, lane := range all {
				t.addAll(lane)
			}
			b.StartTimer()
			s := t.sort(1)
			var rows, spare []stringRow
			for i := range s.ranges() {
				rows, spare = s.rows(i, rows, spare)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/strings, "ns/string")
	})
}
