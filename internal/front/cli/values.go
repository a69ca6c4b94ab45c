package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/target"
)

// parseKind reads a value: an address, a number (two's complement) or a size; of a Bool 0 or 1. Texts are 0.
func parseKind(kind Kind, text string) (uint64, error) {
	switch kind {
	case Bool:
		b, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return 0, fmt.Errorf("%q is neither true nor false", text)
		}
		if b {
			return 1, nil
		}
		return 0, nil
	case Address:
		a, err := ParseAddress(text)
		return uint64(a), err
	case Int:
		n, err := ParseInt(text)
		return uint64(n), err
	case Size:
		return ParseSize(text)
	case Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, fmt.Errorf("%q is not a duration, such as 30s or 5m", text)
		}
		return uint64(d), nil
	}
	return 0, nil
}

// ParseAddress reads an address as SOS and debuggers write it: hexadecimal,
// with or without 0x, back-ticks and underscores anywhere between digits.
func ParseAddress(text string) (target.Addr, error) {
	digits := strings.NewReplacer("`", "", "_", "").Replace(text)
	digits = trimHexPrefix(digits)
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an address (hexadecimal, at most 16 digits)", text)
	}
	return target.Addr(v), nil
}

// ParseInt reads a decimal number, also with 0n, or a hexadecimal one with 0x.
func ParseInt(text string) (int64, error) {
	digits, negative := strings.CutPrefix(text, "-")
	base := 10
	if rest := trimPrefixFold(digits, "0n"); rest != digits {
		digits = rest // WinDbg's mark of decimal numbers
	} else if rest := trimHexPrefix(digits); rest != digits {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a number (decimal, or hexadecimal with 0x)", text)
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

// ParseSize reads a number of bytes: an integer as ParseInt takes it, with an
// optional unit of 1024: k, kb, m, mb, g, gb, t, tb.
func ParseSize(text string) (uint64, error) {
	digits, shift := text, 0
	if trimHexPrefix(text) == text { // in hexadecimal "b" is a digit
		digits, shift = cutUnit(text)
	}
	n, err := ParseInt(digits)
	if err != nil || n < 0 || uint64(n) > math.MaxUint64>>shift {
		return 0, fmt.Errorf("%q is not a size (bytes, 0x for hexadecimal, or with k, m, g)", text)
	}
	return uint64(n) << shift, nil
}

func cutUnit(text string) (digits string, shift int) {
	lower := strings.ToLower(text)
	for i, u := range [...]string{"k", "m", "g", "t"} {
		for _, suffix := range [...]string{u + "b", u} {
			if d, ok := strings.CutSuffix(lower, suffix); ok {
				return d, 10 * (i + 1)
			}
		}
	}
	return text, 0
}

func trimHexPrefix(s string) string { return trimPrefixFold(s, "0x") }

// trimPrefixFold takes a prefix off, in any case, unless nothing is after it.
func trimPrefixFold(s, prefix string) string {
	if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):]
	}
	return s
}
