package query

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// An Error says what is wrong with what the user wrote: its form, or a name that the dump does not know.
type Error struct {
	Column int    // where, in characters from 1; 0 for nowhere
	Text   string // what is wrong
	Near   string // what stands there
	Hint   string // what may have been meant; may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Column > 0 {
		fmt.Fprintf(&b, "column %d", e.Column)
		if e.Near != "" {
			fmt.Fprintf(&b, ", at %q", e.Near)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Text)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// nearBytes is how much of the source an Error quotes.
const nearBytes = 24

// errorAt returns an Error about the byte pos of src.
func errorAt(src string, pos int, format string, args ...any) *Error {
	e := &Error{Text: fmt.Sprintf(format, args...)}
	if src == "" {
		return e
	}
	pos = min(pos, len(src))
	e.Column = len([]rune(src[:pos])) + 1
	e.Near = src[pos:]
	if len(e.Near) > nearBytes {
		e.Near = strings.ToValidUTF8(e.Near[:nearBytes], "") + "…"
	}
	e.Near = cmp.Or(e.Near, "the end")
	return e
}

// notInDump says that the dump lacks something.
func notInDump(what string) error { return fmt.Errorf("%s: %w", what, target.ErrNotInDump) }
