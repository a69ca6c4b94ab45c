package answer

import (
	"cmp"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// ErrUnread is in facts about a list until it has been read to its end.
var ErrUnread = target.Unsupportedf("the list was not read to its end")

// NewRows returns the list of an answer with the gaps g, which may be nil. read passes the rows to yield until yield
// returns false, and returns what kept it from reading the whole list, or nil.
//
// That error becomes the failure of g. The list ends with the failure of g, beside a zero row, whoever recorded it. If
// read passes on the rows of another list, the failure of that list becomes the failure of this one.
func NewRows[T any](g *Gaps, read func(yield func(T, error) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		stopped := false
		var passed error
		err := read(func(row T, err error) bool {
			if end, ok := err.(endError); ok {
				passed = cmp.Or(passed, end.error)
				return true
			}
			stopped = stopped || !yield(row, err)
			return !stopped
		})
		if stopped {
			return
		}
		if err := g.end(cmp.Or(passed, err)); err != nil {
			var none T
			yield(none, err)
		}
	}
}

// end records the error with which a list ended. It returns the failure of the answer as the error of the last row.
func (g *Gaps) end(err error) error {
	if end, ok := err.(endError); ok {
		err = end.error
	}
	if g.Fail(err); g != nil {
		err = g.failure
	}
	if err == nil {
		return nil
	}
	return endError{err}
}

// An endError is the error of a list's last row: what kept the list from being whole.
type endError struct{ error }

func (e endError) Unwrap() error { return e.error }

// EndsList marks the error for jsonenc.Ends.
func (endError) EndsList() {}

// formatted calls format, which formats the rows of a list for emit, and records the failure of the list in g.
func formatted(g *Gaps, emit func([]byte) error, format func(emit func([]byte) error) error) error {
	var refused error
	err := format(func(rows []byte) error {
		refused = emit(rows)
		return refused
	})
	if refused != nil {
		return refused
	}
	return g.end(err)
}
