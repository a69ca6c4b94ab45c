package image

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

const (
	// sparseSmall is the maximum size of a range that may be nearly empty. A larger range must have
	// at least one byte in sparseRatio stored, so that a wrong size can't make the reader allocate.
	sparseSmall = 64 << 20
	sparseRatio = 4096
)

// A Gap is a part of a byte slice for memory that is not in the dump.
type Gap struct{ Off, Len int }

func (g Gap) overlaps(off, n int) bool { return off < g.Off+g.Len && g.Off < off+n }

// ReadSparse returns the n bytes at a, with zeros for missing bytes, and the gaps. It fails with
// target.ErrNotInDump if the byte at a is missing. Within a page, everything after the first
// missing byte counts as missing.
func ReadSparse(mem target.Memory, a target.Addr, n int) ([]byte, []Gap, error) {
	return readSparse(mem, a, n, 0)
}

// readSparse is ReadSparse for a Memory with addresses that differ by bias from those that define
// pages.
func readSparse(mem target.Memory, a target.Addr, n int, bias uint64) ([]byte, []Gap, error) {
	if n < 0 {
		return nil, nil, target.Corruptf("%d bytes at %#x", n, uint64(a))
	}
	if b, ok := mem.View(a, n); ok {
		return b, nil, nil
	}
	var head [1]byte
	if _, err := mem.ReadMemory(head[:min(1, n)], a); err != nil {
		return nil, nil, err
	}
	if n > sparseSmall {
		if stored := storedPages(mem, a, n, bias); stored*pageSize < n/sparseRatio {
			return nil, nil, fmt.Errorf("%d pages of %d bytes at %#x: %w", stored, n, uint64(a), target.ErrNotInDump)
		}
	}
	out := make([]byte, n)
	var gaps []Gap
	for off := 0; off < n; {
		k := min(n-off, pageRest(uint64(a)+uint64(off)+bias))
		got, err := mem.ReadMemory(out[off:off+k], a+target.Addr(off))
		if err != nil && got < k {
			clear(out[off+got : off+k])
			gaps = addGap(gaps, Gap{off + got, k - got})
		}
		off += k
	}
	return out, gaps, nil
}

// pageRest returns the number of bytes from a to the end of its page.
func pageRest(a uint64) int { return pageSize - int(a%pageSize) }

// addGap appends g, or joins it to the last gap if they are adjacent.
func addGap(gaps []Gap, g Gap) []Gap {
	if i := len(gaps) - 1; i >= 0 && gaps[i].Off+gaps[i].Len == g.Off {
		gaps[i].Len += g.Len
		return gaps
	}
	return append(gaps, g)
}

// storedPages counts the pages of a range with a stored first byte.
func storedPages(mem target.Memory, a target.Addr, n int, bias uint64) int {
	var b [1]byte
	stored := 0
	for off := 0; off < n; off += pageRest(uint64(a) + uint64(off) + bias) {
		if _, err := mem.ReadMemory(b[:], a+target.Addr(off)); err == nil {
			stored++
		}
	}
	return stored
}
