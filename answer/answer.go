// Package answer holds the results of sosgo's functions as plain values: one type per question, such as [Where].
// Packages such as heap, objects and app fill them in; other packages write them as text or JSON. It reads no dump.
//
// Structs have json and doc tags, from which docs/json.md is made. Long lists are iterators, iter.Seq2[T, error], made by
// [NewRows]. A list is read while it is ranged over, before the dump is closed. A row with an error stands for missing
// rows, and the list continues. The last row has the error that kept the list from being whole, if any; in JSON they are
// {"missing": reason} and {"error": reason}. The lists that are formatted by several workers ([Objects], [StringCounts],
// [CollectionItems]) note missing rows in [Gaps] when they are formatted or encoded.
//
// A part that could not be read is never zero: it is a [Text] or a [Maybe] with an error, or it is left out. A fact that
// is known after a list only is missing until the list is read. [Gaps] has the reasons for missing values, and
// target.Kind returns the kind of each.
//
// Start at Gaps in answer.go.
//
// # Chapters
//
//   - Parts of all answers: answer, value, line, marshal
//   - Conclusions: conclusion, finding, premises, and package internal/words
//   - The dump and its files: diagnosis, image, source, export, scrubbed, shrunk, secrets
//   - The process: process, crash, exception, memory, memorymap, stresslog
//   - Threads and code that waits: thread, stack, locks, threadpool, tasks, flows
//   - Code and types: code, type, contexts, initializers, interop
//   - Objects: object, objectlist, listing, collection, query
//   - The GC heap: heap, heapmap, generations, gc, handles, soundness
//   - What keeps memory alive: rootpaths, retained, leaks, waste
//   - Servers and libraries: web, sessions, hosting, tracing
//
// Stability: stable.
package answer

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// Gaps records what is missing from an answer. Answers embed it. The zero value is ready to use. A nil *Gaps discards
// notes and has no list. Gaps is for one goroutine.
type Gaps struct {
	noted   []error
	failure error
	as      func(error) error // of RewordTexts
}

func (g *Gaps) own() *Gaps { return g }

// GapsOf returns the gaps embedded in the answer that a pointer refers to. It returns nil for other types and for a nil
// pointer.
func GapsOf[T any](answer T) *Gaps {
	var none T
	a, ok := any(answer).(interface{ own() *Gaps })
	if !ok || any(answer) == any(none) {
		return nil
	}
	return a.own()
}

// Note records why a part of the answer is missing or unreliable. Nil is ignored.
func (g *Gaps) Note(err error) {
	if g == nil {
		return
	}
	if err != nil {
		g.noted = append(g.noted, err)
	}
}

// NoteAll records the gaps of a part of the answer that has its own Gaps.
func (g *Gaps) NoteAll(errs []error) {
	if g == nil {
		return
	}
	g.noted = append(g.noted, errs...)
}

// NoteFirst records errs before all earlier notes.
func (g *Gaps) NoteFirst(errs []error) {
	if g == nil {
		return
	}
	if len(errs) > 0 {
		g.noted = append(append([]error(nil), errs...), g.noted...)
	}
}

// Reword replaces each note, and the failure, by what f returns for it.
func (g *Gaps) Reword(f func(error) error) {
	if g == nil {
		return
	}
	noted := make([]error, len(g.noted))
	for i, err := range g.noted {
		noted[i] = f(err)
	}
	g.noted = noted
	if g.failure != nil {
		g.failure = f(g.failure)
	}
}

// NoteOnce puts one note, cause, in place of all notes that wrap it, where the first of them is.
func (g *Gaps) NoteOnce(cause error) {
	if g == nil {
		return
	}
	var noted []error
	once := false
	for _, err := range g.noted {
		switch {
		case !errors.Is(err, cause):
			noted = append(noted, err)
		case !once:
			noted, once = append(noted, cause), true
		}
	}
	g.noted = noted
}

// Noted returns the notes in order, including duplicates. Errors of rows are not among them.
func (g Gaps) Noted() []error { return g.noted }

// Fail records that the whole answer is unusable. Lists of the answer end with this error; they record their own
// failures (see NewRows). The first failure is kept; nil is ignored.
func (g *Gaps) Fail(err error) {
	if g != nil {
		g.failure = cmp.Or(g.failure, err)
	}
}

// Failure returns the error given to Fail, or nil. It is the error of the last row of each list.
func (g Gaps) Failure() error { return g.failure }

// RewordTexts puts the errors of texts that Text makes from now on as f returns them, for statements that name what is missing. The default changes
// nothing.
func (g *Gaps) RewordTexts(f func(error) error) {
	if g != nil {
		g.as = f
	}
}

// Text makes a Text and notes its error.
func (g *Gaps) Text(s string, err error) Text {
	if g != nil && g.as != nil && err != nil {
		err = g.as(err)
	}
	g.Note(err)
	return Text{S: s, Err: err}
}

// A Text is a text or, in Err, the reason why it is missing.
type Text struct {
	_   incomparable
	S   string `jsonenc:"value"`
	Err error  `jsonenc:"absent"`
	// Instead describes the named thing if the text is missing: "type 7f10a4632890 of Contoso".
	Instead string `json:"-"`
}

// String returns the text, or the words for its absence (see [Absent]).
func (t Text) String() string {
	switch {
	case t.Err == nil:
		return t.S
	case t.Instead != "":
		return strings.TrimSuffix(Absent(t.Err), ">") + ": " + t.Instead + ">"
	}
	return Absent(t.Err)
}

// MarshalText returns String, for formats that have only text.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON returns the text, or null if it is missing, so that programs can't mistake an explanation for the text.
func (t Text) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(&t) }

// IsZero reports whether the text is known and empty.
func (t Text) IsZero() bool { return t.S == "" && t.Err == nil }

// A Maybe is a value, or the reason why it is missing. The zero Maybe is not known, so that a fact that nobody has set
// is never 0 or false. Known and Of make known ones. In JSON a missing value is omitted (tag omitzero) or null.
type Maybe[T any] struct {
	_     incomparable
	Value T    `jsonenc:"value"` // if it is missing, perhaps a part; see Of
	known bool `jsonenc:"known"`
	err   error
}

// ErrUnknown is the reason for a missing value that has no other.
var ErrUnknown = target.Unsupportedf("not known")

// Known returns a Maybe with a value.
func Known[T any](v T) Maybe[T] { return Maybe[T]{Value: v, known: true} }

// Missing returns a Maybe without a value, with the reason.
func Missing[T any](err error) Maybe[T] { return Maybe[T]{err: err} }

// Of returns a Maybe with v or, if err is not nil, with the reason why it is missing. v may then be a part of the value,
// such as a count of what could be read.
func Of[T any](v T, err error) Maybe[T] { return Maybe[T]{Value: v, known: err == nil, err: err} }

// Err returns why the value is missing, or nil if it is known.
func (m Maybe[T]) Err() error {
	if m.known {
		return nil
	}
	return cmp.Or(m.err, ErrUnknown)
}

// reason returns where the reason for a missing value is.
func (m *Maybe[T]) reason() *error { return &m.err }

// IsZero reports whether the value is missing.
func (m Maybe[T]) IsZero() bool { return !m.known }

// MarshalJSON writes the value, or null.
func (m Maybe[T]) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(&m) }

// Is reports whether m's value is known and equals v.
func Is[T comparable](m Maybe[T], v T) bool { return m.known && m.Value == v }

// A Pointer is an address, or 0 if there is no target. JSON omits it (tag omitzero) if it is missing or 0.
type Pointer struct{ Maybe[target.Addr] }

// IsZero reports whether the address is missing or 0.
func (p Pointer) IsZero() bool { return p.Maybe.IsZero() || p.Value == 0 }

// Pointer makes a Pointer and notes its error.
func (g *Gaps) Pointer(a target.Addr, err error) Pointer {
	g.Note(err)
	return Pointer{Of(a, err)}
}

// A Hex is a number that is shown in hexadecimal and is no address, such as a token, flags or an offset. In JSON it
// is a string such as "0x1f".
type Hex uint64

// MarshalText implements encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) {
	return strconv.AppendUint([]byte("0x"), uint64(h), 16), nil
}

// Count returns a number with its noun: "1 object", "2 objects".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Absent returns the words shown in place of a value that is missing because of err.
func Absent(err error) string {
	switch {
	case errors.Is(err, target.ErrLeftOut):
		return "<left out>"
	case errors.Is(err, target.ErrInCollection):
		return "<in collection>"
	case errors.Is(err, ErrHidden):
		return "<hidden>"
	case errors.Is(err, ErrUnknown):
		return "<unknown>"
	}
	switch target.ReportedKind(err) {
	case target.ErrNotInDump:
		return "<not in dump>"
	case target.ErrCorrupt, nil:
		return "<corrupt>"
	}
	return "<not supported>"
}

// A Range is a range of addresses.
type Range struct {
	Start target.Addr `json:"start" doc:"first byte"`
	End   target.Addr `json:"end" doc:"behind the last byte"`
}

// incomparable makes a struct with an error non-comparable: equal errors may be distinct values. It also saves the
// comparison functions that the compiler generates.
type incomparable [0]func()
