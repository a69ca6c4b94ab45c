package heap

import (
	"cmp"
	"math/bits"
	"sort"

	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// A stringRow is a finished entry of a stringTable: the strings with one content.
type stringRow struct {
	first target.Addr
	total uint64 // bytes of all strings
	count uint64
}

// less orders rows by total size and then by the first string.
func (r *stringRow) less(o *stringRow) bool {
	return cmp.Or(cmp.Compare(r.total, o.total), cmp.Compare(r.first, o.first)) < 0
}

func (r *stringRow) stats() StringStats {
	return StringStats{First: r.first, Count: r.count, Size: r.total / r.count}
}

// sortedStrings holds the rows of a table in order, in ranges that several goroutines can produce. Each range
// lies between two rows and takes some rows of each sorted part. (Merging the parts with a heap took one
// goroutine as long as counting.)
type sortedStrings struct {
	parts [stringParts][]stringRow
	cuts  []stringRow // first rows of the ranges after the first
}

const (
	rangeSample = 32      // one of so many rows of a part is a candidate for a cut
	rangeRows   = 1 << 12 // approximate rows of a range; at most (rangeRows/rangeSample+stringParts)*rangeSample
	rangeStep   = rangeRows / rangeSample
)

// sort sorts the counted strings and releases the table's memory.
func (t *stringTable) sort(jobs int) *sortedStrings {
	var s sortedStrings
	var group workers.Group
	jobs = min(jobs, stringParts)
	for j := range jobs {
		group.Go(func() {
			var spare []stringRow
			for i := j; i < stringParts; i += jobs {
				s.parts[i], spare = t.parts[i].sort(spare)
			}
		})
	}
	group.Wait()
	t.room.free()
	var samples []stringRow
	for _, rows := range s.parts {
		for i := rangeSample - 1; i < len(rows); i += rangeSample {
			samples = append(samples, rows[i])
		}
	}
	samples, _ = sortRows(samples, nil)
	for i := rangeStep; i < len(samples); i += rangeStep {
		s.cuts = append(s.cuts, samples[i])
	}
	return &s
}

// sort returns the rows of the part in order, and a slice that the next part may use as its spare.
func (p *stringPart) sort(spare []stringRow) (sorted, unused []stringRow) {
	rows := make([]stringRow, 0, p.n)
	for i, chunk := range p.chunks {
		for j := range chunk[:min(stringChunk, p.n-i*stringChunk)] {
			e := &chunk[j]
			rows = append(rows, stringRow{first: e.first, total: e.count * e.size, count: e.count})
		}
	}
	p.free()
	sorted, unused = sortRows(rows, spare)
	if cap(sorted) > len(sorted)+len(sorted)/8 { // it was the spare of a larger part
		return append(unused[:0], sorted...), sorted
	}
	return sorted, unused
}

// ranges returns the number of ranges.
func (s *sortedStrings) ranges() int { return len(s.cuts) + 1 }

// rows returns the rows of a range in order, in one of the two slices passed for reuse, and the other slice.
func (s *sortedStrings) rows(i int, into, spare []stringRow) (rows, unused []stringRow) {
	into = into[:0]
	for _, part := range s.parts {
		if i < len(s.cuts) {
			part = part[:firstFrom(part, &s.cuts[i])]
		}
		if i > 0 {
			part = part[firstFrom(part, &s.cuts[i-1]):]
		}
		into = append(into, part...)
	}
	return sortRows(into, spare)
}

// firstFrom returns the index of the first row that is not before cut.
func firstFrom(rows []stringRow, cut *stringRow) int {
	return sort.Search(len(rows), func(i int) bool { return !rows[i].less(cut) })
}

// sortRows sorts rows by digits of their keys and skips digits that all rows share: usually two or three of the address
// and one or two of the size remain. The result is in one of the two slices; the other is returned as well.
func sortRows(rows, spare []stringRow) (sorted, unused []stringRow) {
	if cap(spare) < len(rows) {
		spare = make([]stringRow, len(rows))
	}
	spare = spare[:len(rows)]
	var first, total uint64 // bits that differ between rows
	ordered := true         // by address, the order of counting
	for i := 1; i < len(rows); i++ {
		first |= uint64(rows[i].first ^ rows[0].first)
		total |= rows[i].total ^ rows[0].total
		ordered = ordered && rows[i].first > rows[i-1].first
	}
	if !ordered {
		rows, spare = sortByDigits(rows, spare, first, false)
	}
	return sortByDigits(rows, spare, total, true)
}

// key returns one of the two sort keys.
func (r *stringRow) key(total bool) uint64 {
	if total {
		return r.total
	}
	return uint64(r.first)
}

// sortByDigits sorts rows by the differing bits of a key, from the lowest digit on. The sort is stable.
func sortByDigits(rows, spare []stringRow, differ uint64, byTotal bool) (sorted, unused []stringRow) {
	const digit = 10
	for differ != 0 {
		shift := bits.TrailingZeros64(differ)
		differ &^= (1<<digit - 1) << shift
		var at [1 << digit]uint32
		for i := range rows {
			at[rows[i].key(byTotal)>>shift%(1<<digit)]++
		}
		n := uint32(0)
		for i := range at {
			at[i], n = n, n+at[i]
		}
		for i := range rows {
			k := &at[rows[i].key(byTotal)>>shift%(1<<digit)]
			spare[*k] = rows[i]
			*k++
		}
		rows, spare = spare, rows
	}
	return rows, spare
}
