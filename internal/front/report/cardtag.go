package report

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// A cardTag is the parsed tag text of a field. CONTRIBUTING.md describes the tag.
type cardTag struct {
	place   cardPlace
	forms   []string // % is the value; for one or true; for several, false or empty; for zero
	options map[string]string
}

// A cardPlace is where the text of a field goes.
type cardPlace uint8

const (
	placePart cardPlace = iota // after the head, separated by a comma
	placeHead                  // in the head of the record
	placeJoin                  // at the end of the previous field
	placeNone
)

// cardTagOf parses the tag of a field.
func cardTagOf(f *jsonenc.Field) cardTag {
	body, options, _ := strings.Cut(f.Text, ";")
	t := cardTag{options: map[string]string{}}
	for o := range strings.SplitSeq(options, ";") {
		name, value, _ := strings.Cut(o, " ")
		t.options[name] = value
	}
	switch {
	case body == "-":
		t.place = placeNone
	case body == "" && (f.Name == "address" || f.Name == "name" || f.Name == "type"):
		t.place = placeHead
	case body == "":
		body = cardWords(f.Name)
	case body[0] == '=':
		t.place, body = placeHead, body[1:]
	case body[0] == '+':
		t.place, body = placeJoin, body[1:]
	}
	t.forms = strings.Split(body, "|")
	return t
}

// has reports whether the tag has an option.
func (t *cardTag) has(option string) bool {
	_, ok := t.options[option]
	return ok
}

// number returns the number of an option, or a very large one without it.
func (t *cardTag) number(option string) int {
	if n, err := strconv.Atoi(t.options[option]); err == nil {
		return n
	}
	return math.MaxInt
}

// label returns the name of the field.
func (t *cardTag) label() string { return strings.TrimSpace(strings.ReplaceAll(t.forms[0], "%", "")) }

// kind returns the name of an empty list.
func (t *cardTag) kind() string { return t.forms[len(t.forms)-1] }

// fill returns the label and the text of a value in one of the forms. A form without % is the value's label, or the
// whole text if the value is empty.
func (t *cardTag) fill(form int, value string) (label, text string) {
	if value != "" {
		form = min(form, len(t.forms)-1) // a single form is for all numbers
	}
	if form >= len(t.forms) {
		return "", ""
	}
	switch s := t.forms[form]; {
	case strings.Contains(s, "%"):
		if value == "" {
			return "", ""
		}
		return "", strings.ReplaceAll(s, "%", value)
	case value == "" || form > 0:
		return "", s
	default:
		return s, value
	}
}

// cardWords returns the name of a field in words: "connectionString" is "connection string".
func cardWords(name string) string {
	var b strings.Builder
	for _, r := range strings.TrimSuffix(name, "Ms") {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// singular returns the noun of one thing in a list.
func singular(s string) string {
	switch {
	case strings.HasSuffix(s, "ies"):
		return strings.TrimSuffix(s, "ies") + "y"
	case strings.HasSuffix(s, "sses"), strings.HasSuffix(s, "xes"):
		return strings.TrimSuffix(s, "es")
	}
	return strings.TrimSuffix(s, "s")
}
