package agreement

import (
	"fmt"
	"strconv"
	"strings"
)

// A Score counts the facts of a section that were compared, and the right answers.
type Score struct {
	Section      string
	Asked, Right int
	Wrong        []string // the first wrong answers, in words

	verbose int
	rows    map[int][]bool // the verdicts by row of the section
}

// want counts an answer about a row. The text describes a wrong answer.
func (s *Score) want(row int, ok bool, format string, args ...any) {
	s.Asked++
	if ok {
		s.Right++
	} else if len(s.Wrong) < s.verbose {
		s.Wrong = append(s.Wrong, fmt.Sprintf("%.300s", fmt.Sprintf(format, args...)))
	}
	if s.rows == nil {
		s.rows = map[int][]bool{}
	}
	s.rows[row] = append(s.rows[row], ok)
}

// A hex is a hexadecimal number, with or without 0x.
type hex uint64

// UnmarshalJSON decodes a string. Null is 0.
func (h *hex) UnmarshalJSON(raw []byte) (err error) {
	text := strings.Trim(string(raw), `"`)
	if text == "null" {
		*h = 0
		return nil
	}
	*h, err = parseHex(text)
	return err
}

func (h hex) String() string { return fmt.Sprintf("%#x", uint64(h)) }

func parseHex(text string) (hex, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return hex(n), err
}

// num parses digits that a pattern has matched. It returns the largest number, which is no fact, if
// they are not a number.
func num(digits string) hex {
	h, err := parseHex(digits)
	if err != nil {
		return ^hex(0)
	}
	return h
}

// count reads a decimal number with or without thousands separators.
func count(digits string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(digits, ",", ""))
	if err != nil {
		return -1
	}
	return n
}
