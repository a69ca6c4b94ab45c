package objects_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type list struct {
	_     objects.Shape    `of:"System.Collections.Generic.List<>"`
	Items objects.RefField `field:"_items"`
	Size  objects.IntField `field:"_size"`
	Later objects.IntField `field:"_added in a later version,optional"`
}

type dictionary struct {
	_       objects.Shape    `of:"System.Collections.Generic.Dictionary<,>"`
	Entries objects.RefField `field:"entries|_entries"`
	Count   objects.IntField `field:"_count"`
}

type entry struct {
	_     objects.Shape      `of:"System.Collections.Generic.Dictionary<,>+Entry"`
	Hash  objects.IntField   `field:"hashCode"`
	Key   objects.ValueField `field:"key"`
	Value objects.RefField   `field:"value"`
}

// A set is the shape of HashSet, with other fields in one version.
type set struct {
	_   objects.Shape `of:"System.Collections.Generic.HashSet<>"`
	New *struct {
		Entries objects.RefField `field:"_entries"`
		Free    objects.IntField `field:"_freeCount"`
	}
	Old *struct {
		Slots objects.RefField `field:"_slots"`
		Last  objects.IntField `field:"_lastIndex"`
	}
}

// shapesOfZoo calls f for each dump of the program that makes one object of each kind, on all runtimes.
func shapesOfZoo(t *testing.T, f func(t *testing.T, b *objects.Binder, fact func(name string) objects.Object, d *testdump.Dump)) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		facts := map[string]target.Addr{}
		for _, have := range d.Manifest.Objects() {
			facts[have.Name] = have.Addr
		}
		if !d.HasHeap() || facts["root.Collections.List"] == 0 {
			t.Skip("no heap, or another program")
		}
		v, err := d.View("")
		require.NoError(t, err)
		b, err := v.Shapes()
		require.NoError(t, err)
		again, err := v.Shapes()
		require.NoError(t, err)
		assert.Same(t, b, again, "a view has one binder")
		f(t, b, func(name string) objects.Object {
			o, err := b.Objects().Object(facts[name])
			require.NoError(t, err, name)
			return o
		}, d)
	})
}

func TestBind(t *testing.T) {
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, fact func(string) objects.Object, _ *testdump.Dump) {
		s, x, err := objects.BindObject[*list](b, fact("root.Collections.List"))
		require.NoError(t, err)
		n, err := s.Size.Int(x)
		require.NoError(t, err)
		assert.EqualValues(t, 3, n)
		items, err := s.Items.Object(x)
		require.NoError(t, err)
		assert.True(t, items.Type.MT.IsArray())
		assert.False(t, s.Later.Has())
		_, err = s.Later.Int(x)
		assert.ErrorIs(t, err, target.ErrUnsupported)
		assert.Equal(t, 4, s.Size.Size())
		assert.Equal(t, "_size", s.Size.Field().Name)

		again, err := objects.Bind[*list](b, fact("root.Collections.List").Type)
		require.NoError(t, err)
		assert.Same(t, s, again, "a type is bound once")
		_, err = objects.Bind[*dictionary](b, fact("root.Collections.List").Type)
		assert.ErrorIs(t, err, objects.ErrOtherType)
	})
}

func TestAlternatesAndElements(t *testing.T) {
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, fact func(string) objects.Object, d *testdump.Dump) {
		s, x, err := objects.BindObject[*dictionary](b, fact("root.Collections.ById"))
		require.NoError(t, err)
		n, err := s.Count.Int(x)
		require.NoError(t, err)
		assert.EqualValues(t, 10, n)
		o, err := s.Entries.Object(x)
		require.NoError(t, err)
		e, a, err := objects.BindElements[*entry](b, o)
		require.NoError(t, err)
		for i := range uint32(n) {
			if i == 2 {
				continue // which was removed
			}
			key, err := e.Key.Value(a.Instance(i)).Int()
			require.NoError(t, err)
			assert.EqualValues(t, 7*i, key)
			dog, err := e.Value.Object(a.Instance(i))
			require.NoError(t, err)
			name, err := b.Definition(dog.Type)
			require.NoError(t, err)
			assert.Equal(t, "Debuggee.Zoo.Dog", name)
		}

		h, err := objects.Bind[*set](b, fact("root.Collections.HashSet").Type)
		require.NoError(t, err)
		assert.NotEqual(t, h.New == nil, h.Old == nil, "one of both fits")
		rt, err := d.Runtime()
		require.NoError(t, err)
		assert.Equal(t, rt.Instance().IsCore3(), h.Old != nil)
	})
}

func TestHandles(t *testing.T) {
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, fact func(string) objects.Object, d *testdump.Dump) {
		want := fact("root.Collections.List").Addr
		for _, name := range []string{"root.Collections.Weak", "root.Collections.WeakGeneric"} {
			o, err := b.Weak(fact(name))
			require.NoError(t, err, name)
			assert.Equal(t, want, o.Addr, name)
		}
		_, err := b.Weak(fact("root.Collections.List"))
		assert.ErrorIs(t, err, objects.ErrOtherType)

		h, err := d.Heap()
		require.NoError(t, err)
		n := 0
		for e, err := range h.Handles() {
			if err != nil {
				continue // covered by the tests of handles
			}
			n++
			one, err := h.HandleAt(e.Addr)
			require.NoError(t, err)
			one.Table = e.Table
			require.Equal(t, e, one)
			if e.Object == want && e.Type == heap.HandleDependent {
				_, text, err := b.Dependent(e.Addr)
				require.NoError(t, err)
				s, err := text.Text(-1)
				require.NoError(t, err)
				assert.Equal(t, "attached to list", s)
			}
		}
		if !d.Canned || d.Name == "net10-zoo" { // the other slices do not have them
			assert.NotZero(t, n)
		}
		_, err = h.HandleAt(want)
		assert.True(t, testdump.Typed(err), "%v", err)
		assert.Error(t, err)
	})
}

// TestUnknownLayout: a type without the fields of a shape, or with fields of another kind, is never read.
func TestUnknownLayout(t *testing.T) {
	type missing struct {
		_     objects.Shape    `of:"System.Collections.Generic.List<>"`
		Items objects.RefField `field:"_items"`
		Room  objects.IntField `field:"_room|_capacity"`
	}
	type wrongKind struct {
		_     objects.Shape    `of:"System.Collections.Generic.List<>"`
		Items objects.IntField `field:"_items"`
		Size  objects.RefField `field:"_size"`
	}
	type noStruct struct {
		Items objects.ValueField `field:"_size.inner"`
	}
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, fact func(string) objects.Object, _ *testdump.Dump) {
		typ := fact("root.Collections.List").Type
		_, err := objects.Bind[*missing](b, typ)
		var unknown *objects.UnknownLayoutError
		require.ErrorAs(t, err, &unknown)
		assert.ErrorIs(t, err, target.ErrUnsupported)
		assert.Equal(t, []string{"_room|_capacity"}, unknown.Missing)
		assert.Equal(t, "System.Collections.Generic.List<System.Int32>", unknown.Type)
		assert.Contains(t, unknown.Fields, "_size : System.Int32")

		_, err = objects.Bind[*wrongKind](b, typ)
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, []string{"_items", "_size"}, unknown.Missing)
		_, err = objects.Bind[*noStruct](b, typ)
		require.ErrorAs(t, err, &unknown)
	})
}

// TestTags: a struct with wrong tags is an error of every binding, whatever the type.
func TestTags(t *testing.T) {
	type untagged struct{ Items objects.RefField }
	type hidden struct {
		items objects.RefField `field:"_items"` //lint:ignore U1000 that it can't be set is what is tested
	}
	type kindless struct {
		Items int `field:"_items"`
	}
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, fact func(string) objects.Object, _ *testdump.Dump) {
		typ := fact("root.Collections.List").Type
		var unknown *objects.UnknownLayoutError
		_, err := objects.Bind[*untagged](b, typ)
		assert.True(t, err != nil && !errors.As(err, &unknown), "%v", err)
		_, err = objects.Bind[*hidden](b, typ)
		assert.True(t, err != nil && !errors.As(err, &unknown), "%v", err)
		_, err = objects.Bind[*kindless](b, typ)
		assert.True(t, err != nil && !errors.As(err, &unknown), "%v", err)
	})
}

// TestOn: On finds the objects that a walk of the whole heap finds by their types.
func TestOn(t *testing.T) {
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, fact func(string) objects.Object, d *testdump.Dump) {
		h, err := d.Heap()
		require.NoError(t, err)
		want := map[target.Addr]bool{}
		for o, err := range h.Objects() {
			if err != nil || o.Free {
				continue
			}
			typ, err := b.Objects().Type(o.Type.Addr)
			require.NoError(t, err)
			if is, err := objects.IsShape[*list](b, typ); is && err == nil {
				want[o.Addr] = true
			}
		}
		have := map[target.Addr]bool{}
		last := target.Addr(0)
		for f, err := range objects.BoundObjects[*list](context.Background(), b, h, nil, heap.ScanOptions{Jobs: 2}) {
			if err != nil {
				assert.True(t, testdump.Typed(err), "%v", err)
				continue
			}
			assert.Greater(t, f.Object.Addr, last)
			last = f.Object.Addr
			have[last] = true
			n, err := f.Shape.Size.Int(f.At())
			if err == nil {
				assert.GreaterOrEqual(t, n, int64(0))
			}
		}
		assert.Equal(t, want, have)
		assert.True(t, have[fact("root.Collections.List").Addr])
		for range objects.BoundObjects[*list](context.Background(), b, h, nil, heap.ScanOptions{Jobs: 2}) {
			break // ends the walk
		}
	})
}

type statics struct {
	_         objects.Shape             `of:"Debuggee.Zoo.Statics"`
	String    objects.StaticField       `static:"String"`
	Int       objects.StaticField       `static:"Int"`
	Lacking   objects.StaticField       `static:"PerThreadInt,optional"`
	PerThread objects.ThreadStaticField `threadstatic:"PerThreadInt"`
}

func TestBoundStatics(t *testing.T) {
	shapesOfZoo(t, func(t *testing.T, b *objects.Binder, _ func(string) objects.Object, d *testdump.Dump) {
		n := 0
		for s, err := range objects.LoadedShapes[*statics](b) {
			require.NoError(t, err)
			n++
			text, err := s.String.Value().Text(-1)
			require.NoError(t, err)
			assert.Equal(t, "static string", text)
			i, err := s.Int.Value().Int()
			if !errors.Is(err, target.ErrNotInDump) { // Windows dumps do not have them
				require.NoError(t, err)
				assert.EqualValues(t, 1234567, i)
			}
			assert.False(t, s.Lacking.Has(), "a thread static is no static of all")
			rt, err := d.Runtime()
			require.NoError(t, err)
			all, err := rt.Threads()
			require.NoError(t, err)
			require.NotEmpty(t, all)
			for i := range all {
				if err := s.PerThread.Of(&all[i]).Err(); err != nil {
					assert.True(t, testdump.Typed(err), "%v", err)
				}
			}
		}
		assert.Equal(t, 1, n)
	})
}

// TestReadsAllocateNothing: neither a lookup of a bound shape nor a read allocates.
func TestReadsAllocateNothing(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("words of 32 bits are for agreement, not for speed")
	}
	d := testdump.Open(t, "net10-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	for _, have := range d.Manifest.Objects() {
		if have.Name != "root.Collections.List" {
			continue
		}
		o, err := b.Objects().Object(have.Addr)
		require.NoError(t, err)
		sum := int64(0)
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			s, x, _ := objects.BindObject[*list](b, o)
			n, _ := s.Size.Int(x)
			a, _ := s.Items.Addr(x)
			sum += n + int64(a)
			_ = s.Items.Value(x)
		}))
		assert.NotZero(t, sum)
		return
	}
	t.Fatal("no list")
}
