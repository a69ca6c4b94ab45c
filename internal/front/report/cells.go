package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A cellWriter is a writer that masks secrets. WriteCell writes a text of the process in a line: a secret that begins in it ends with it.
type cellWriter interface {
	io.Writer
	WriteCell(text string) error
}

// cellMark is in front of and behind the texts of the process that a line has, until the line is written. Escaped text has no such character.
const cellMark = "\x1e"

// Cell returns an escaped text of the process for a line that the caller lays out and passes to PrintCells: its secrets are masked, so it may be
// cut, and it is marked. Marks have no width; see CellWidth. Where no secrets are masked, Cell returns text. p may be nil.
func (p *Page) Cell(text string) string {
	if p == nil || p.cells == nil || text == "" {
		return text
	}
	return cellMark + strings.ReplaceAll(p.Masked(text), cellMark, `\x1e`) + cellMark
}

// CellWidth returns the number of characters of a text with marks of Cell.
func CellWidth(text string) int {
	return utf8.RuneCountInString(text) - strings.Count(text, cellMark)
}

// PrintCells writes text that has texts of Cell.
func (p *Page) PrintCells(text string) {
	if p.cells == nil {
		p.Print(text)
		return
	}
	for inside := false; text != "" && p.err == nil; inside = !inside {
		part, rest, _ := strings.Cut(text, cellMark)
		if text = rest; inside {
			p.Fail(p.cells.WriteCell(part))
		} else if part != "" {
			p.Print(part)
		}
	}
}

// escapeCells is Escape for text that has texts of Cell.
func escapeCells(text string) string {
	if !strings.Contains(text, cellMark) {
		return Escape(text)
	}
	parts := strings.Split(text, cellMark)
	for i := range parts {
		parts[i] = Escape(parts[i])
	}
	return strings.Join(parts, cellMark)
}

// cellsOf is a page as a writer of text that has texts of Cell.
type cellsOf struct{ p *Page }

func (w cellsOf) Write(b []byte) (int, error) {
	w.p.PrintCells(string(b))
	return len(b), w.p.err
}

// A formattedCell is an argument of Printf that may be a text of the process.
type formattedCell struct {
	p *Page
	v any
}

// Format implements fmt.Formatter. Blanks around the text, which its width adds, are not in the cell.
func (c formattedCell) Format(f fmt.State, verb rune) {
	v := c.v
	if s, ok := v.(string); ok {
		v = c.p.Masked(s)
	}
	text := fmt.Sprintf(fmt.FormatString(f, verb), v)
	body := strings.Trim(text, " ")
	at := strings.Index(text, body)
	_, _ = io.WriteString(f, text[:at]+cellMark+strings.ReplaceAll(body, cellMark, `\x1e`)+cellMark+text[at+len(body):]) // a buffer never fails
}

// formatted returns arguments of Printf, those that may be texts of the process as cells.
func (p *Page) formatted(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a.(type) {
		case string, fmt.Stringer, error:
			out[i] = formattedCell{p, a}
		default:
			out[i] = a
		}
	}
	return out
}
