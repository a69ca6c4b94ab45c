package report

import (
	"math/bits"
	"strconv"

	"github.com/sosgo/sosgo/internal/words"
)

const hexDigits = "0123456789abcdef"

// AppendHex appends v in lower-case hexadecimal, zero-padded to at least digits digits.
func AppendHex(b []byte, v uint64, digits int) []byte {
	var d [16]byte
	n := max((bits.Len64(v)+3)/4, min(digits, len(d)), 1)
	for ; digits > len(d); digits-- {
		b = append(b, '0')
	}
	for i := n - 1; i >= 0; i-- {
		d[i] = hexDigits[v&15]
		v >>= 4
	}
	return append(b, d[:n]...)
}

// Hex16 formats v as SOS prints a 64-bit pointer: sixteen digits without prefix.
func Hex16[T ~uint64](v T) string { return string(AppendHex(nil, uint64(v), 16)) }

// Hex12 formats v as SOS's newer tables print a pointer: at least twelve digits.
func Hex12[T ~uint64](v T) string { return string(AppendHex(nil, uint64(v), 12)) }

// Hex formats v in hexadecimal with the prefix 0x, unpadded.
func Hex[T ~uint64](v T) string { return string(AppendHex([]byte("0x"), uint64(v), 1)) }

// AppendCommas appends n in decimal with a comma between thousands.
func AppendCommas(b []byte, n uint64) []byte {
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], n, 10)
	for i, c := range d {
		if i > 0 && (len(d)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, c)
	}
	return b
}

// Commas formats n in decimal with a comma between thousands.
func Commas(n uint64) string { return string(AppendCommas(nil, n)) }

// Count returns a number of things with its noun: "1 object", "12,400 objects".
func Count(n uint64, one, many string) string { return Commas(n) + " " + Noun(n, one, many) }

// Noun returns the noun, or the verb, of n things.
func Noun(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Percent formats a percentage with one decimal.
func Percent(f float64) string { return words.PercentText(f) }

// Share formats part as a percentage of all, or returns "-" if all is 0.
func Share(part, all uint64) string {
	if all == 0 {
		return "-"
	}
	return Percent(100 * float64(part) / float64(all))
}

// Millis formats a number of milliseconds as a duration: 1 h, 14.2 s, 250 ms.
func Millis(ms int64) string { return words.ElapsedMillis(ms) }

// HumanSize formats a number of bytes as SOS does for people: kb, mb or gb of 1,024 with two decimals.
func HumanSize(bytes uint64) string {
	v, unit := float64(bytes)/1024, "kb"
	for _, u := range [...]string{"mb", "gb"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	return strconv.FormatFloat(v, 'f', 2, 64) + unit
}

// Size formats a number of bytes for people: B, KB, MB or GB of 1,024, with one decimal from KB on.
func Size(bytes uint64) string { return words.Size(bytes) }

// appendSigned appends v in decimal with commas, or in hexadecimal with a prefix and at least two digits. The sign
// comes first.
func appendSigned(b []byte, v int64, kind Kind) []byte {
	u := uint64(v)
	if v < 0 && kind != HexValue {
		b, u = append(b, '-'), -u
	}
	return appendUnsigned(b, u, kind)
}

func appendUnsigned(b []byte, v uint64, kind Kind) []byte {
	switch kind {
	case Pointer:
		return AppendHex(b, v, 12)
	case HexValue, HexOffset:
		return AppendHex(append(b, "0x"...), v, 2)
	case Integer:
		return AppendCommas(b, v)
	case HumanReadable:
		return append(b, HumanSize(v)...)
	}
	return strconv.AppendUint(b, v, 10)
}
