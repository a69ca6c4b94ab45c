// Package backtrack finds regular expressions that can take exponential time: engines that try one way after another, as .NET's does, need
// twice the time for each further character if a repeated part repeats the same characters itself, as in (a+)+$.
package backtrack

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// Exponential reports whether a text can match a part of a pattern in exponentially many ways. It is false also for a pattern with parts that Go
// does not know, such as a backward reference or what looks ahead: what those match is not known.
func Exponential(pattern string) bool {
	if len(pattern) > limits.Pattern {
		return false
	}
	// Go would take (?:a+)+ for a+, which matches the same.
	re, err := syntax.Parse(strings.ReplaceAll(pattern, "(?:", "("), syntax.Perl)
	return err == nil && repeated(re)
}

// many is how often a part must repeat at least to be a loop: the time grows with the power.
const many = 10

// loops reports whether re repeats its operand without an end, or many times.
func loops(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus:
		return true
	case syntax.OpRepeat:
		return re.Max < 0 || re.Max >= many
	}
	return false
}

// varies is loops, and the number of times is not fixed.
func varies(re *syntax.Regexp) bool {
	return loops(re) && (re.Op != syntax.OpRepeat || re.Min != re.Max)
}

func repeated(re *syntax.Regexp) bool {
	return loops(re) && ambiguous(re.Sub[0]) || slices.ContainsFunc(re.Sub, repeated)
}

// ambiguous reports whether several matches of a repeated part, one behind another, are also one match of it: it has a loop over some characters,
// and all else in it may be empty or match such characters.
func ambiguous(body *syntax.Regexp) bool {
	for body.Op == syntax.OpCapture {
		body = body.Sub[0]
	}
	if body.Op == syntax.OpAlternate {
		return slices.ContainsFunc(body.Sub, ambiguous)
	}
	list := items(body, nil)
	for i, loop := range list {
		set, ok := characters(loop)
		if !ok || !varies(loop) {
			continue
		}
		others := slices.Delete(slices.Clone(list), i, i+1)
		if !slices.ContainsFunc(others, func(re *syntax.Regexp) bool { return !empties(re) && !matches(re, set) }) {
			return true
		}
	}
	return false
}

// items returns the parts of a sequence, also in its groups.
func items(re *syntax.Regexp, list []*syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			list = items(sub, list)
		}
		return list
	}
	return append(list, re)
}

// characters returns the characters that a loop over single characters repeats, as pairs of first and last.
func characters(loop *syntax.Regexp) ([]rune, bool) {
	if !loops(loop) {
		return nil, false
	}
	return single(items(loop.Sub[0], nil))
}

func single(list []*syntax.Regexp) ([]rune, bool) {
	if len(list) != 1 {
		return nil, false
	}
	switch re := list[0]; re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []rune{0, '\U0010FFFF'}, true
	case syntax.OpCharClass:
		return re.Rune, true
	case syntax.OpLiteral:
		if len(re.Rune) == 1 && re.Flags&syntax.FoldCase == 0 {
			return []rune{re.Rune[0], re.Rune[0]}, true
		}
	}
	return nil, false
}

// empties reports whether re matches the empty text anywhere.
func empties(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpQuest, syntax.OpEmptyMatch:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || empties(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return empties(re.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !empties(s) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, empties)
	}
	return false
}

// matches reports whether re matches a text of nothing but these characters. It is false where that is not known.
func matches(re *syntax.Regexp, set []rune) bool {
	has := func(first, last rune) bool {
		for i := 0; i+1 < len(set); i += 2 {
			if set[i] <= last && first <= set[i+1] {
				return true
			}
		}
		return false
	}
	switch re.Op {
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, func(r rune) bool { return !has(r, r) })
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if has(re.Rune[i], re.Rune[i+1]) {
				return true
			}
		}
		return false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCapture, syntax.OpConcat, syntax.OpPlus, syntax.OpRepeat, syntax.OpStar, syntax.OpQuest:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !matches(s, set) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return matches(s, set) })
	}
	return false // a word's end and the like may forbid the other ways
}
