package parquetfile

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Encodings of values: https://github.com/apache/parquet-format/blob/master/Encodings.md.

// appendBits appends values of width bits each, the first one in the lowest bits. The last byte is padded with zeros.
func appendBits(dst []byte, values []uint64, width int) []byte {
	if width == 0 {
		return dst
	}
	var pending uint64
	n := 0 // bits in pending, fewer than 8 between values
	for _, v := range values {
		pending |= v << n
		n += width
		if n >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, pending)
			n -= 64
			pending = v >> (width - n) // Go shifts by 64 to 0
			continue
		}
		for ; n >= 8; n -= 8 {
			dst = append(dst, byte(pending))
			pending >>= 8
		}
	}
	for ; n > 0; n -= 8 {
		dst = append(dst, byte(pending))
		pending >>= 8
	}
	return dst
}

// groupValues is the number of values in a group of bit-packed values.
const groupValues = 8

// appendHybrid appends values in the hybrid of run-length encoding and bit packing (RLE). Runs of at least a
// group are counted, other values are packed.
func appendHybrid(dst []byte, values []uint64, width int) []byte {
	packed := 0 // start of the values to be packed; whole groups
	for at := 0; at < len(values); {
		run := 1
		for at+run < len(values) && values[at+run] == values[at] {
			run++
		}
		// A run may complete a group that has begun.
		fill := -(at - packed) & (groupValues - 1)
		if run-fill < groupValues {
			at += run
			continue
		}
		dst = appendPacked(dst, values[packed:at+fill], width)
		dst = binary.AppendUvarint(dst, uint64(run-fill)<<1)
		for i := 0; i < width; i += 8 {
			dst = append(dst, byte(values[at]>>i))
		}
		at += run
		packed = at
	}
	return appendPacked(dst, values[packed:], width)
}

// appendPacked appends a run of bit-packed groups. The last group may be incomplete only at the end of all values.
func appendPacked(dst []byte, values []uint64, width int) []byte {
	if len(values) == 0 {
		return dst
	}
	groups := (len(values) + groupValues - 1) / groupValues
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	end := len(dst) + groups*width
	dst = appendBits(dst, values, width)
	for len(dst) < end {
		dst = append(dst, 0)
	}
	return dst
}

// Sizes in DELTA_BINARY_PACKED.
const (
	blockValues = 128
	miniValues  = 32
)

// appendDelta appends 64-bit integers as differences (DELTA_BINARY_PACKED).
func appendDelta(dst []byte, values []uint64) []byte {
	dst = binary.AppendUvarint(dst, blockValues)
	dst = binary.AppendUvarint(dst, blockValues/miniValues)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(values[0]))
	var deltas [blockValues]uint64
	for at := 1; at < len(values); at += blockValues {
		n := min(blockValues, len(values)-at)
		least := int64(math.MaxInt64)
		for i := range n {
			d := values[at+i] - values[at+i-1] // wraps around, as the format requires
			deltas[i] = d
			least = min(least, int64(d))
		}
		for i := range n {
			deltas[i] -= uint64(least)
		}
		clear(deltas[n:])
		dst = appendBlock(binary.AppendVarint(dst, least), &deltas, n)
	}
	return dst
}

// appendBlock appends the widths and the values of the miniblocks. n values are used.
func appendBlock(dst []byte, deltas *[blockValues]uint64, n int) []byte {
	widths := len(dst)
	dst = append(dst, make([]byte, blockValues/miniValues)...)
	for m := 0; m*miniValues < n; m++ {
		mini := deltas[m*miniValues : (m+1)*miniValues]
		all := uint64(0)
		for _, d := range mini {
			all |= d
		}
		width := bits.Len64(all)
		dst[widths+m] = byte(width)
		dst = appendBits(dst, mini, width)
	}
	return dst
}
