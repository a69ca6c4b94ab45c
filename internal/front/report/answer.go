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

// An Answer is what a command has to say: one value, from which JSON is encoded, and a function that writes the same value as text.
type Answer struct {
	// Value is an answer of package answer. Nil for commands that only have
	// text, such as a manual page: its lines are then the JSON result "text".
	Value any
	// Text writes the value. It gets no more than the value and the page.
	Text func(*Page)
}

// Say makes the answer v, written by text.
func Say[T any](v T, text func(*Page, T)) Answer {
	return Answer{Value: v, Text: func(p *Page) { text(p, v) }}
}

// SayText returns an answer that is only text.
func SayText(text func(*Page)) Answer { return Answer{Text: text} }

// A Page is what an answer's text is written on. Errors of the writer need not be looked at by those who write: the
// first one stays, and comes out at the end. It is for one goroutine.
type Page struct {
	SOS bool // asks for SOS's exact form, without what sosgo adds

	w    io.Writer
	warn func(error)
	err  error
}

// NewPage returns a page on w. It calls warn with what is missing.
func NewPage(w io.Writer, sos bool, warn func(error)) *Page {
	return &Page{SOS: sos, w: w, warn: warn}
}

// Write is for those who write bytes or lines of their own.
func (p *Page) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.Fail(err)
	return n, err
}

// Print writes s, which is safe for a terminal (see Escape).
func (p *Page) Print(s string) {
	_, err := io.WriteString(p.w, s)
	p.Fail(err)
}

// Printf formats; text of the dump has to be escaped before.
func (p *Page) Printf(format string, args ...any) {
	_, err := fmt.Fprintf(p.w, format, args...)
	p.Fail(err)
}

// Table returns a table in the form of SOS's managed commands.
func (p *Page) Table(cols ...Column) *Table { return NewTable(p, cols...) }

// Columns returns a table in the form of SOS's native commands: see NewColumnTable.
func (p *Page) Columns(widths ...int) *Table { return NewColumnTable(p, widths...) }

// Verdict writes a conclusion with its evidence.
func (p *Page) Verdict(v *answer.Verdict) {
	p.Printf("%s [%s]\n", Escape(v.Text), v.Strength)
	for _, e := range v.Evidence {
		p.Printf("  - %s\n", Escape(e))
	}
}

// Warn records that a part of the answer is missing; nil is ignored.
func (p *Page) Warn(err error) {
	if err != nil {
		p.warn(err)
	}
}

// Fail ends the answer with an error; the first one stays, nil is ignored.
func (p *Page) Fail(err error) { p.err = cmp.Or(p.err, err) }

// Err returns the first error of the writer, or of Fail.
func (p *Page) Err() error { return p.err }

// Each ranges over the rows of an answer. A row that is missing is warned of and left out; what a row notes in Gaps of
// its own is warned of, too. The end of the context, or of the page's writer, ends the loop.
func Each[T any](p *Page, rows iter.Seq2[T, error]) iter.Seq[T] {
	gaps := gapsOf(reflect.TypeFor[T]())
	return func(yield func(T) bool) {
		if rows == nil {
			return
		}
		for row, err := range rows {
			switch {
			case jsonenc.IsStop(err):
				p.Fail(err)
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

// Lacking warns of what an answer lacks, and returns its failure. v is the answer or a pointer to it, or nil.
func Lacking(v any, warn func(error)) error {
	switch value := reflect.ValueOf(v); {
	case value.Kind() == reflect.Pointer && value.IsNil():
		return nil
	case value.Kind() == reflect.Struct: // the gaps are reached through a pointer
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

// gapsOf returns the index of the Gaps that rows of a type embed, for FieldByIndex, or nil. An interface with the method Noted would do, but
// for it each of a hundred types would have two copies of the method.
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

// warnAll warns of what a row notes in its Gaps.
func warnAll(row reflect.Value, gaps []int, warn func(error)) {
	f, err := reflect.Indirect(row).FieldByIndexErr(gaps)
	if err != nil {
		return // the part that has the gaps is a nil pointer
	}
	for _, err := range f.Interface().(answer.Gaps).Noted() {
		warn(err)
	}
}

// CheckResult reports whether v is what a command documents as its result. A nil result documents text only.
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
