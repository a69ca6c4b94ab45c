// Package answer holds what sosgo has to say about a dump, as plain values: one type for each thing that can be asked for, such as [Where].
// The packages of the subjects (heap, objects, dac, …) fill them in; packages that write them (as text, as JSON) get nothing else, and can
// read nothing else: this package knows no dump and imports only the vocabulary of package target.
//
// # Shape
//
// Answers are structs whose json and doc tags are the documentation of the JSON results (docs/json.md is made from
// them). Long lists are iterators, iter.Seq2[T, error]: they read while they are ranged over, once, and not after the
// dump is closed. An error beside a row says that the row is missing, and the list goes on, except for the context's.
//
// # What is missing
//
// Nothing that could not be read is ever zero in an answer. A part that is missing is a [Text] or a [Maybe] with its
// error, or it is left out; the reasons are noted in the answer's [Gaps]. Every reason is, as everywhere, errors.Is one
// of target.ErrNotInDump, target.ErrCorrupt and target.ErrUnsupported.
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

// Gaps are what an answer lacks. Answers embed them. The zero value lacks nothing. A nil *Gaps takes notes for nobody and
// discards them; it has no list to return. Gaps are for one goroutine.
type Gaps struct {
	noted   []error
	failure error
}

func (g *Gaps) own() *Gaps { return g }

// GapsOf returns the gaps that an answer embeds, given a pointer to the answer. It returns nil for other types and for a nil pointer.
func GapsOf[T any](answer T) *Gaps {
	var none T
	a, ok := any(answer).(interface{ own() *Gaps })
	if !ok || any(answer) == any(none) {
		return nil
	}
	return a.own()
}

// Note records why a part of the answer is missing or doubtful; nil is ignored.
func (g *Gaps) Note(err error) {
	if g == nil {
		return
	}
	if err != nil {
		g.noted = append(g.noted, err)
	}
}

// NoteAll records what a part of the answer, which has gaps of its own, lacks.
func (g *Gaps) NoteAll(errs []error) {
	if g == nil {
		return
	}
	g.noted = append(g.noted, errs...)
}

// NoteFirst records errs in front of what is noted already.
func (g *Gaps) NoteFirst(errs []error) {
	if g == nil {
		return
	}
	if len(errs) > 0 {
		g.noted = append(append([]error(nil), errs...), g.noted...)
	}
}

// Noted lists what was noted, in order, also twice what was noted twice.
func (g Gaps) Noted() []error { return g.noted }

// Fail records that the whole answer is unusable, which may become known only while its rows are read.
// The first failure is kept; nil is ignored.
func (g *Gaps) Fail(err error) {
	if g != nil {
		g.failure = cmp.Or(g.failure, err)
	}
}

// Failure returns what Fail noted.
func (g Gaps) Failure() error { return g.failure }

// Text makes a Text and notes its error.
func (g *Gaps) Text(s string, err error) Text {
	g.Note(err)
	return Text{S: s, Err: err}
}

// A Text is a piece of text or, with Err, the reason for which it is missing.
type Text struct {
	_   incomparable
	S   string `jsonenc:"value"`
	Err error  `jsonenc:"absent"`
	// Instead describes the named thing if the text is missing: "type 7f10a4632890 of Contoso".
	Instead string `json:"-"`
}

// String returns the text, or the words that stand in its place (see [Absent]).
func (t Text) String() string {
	switch {
	case t.Err == nil:
		return t.S
	case t.Instead != "":
		return strings.TrimSuffix(Absent(t.Err), ">") + ": " + t.Instead + ">"
	}
	return Absent(t.Err)
}

// MarshalText is String, for forms that have nothing but text.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON returns the text, or null where it is missing: a program must not take words about it for it.
func (t Text) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(&t) }

// IsZero reports whether the text is known and empty.
func (t Text) IsZero() bool { return t.S == "" && t.Err == nil }

// A Maybe is a value or, with Err, the reason for which it is missing. JSON leaves a missing one out (with the tag omitzero) or has null.
type Maybe[T any] struct {
	_     incomparable
	Value T     `jsonenc:"value"`
	Err   error `jsonenc:"absent"`
}

// Known returns a value that is not missing.
func Known[T any](v T) Maybe[T] { return Maybe[T]{Value: v} }

// IsZero reports whether the value is missing.
func (m Maybe[T]) IsZero() bool { return m.Err != nil }

// MarshalJSON writes the value, or null.
func (m Maybe[T]) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(&m) }

// Of returns the value, or with err the reason for which it is missing.
func Of[T any](v T, err error) Maybe[T] { return Maybe[T]{Value: v, Err: err} }

// Is reports whether m is known and v.
func Is[T comparable](m Maybe[T], v T) bool { return m.Err == nil && m.Value == v }

// A Pointer is an address, or 0 where there is nothing to point at. JSON leaves it out (with the tag omitzero) if it is missing or 0.
type Pointer struct{ Maybe[target.Addr] }

// IsZero reports whether the address is missing or 0.
func (p Pointer) IsZero() bool { return p.Err != nil || p.Value == 0 }

// Pointer makes a Pointer and notes its error.
func (g *Gaps) Pointer(a target.Addr, err error) Pointer {
	g.Note(err)
	return Pointer{Of(a, err)}
}

// A Hex is a number that people read in hexadecimal and that is no address: a
// token, flags, an offset. JSON has it as a string such as "0x1f".
type Hex uint64

// MarshalText is for encoding/json.
func (h Hex) MarshalText() ([]byte, error) {
	return strconv.AppendUint([]byte("0x"), uint64(h), 16), nil
}

// Count returns a number of things in words: "1 object", "2 objects".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Absent returns the word that stands in the place of what is missing for err.
func Absent(err error) string {
	switch {
	case errors.Is(err, target.ErrLeftOut):
		return "<left out>"
	case errors.Is(err, target.ErrNotInDump):
		return "<not in dump>"
	case errors.Is(err, target.ErrUnsupported):
		return "<not supported>"
	}
	return "<corrupt>"
}

// A Range is a range of addresses.
type Range struct {
	Start target.Addr `json:"start" doc:"first byte"`
	End   target.Addr `json:"end" doc:"behind the last byte"`
}

// incomparable is the type of a field of what has an error, because two errors may say the same and differ. Without it Go compiles a
// function for each type of answers that compares two.
type incomparable [0]func()
