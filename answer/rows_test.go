package answer_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// read collects a list.
func read[T any](list iter.Seq2[T, error]) (rows []T, errs []error) {
	for row, err := range list {
		rows, errs = append(rows, row), append(errs, err)
	}
	return rows, errs
}

// TestRowsEndWithTheFailure checks that the failure of a list is its last row, whoever recorded it, and the failure of
// the answer.
func TestRowsEndWithTheFailure(t *testing.T) {
	two := func(failure error) func(yield func(int, error) bool) error {
		return func(yield func(int, error) bool) error {
			_ = yield(1, nil) && yield(0, target.ErrCorrupt) && yield(2, nil)
			return failure
		}
	}
	check := func(list iter.Seq2[int, error], want error) {
		t.Helper()
		for range 2 { // lists can be read again
			rows, errs := read(list)
			assert.Equal(t, []int{1, 0, 2, 0}, rows)
			require.Len(t, errs, 4)
			assert.Equal(t, []error{nil, target.ErrCorrupt, nil}, errs[:3])
			assert.ErrorIs(t, errs[3], want)
		}
	}
	var g answer.Gaps
	check(answer.NewRows(&g, two(target.ErrNotInDump)), target.ErrNotInDump)
	assert.Equal(t, target.ErrNotInDump, g.Failure())

	var before answer.Gaps
	before.Fail(target.ErrUnsupported)
	check(answer.NewRows(&before, two(nil)), target.ErrUnsupported)

	check(answer.NewRows(nil, two(target.ErrNotInDump)), target.ErrNotInDump)

	var outer answer.Gaps
	check(answer.NewRows(&outer, func(yield func(int, error) bool) error {
		answer.NewRows(nil, two(target.ErrNotInDump))(yield)
		return nil
	}), target.ErrNotInDump)
	assert.Equal(t, target.ErrNotInDump, outer.Failure(), "of the list that is passed on")

	var whole answer.Gaps
	rows, _ := read(answer.NewRows(&whole, two(nil)))
	assert.Len(t, rows, 3)
	for range answer.NewRows(&whole, two(target.ErrNotInDump)) {
		break
	}
	assert.NoError(t, whole.Failure(), "a caller that stops is no failure")
}

// failing is a source of one object and an error.
type failing struct {
	oneObject
	err error
}

func (f failing) Each(yield func(answer.HeapObject, error) bool) error {
	return errors.Join(f.oneObject.Each(yield), f.err)
}

func (f failing) Format(chars int, newRow func() answer.AppendObject, emit func([]byte) error) error {
	if err := f.oneObject.Format(chars, newRow, emit); err != nil {
		return err
	}
	return f.err
}

// TestFailedListsMarshal checks that JSON has the failure of a list at its end, and that a canceled list has no JSON.
func TestFailedListsMarshal(t *testing.T) {
	list := func(err error) *answer.Listing {
		l := &answer.Listing{}
		l.Objects = answer.NewObjects(&l.Gaps, failing{err: err})
		l.Rows = answer.NewRows(&l.Gaps, func(func(answer.QueryRow, error) bool) error { return nil })
		return l
	}
	l := list(target.ErrNotInDump)
	for range 2 {
		b, err := json.Marshal(l)
		require.NoError(t, err)
		assert.JSONEq(t, `{"objects":[{"address":"0x10","methodTable":"0x20","size":24},{"error":"not in the dump"}],"rows":[{"error":"not in the dump"}]}`, string(b))
	}
	rows, errs := read(l.Objects.All())
	require.Len(t, rows, 2)
	assert.Zero(t, rows[1])
	assert.ErrorIs(t, errs[1], target.ErrNotInDump)

	_, err := json.Marshal(list(context.Canceled))
	require.ErrorIs(t, err, context.Canceled)

	l = list(nil)
	full := errors.New("full")
	err = l.Objects.Format(0, func() answer.AppendObject { return func(b []byte, _ *answer.HeapObject) []byte { return b } },
		func([]byte) error { return full })
	assert.Equal(t, full, err)
	assert.NoError(t, l.Failure(), "the writer failed, not the list")
}
