package dump

import (
	"math"
	"os"
	"syscall"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// spaceFor is freeSpace; tests replace it.
var spaceFor = freeSpace

// A ceiling is the maximum size of an unpacked dump, and the reason for it.
type ceiling struct {
	bytes int64
	err   func() error
}

// ceiling returns the lowest limit for a dump of size bytes that is unpacked into f. A limit set by
// the user is not adjusted.
func (o *Options) ceiling(size int64, f *os.File) ceiling {
	c := ceiling{limits.DecompressedSize, nil}
	if o.MaxDecompressed > 0 {
		c.bytes = o.MaxDecompressed
	}
	c.err = func() error {
		return target.Limitf("the unpacked dump is larger than the limit of %d bytes (Options.MaxDecompressed, --limit unpacked=SIZE)", c.bytes)
	}
	if n := o.ratioCeiling(size, 1); n < c.bytes {
		c = ceiling{n, o.ratioError}
	}
	if free, ok := spaceFor(f); ok {
		if n := max(free-min(limits.SpaceReserve, free/10), 0); n < c.bytes {
			c = ceiling{n, func() error {
				return target.Limitf("the unpacked dump does not fit: %d bytes may be used where it is unpacked to (TMPDIR chooses another place): %w", n, syscall.ENOSPC)
			}}
		}
	}
	return c
}

// ratio returns the maximum number of unpacked bytes for each byte of a file.
func (o *Options) ratio() int64 {
	if o.MaxRatio > 0 {
		return o.MaxRatio
	}
	return limits.DecompressedRatio
}

// ratioCeiling returns the maximum size of what size bytes of a file unpack to, if they may have ahead times as much as a whole file.
func (o *Options) ratioCeiling(size, ahead int64) int64 {
	return max(product(product(size, o.ratio()), ahead), limits.DecompressedFree)
}

func (o *Options) ratioError() error {
	return target.Limitf("the dump unpacks to more than %d times its size, which is what files made to do harm do: if it is honest, "+
		"raise the limit (Options.MaxRatio, --limit ratio=N)", o.ratio())
}

func product(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
