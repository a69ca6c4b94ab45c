package report

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"reflect"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// An Answer is the result of a command: a value, encoded as JSON, and a function that writes the same value as text.
type Answer struct {
	// Value is an answer of package answer. It is nil for text-only commands, such as the manual page. Their lines
	// become the JSON result "text".
	Value any
	// Text writes the value. It uses only the value and the page.
	Text func(*Page)
}

// Say makes the answer v, written by text.
func Say[T any](v T, text func(*Page, T)) Answer {
	return Answer{Value: v, Text: func(p *Page) { text(p, v) }}
}

// SayText returns an answer that is only text.
func SayText(text func(*Page)) Answer { return Answer{Text: text} }

// A Page receives an answer's text. It keeps the first write error, so callers need not check errors. It must be used
// by one goroutine.
type Page struct {
	SOS bool // selects SOS's exact form, without sosgo's additions

	w      io.Writer
	warn   func(error)
	err    error
	screen Screen
	mask   func(string) string
	cells  cellWriter // w, if it masks secrets; else nil
}

// NewPage returns a page that writes to w. It calls warn for missing parts.
func NewPage(w io.Writer, sos bool, warn func(error)) *Page {
	cells, _ := w.(cellWriter)
	return &Page{SOS: sos, w: w, warn: warn, cells: cells}
}

// Write implements io.Writer.
func (p *Page) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.Fail(err)
	return n, err
}

// Print writes s, which must be escaped (see Escape).
func (p *Page) Print(s string) {
	_, err := io.WriteString(p.w, s)
	p.Fail(err)
}

// Printf formats and writes its arguments. Text of the dump must be escaped.
func (p *Page) Printf(format string, args ...any) {
	if p.cells != nil {
		p.PrintCells(fmt.Sprintf(format, p.formatted(args)...))
		return
	}
	_, err := fmt.Fprintf(p.w, format, args...)
	p.Fail(err)
}

// Table returns a table in the form of SOS's managed commands.
func (p *Page) Table(cols ...Column) *Table { return NewTable(p, cols...) }

// Columns returns a table in the form of SOS's native commands: see NewColumnTable.
func (p *Page) Columns(widths ...int) *Table { return NewColumnTable(p, widths...) }

// Verdict writes a conclusion with its evidence.
func (p *Page) Verdict(v *answer.Verdict) {
	p.Sentence("", 4, Escape(v.Text)+" ["+string(v.Strength)+"]")
	for _, e := range v.Evidence {
		p.Sentence("  - ", 4, Escape(e))
	}
}

// Warn records a missing part of the answer. It ignores nil.
func (p *Page) Warn(err error) {
	if err != nil {
		p.warn(err)
	}
}

// Fail records the error that ends the answer. It keeps the first error and ignores nil.
func (p *Page) Fail(err error) { p.err = cmp.Or(p.err, err) }

// Ended reports whether err ends a list, as its failure or the context's error does. It then fails the page.
func (p *Page) Ended(err error) bool {
	ended := jsonenc.IsStop(err) || jsonenc.Ends(err)
	if ended {
		p.Fail(err)
	}
	return ended
}

// Err returns the first error of the writer, or of Fail.
func (p *Page) Err() error { return p.err }

// Each iterates over the rows of an answer. It skips missing rows with a warning, and passes on warnings in a row's
// own Gaps. The loop ends with the context or with a write error. The failure of the list is an error of the page.
func Each[T any](p *Page, rows iter.Seq2[T, error]) iter.Seq[T] {
	gaps := gapsOf(reflect.TypeFor[T]())
	return func(yield func(T) bool) {
		if rows == nil {
			return
		}
		for row, err := range rows {
			switch {
			case p.Ended(err):
				return
			case err != nil:
				p.Warn(err)
				continue
			}
			if gaps != nil {
				warnAll(reflect.ValueOf(row), gaps, p.Warn)
			}
			if p.err != nil || !yield(row) {
				return
			}
		}
	}
}

// Lacking warns of the missing parts of an answer and returns its error. v is the answer, a pointer to it, or nil.
func Lacking(v any, warn func(error)) error {
	switch value := reflect.ValueOf(v); {
	case value.Kind() == reflect.Pointer && value.IsNil():
		return nil
	case value.Kind() == reflect.Struct: // the gaps need a pointer
		at := reflect.New(value.Type())
		at.Elem().Set(value)
		v = at.Interface()
	}
	gaps := answer.GapsOf(v)
	if gaps == nil {
		return nil
	}
	for _, err := range gaps.Noted() {
		warn(err)
	}
	return gaps.Failure()
}

// gapsOf returns the index, for FieldByIndex, of the Gaps embedded in rows of a type, or nil. An interface with the
// method Noted would work, too, but would add two copies of the method for each of a hundred types.
func gapsOf(row reflect.Type) []int {
	if row = pointed(row); row.Kind() != reflect.Struct {
		return nil
	}
	f, ok := row.FieldByName("Gaps")
	if !ok || f.Type != reflect.TypeFor[answer.Gaps]() {
		return nil
	}
	return f.Index
}

// warnAll warns of the errors in a row's Gaps.
func warnAll(row reflect.Value, gaps []int, warn func(error)) {
	f, err := reflect.Indirect(row).FieldByIndexErr(gaps)
	if err != nil {
		return // the embedded struct with the gaps is a nil pointer
	}
	for _, err := range f.Interface().(answer.Gaps).Noted() {
		warn(err)
	}
}

// CheckResult returns an error if v is not of the documented type. A nil result documents text only.
func CheckResult(v any, result reflect.Type) error {
	if got := pointed(reflect.TypeOf(v)); result == nil || got != pointed(result) {
		return fmt.Errorf("the answer is a %v, and documented as a %v", got, result)
	}
	return nil
}

func pointed(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
