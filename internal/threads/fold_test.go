package threads_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/threads"
)

// TestFold: rows are letters. A repetition is written with its length and its number of rounds.
func TestFold(t *testing.T) {
	same := func(a, b *string) bool { return *a == *b }
	fold := func(in string) string {
		var out strings.Builder
		for f := range threads.Fold(slices.Values(strings.Split(in, "")), same) {
			if f.Cycle > 0 {
				out.WriteString(strings.Repeat("*", f.Cycle) + string(rune('0'+f.Times)))
			}
			out.WriteString(f.Row)
		}
		return out.String()
	}
	for in, want := range map[string]string{
		"abcd":                    "abcd",
		"aab":                     "aab",
		"aaab":                    "*3ab",
		"xababab":                 "x**3ab",
		"xabababa":                "x**3aba",
		"abcabcabcabcx":           "***4abcx",
		"aaaabbbbb":               "*4a*5b",
		"mababababnopopopop":      "m**4ab" + "n**4op",
		strings.Repeat("ab", 9):   "**9ab",
		"abcabcabx":               "abcabcabx",
		strings.Repeat("z", 3):    "*3z",
		"q" + "ababcababcababc":   "q*****3ababc",
		"12345678901234567890123": "12345678901234567890123",
	} {
		assert.Equal(t, want, fold(in), in)
	}
}

// TestFoldKeepsAll: unfolding gives the original rows. A caller that stops gets no more rows.
func TestFoldKeepsAll(t *testing.T) {
	same := func(a, b *int) bool { return *a == *b }
	seed := uint32(1)
	for range 200 {
		var in []int
		for range 300 {
			seed = seed*1664525 + 1013904223
			in = append(in, int(seed>>30))
		}
		var out, cycle []int
		times, left := 0, 0
		for f := range threads.Fold(slices.Values(in), same) {
			if f.Cycle > 0 {
				cycle, times, left = nil, f.Times, f.Cycle
			}
			if left == 0 {
				out = append(out, f.Row)
				continue
			}
			cycle = append(cycle, f.Row)
			if left--; left == 0 {
				out = append(out, slices.Repeat(cycle, times)...)
			}
		}
		assert.Equal(t, in, out)
	}
	n := 0
	for range threads.Fold(slices.Values(make([]int, 100)), same) {
		n++
		break
	}
	assert.Equal(t, 1, n)
}
