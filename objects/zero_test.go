package objects_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestZeroValues checks that methods of zero values fail or return nothing, and do not panic.
func TestZeroValues(t *testing.T) {
	var o objects.Object
	var s objects.Struct
	var a objects.Array
	var v objects.Value
	for name, ask := range map[string]func() error{
		"Field":        func() error { return o.Field("x").Err() },
		"Value":        func() error { return o.Value(nil).Err() },
		"Length":       func() error { _, err := o.Length(); return err },
		"Size":         func() error { _, err := o.Size(); return err },
		"Heap":         func() error { _, err := o.Heap(); return err },
		"Unbox":        func() error { _, err := o.Unbox(); return err },
		"Boxed":        func() error { return o.Boxed().Err() },
		"Array":        func() error { _, err := o.Array(); return err },
		"Text":         func() error { _, err := o.Text(10); return err },
		"Delegate":     func() error { _, err := o.Delegate(); return err },
		"RuntimeType":  func() error { _, _, err := o.RuntimeType(); return err },
		"Struct.Field": func() error { return s.Field("x").Err() },
		"Struct.Value": func() error { return s.Value(nil).Err() },
		"Array.At":     func() error { return a.At(0).Err() },
		"ElementAddr":  func() error { _, err := a.ElementAddr(); return err },
		"Value.Object": func() error { _, err := v.Object(); return err },
		"Value.Struct": func() error { _, err := v.Struct(); return err },
		"Value.Bool":   func() error { _, err := v.Bool(); return err },
		"Implements":   func() error { _, err := (*objects.Type)(nil).Implements(nil); return err },
		"Assignable":   func() error { _, err := (*objects.Type)(nil).IsAssignableTo(nil); return err },
		"Of":           func() error { _, err := new(objects.Reader).Of(heap.Object{}); return err },
	} {
		require.ErrorIs(t, ask(), target.ErrArgument, name)
	}
	for typ, err := range reader(t).TypeByName("System.String", "") {
		require.NoError(t, err)
		_, err = typ.Implements(nil)
		require.ErrorIs(t, err, target.ErrArgument)
		_, err = typ.IsAssignableTo(nil)
		require.ErrorIs(t, err, target.ErrArgument)
	}
	require.False(t, o.IsFree() || o.IsString() || o.IsBoxed())
	require.Empty(t, o.Inline(10)+s.Inline(10)+v.Inline(10))
	require.Empty(t, a.Index(3, nil))
	for range o.Fields() {
		t.Error("a field of nothing")
	}
	for range s.Fields() {
		t.Error("a field of nothing")
	}
	for range a.Values() {
		t.Error("an element of nothing")
	}
}

func reader(t *testing.T) *objects.Reader {
	r, err := testdump.Open(t, "net10-zoo").Objects()
	require.NoError(t, err)
	return r
}

// TestOf checks that an object of the walk equals the object at its address.
func TestOf(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	r, err := d.Objects()
	require.NoError(t, err)
	n := 0
	for ho, err := range h.Objects() {
		require.NoError(t, err)
		o, err := r.Of(ho)
		require.NoError(t, err)
		named, err := r.Object(ho.Addr)
		require.NoError(t, err)
		require.Equal(t, named.Addr, o.Addr)
		require.Same(t, named.Type, o.Type)
		require.Equal(t, ho.Free, o.IsFree())
		back, err := o.Heap()
		require.NoError(t, err)
		require.Equal(t, ho.Size, back.Size)
		require.Equal(t, ho.Length, back.Length)
		n++
	}
	require.Greater(t, n, 2000)
}

// TestArrayIndex: Index allocates if dst has no room.
func TestArrayIndex(t *testing.T) {
	a := objects.Array{Rank: 2, Lengths: []int32{2, 3}, LowerBounds: []int32{0, 10}}
	require.Equal(t, []int32{1, 11}, a.Index(4, nil))
	room := make([]int32, 2)
	require.Equal(t, []int32{1, 11}, a.Index(4, room))
	require.Equal(t, []int32{1, 11}, room)
}

// TestStaticsThatHaveNoValue: every static field of a process has a value or an error. A missing value never reads as
// zero.
func TestStaticsThatHaveNoValue(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	ready, not := 0, 0
	for mt, err := range r.Runtime().LoadedTypes() {
		if err != nil || mt.IsOpen() || mt.IsShared() {
			continue
		}
		typ, err := r.Type(mt.Addr)
		if err != nil {
			continue
		}
		statics, _ := typ.Statics()
		for _, f := range statics {
			if f.Thread {
				continue
			}
			s := f.StaticValue()
			_, bits := s.Value.Bits()
			require.Equal(t, s.Value.Err(), bits)
			switch {
			case s.Err != nil:
				require.ErrorIs(t, s.Value.Err(), s.Err)
			case s.State == 1: // not initialised
				require.ErrorIs(t, s.Value.Err(), objects.ErrNotInitialised)
				require.Equal(t, objects.KindUnknown, s.Value.Kind())
				not++
			case s.State == 0 && s.Value.Err() == nil:
				ready++
			}
		}
	}
	require.NotZero(t, ready)
	require.NotZero(t, not)
}
