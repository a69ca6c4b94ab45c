package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/target"
)

// parseKind parses a value: an address, a number (two's complement), a size, or a Bool as 0 or 1. It returns 0 for
// texts.
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

// ParseAddress parses a hexadecimal address with or without 0x. Like SOS and debuggers, it ignores backticks and
// underscores between digits. As in WinDbg, numbers may be added or subtracted: 7f0012345678+1c-8.
func ParseAddress(text string) (target.Addr, error) {
	a, err := parseHex(text)
	if terms, ok := termsOf(text); err != nil && ok && len(terms[0].text) >= shortestBase {
		if sum, isSum := sumOf(terms); isSum {
			return sum, nil
		}
	}
	return a, err
}

// shortestBase is the least number of characters before + or - in an address: shorter texts may be parts of names.
const shortestBase = 6

// A summand is a part of an address that is written as a sum.
type summand struct {
	text  string
	minus bool
}

// termsOf splits a sum into its terms. ok is false if text is not one.
func termsOf(text string) (terms []summand, ok bool) {
	from, minus := 0, false
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] != '+' && text[i] != '-' {
			continue
		}
		if i == from {
			return nil, false
		}
		terms = append(terms, summand{text[from:i], minus})
		if i < len(text) {
			from, minus = i+1, text[i] == '-'
		}
	}
	return terms, len(terms) > 1
}

// sumOf adds hexadecimal numbers. ok is false if one is no number, or if the sum is no address.
func sumOf(terms []summand) (sum target.Addr, ok bool) {
	for _, t := range terms {
		n, err := parseHex(t.text)
		switch {
		case err != nil:
			return 0, false
		case t.minus && n > sum, !t.minus && sum+n < sum:
			return 0, false
		case t.minus:
			sum -= n
		default:
			sum += n
		}
	}
	return sum, true
}

// RegisterSum returns the expression for a register, or for one to which numbers are added, which are hexadecimal as in
// WinDbg: rsp+20 is @rsp+0x20. It returns "" for other texts.
func RegisterSum(text string) string {
	terms, ok := termsOf(text)
	switch {
	case !ok && registers().MatchString(text):
		terms = []summand{{text: text}}
	case !ok || !registers().MatchString(terms[0].text):
		return ""
	}
	var out strings.Builder
	for i, t := range terms {
		word := "@" + strings.TrimLeft(t.text, "@$")
		if !registers().MatchString(t.text) {
			n, err := parseHex(t.text)
			if err != nil {
				return ""
			}
			word = fmt.Sprintf("%#x", uint64(n))
		}
		switch {
		case t.minus:
			out.WriteByte('-')
		case i > 0:
			out.WriteByte('+')
		}
		out.WriteString(word)
	}
	return out.String()
}

// separators removes the characters that group the digits of an address.
var separators = strings.NewReplacer("`", "", "_", "")

func parseHex(text string) (target.Addr, error) {
	digits := separators.Replace(text)
	digits = trimHexPrefix(digits)
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an address (hexadecimal, at most 16 digits)", text)
	}
	return target.Addr(v), nil
}

// ParseInt parses a decimal number, optionally with WinDbg's prefix 0n, or a hexadecimal number with 0x.
func ParseInt(text string) (int64, error) {
	digits, negative := strings.CutPrefix(text, "-")
	base := 10
	if rest := trimPrefixFold(digits, "0n"); rest != digits {
		digits = rest // WinDbg's prefix of decimal numbers
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

// ParseSize parses a number of bytes in the syntax of ParseInt, with an optional unit: k, kb, m, mb, g, gb, t or tb,
// as powers of 1,024.
func ParseSize(text string) (uint64, error) {
	digits, shift := text, 0
	if trimHexPrefix(text) == text { // in hexadecimal, "b" is a digit
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

// trimPrefixFold removes a prefix, in any case, unless nothing follows it.
func trimPrefixFold(s, prefix string) string {
	if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):]
	}
	return s
}
