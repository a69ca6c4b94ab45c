package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A lostList is a shape of List with names of fields that it does not have.
type lostList struct {
	_     objects.Shape    `of:"System.Collections.Generic.List<>"`
	Items objects.RefField `field:"_elements"`
}

// TestReading: null, an object of another type, and a field that a version does not have are not errors. An unreadable
// part is a note and an error, without a value.
func TestReading(t *testing.T) {
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, fact func(string) objects.Object, _ *testdump.Dump) {
		var gaps answer.Gaps
		r := shapes.Reading{Gaps: &gaps, Binder: b}
		o := fact("root.Collections.List")
		s, x := shapes.BindAs[*list](r, o)
		if assert.NotNil(t, s) {
			assert.Equal(t, answer.Known[int64](3), r.IntAt(&s.Size, x))
			assert.Equal(t, answer.Known(true), r.BoolAt(&s.Size, x))
			assert.NotZero(t, r.ObjectAt(&s.Items, x).Addr)
			assert.Equal(t, r.ObjectAt(&s.Items, x).Addr, r.PointerAt(&s.Items, x).Value)
			assert.ErrorIs(t, r.IntAt(&s.Later, x).Err(), objects.ErrNoField)
			assert.Nil(t, r.TimeAt(&s.Later, x))
		}
		none, _ := shapes.BindAs[*dictionary](r, o)
		assert.Nil(t, none)
		none, _ = shapes.BindAs[*dictionary](r, objects.Object{})
		assert.Nil(t, none)
		_, _, is, err := shapes.TryBind[*dictionary](b, o)
		assert.False(t, is)
		assert.NoError(t, err)
		assert.Empty(t, gaps.Noted(), "so far nothing is wrong")

		lost, _ := shapes.BindAs[*lostList](r, o)
		assert.Nil(t, lost)
		assert.Len(t, gaps.Noted(), 1, "a layout that is not known is noted")
		_, _, is, err = shapes.TryBind[*lostList](b, o)
		assert.True(t, is)
		assert.ErrorIs(t, err, target.ErrUnsupported)

		away := objects.Instance(16) // where no process has memory
		for _, err := range []error{r.IntAt(&s.Size, away).Err(), r.PointerAt(&s.Items, away).Err(), r.TextAt(&s.Items, away).Err, r.BoolAt(&s.Size, away).Err()} {
			assert.ErrorIs(t, err, target.ErrCorrupt)
		}
		assert.Zero(t, r.ObjectAt(&s.Items, away).Addr)
		assert.Len(t, gaps.Noted(), 6, "each is noted")
	})
}
