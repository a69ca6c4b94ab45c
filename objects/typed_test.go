package objects_test

import (
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestTypedReaders reads the structs of the class library that the dumped program made.
func TestTypedReaders(t *testing.T) {
	zoo(t, "root.Primitives", func(t *testing.T, o objects.Object) {
		at, err := o.Field("DateTime").Time()
		require.NoError(t, err)
		assert.Equal(t, time.Date(2013, 2, 28, 1, 2, 3, 0, time.UTC), at)
		span, err := o.Field("TimeSpan").Duration()
		require.NoError(t, err)
		assert.Equal(t, 90*time.Minute+30*time.Second, span)
		guid, err := o.Field("Guid").GUID()
		require.NoError(t, err)
		assert.Equal(t, "00112233-4455-6677-8899-aabbccddeeff", guid.String())
		sum, err := o.Field("Decimal").Decimal()
		require.NoError(t, err)
		assert.Equal(t, "12345.6789", sum.FloatString(4))
		assert.Equal(t, big.NewRat(123456789, 10000), sum)

		some, has, err := o.Field("Some").Nullable()
		require.NoError(t, err)
		assert.True(t, has)
		assert.Equal(t, "17", some.Plain(0))
		assert.False(t, o.Field("Some").IsNull())
		_, has, err = o.Field("None").Nullable()
		require.NoError(t, err)
		assert.False(t, has)
		assert.True(t, o.Field("None").IsNull())
		assert.False(t, o.Field("Struct").IsNull())

		for name, want := range map[string]struct {
			number int64
			text   string
		}{"Enum": {2, "Green"}, "Flags": {3, "Read, Write"}} {
			n, err := o.Field(name).Int()
			require.NoError(t, err)
			u, err := o.Field(name).Uint()
			require.NoError(t, err)
			assert.Equal(t, want.number, n)
			assert.EqualValues(t, want.number, u)
			text, err := o.Field(name).Enum()
			require.NoError(t, err)
			assert.Equal(t, want.text, text)
		}
		_, err = o.Field("UInt64").Int()
		assert.ErrorIs(t, err, target.ErrArgument, "it does not fit")
		_, err = o.Field("Int16").Uint()
		assert.ErrorIs(t, err, target.ErrArgument, "it is negative")
	})
}

// TestSlices reads arrays as slices.
func TestSlices(t *testing.T) {
	zoo(t, "root.Arrays", func(t *testing.T, o objects.Object) {
		s, err := o.Field("Ints").Slice()
		require.NoError(t, err)
		assert.EqualValues(t, 4, s.Len())
		assert.Equal(t, "30", s.At(2).Plain(0))
		assert.ErrorIs(t, s.At(4).Err(), target.ErrArgument)
		assert.ErrorIs(t, s.At(-1).Err(), target.ErrArgument)
		var sum int64
		for i, v := range s.All() {
			n, err := v.Int()
			require.NoError(t, err)
			sum += n * (i + 1)
		}
		assert.EqualValues(t, 10+40+90+160, sum)
		chars, err := o.Field("Chars").Slice()
		require.NoError(t, err)
		text, err := chars.Text(2)
		require.NoError(t, err)
		assert.Equal(t, "ch", text)
		_, err = s.Text(-1)
		assert.ErrorIs(t, err, target.ErrArgument)
		points, err := o.Field("Points").Slice()
		require.NoError(t, err)
		p, err := points.At(1).Struct()
		require.NoError(t, err)
		assert.Equal(t, "4", p.Field("Y").Plain(0))
		assert.Zero(t, objects.Slice{}.Len())
		for range (objects.Slice{}).All() {
			t.Error("an element of nothing")
		}
	})
}

// TestAs reads values as Go values.
func TestAs(t *testing.T) {
	zoo(t, "root.Primitives", func(t *testing.T, o objects.Object) {
		as(t, o, "True", true)
		as(t, o, "Int32", int32(-123456789))
		as(t, o, "Int32", -123456789)
		as(t, o, "Byte", 250)
		as(t, o, "Byte", uint8(250))
		as(t, o, "Char", 'Ω')
		as(t, o, "Char", uint16('Ω'))
		as(t, o, "UInt64", uint64(18000000000000000000))
		as(t, o, "Single", float32(0.72))
		as(t, o, "String", "hello, wörld \u4f60\u597d")
		as(t, o, "Empty", "")
		as(t, o, "Boxed", 42)
		as(t, o, "Some", 17)
		as(t, o, "TimeSpan", 90*time.Minute+30*time.Second)
		as(t, o, "DateTime", time.Date(2013, 2, 28, 1, 2, 3, 0, time.UTC))
		as(t, o, "Decimal", big.NewRat(123456789, 10000))
		as(t, o, "IntPtr", target.Addr(0x1234))
		as(t, o, "Flags", int64(3))
		as(t, o, "Null", (*string)(nil))
		as(t, o, "None", (*int)(nil))
		seventeen := 17
		as(t, o, "Some", &seventeen)

		refused[int8](t, o, "Int32", target.ErrArgument)
		refused[uint](t, o, "Int32", target.ErrArgument)
		refused[string](t, o, "Int32", target.ErrArgument)
		refused[int](t, o, "String", target.ErrArgument)
		refused[string](t, o, "Null", target.ErrNull)
		refused[int](t, o, "None", target.ErrNull)
		refused[time.Time](t, o, "Guid", target.ErrArgument)
		refused[map[string]int](t, o, "Int32", target.ErrArgument)
		refused[complex128](t, o, "Int32", target.ErrArgument)
		refused[int](t, o, "nothing", target.ErrNoSuch)
		refused[*int](t, o, "String", target.ErrArgument)
	})
	zoo(t, "root.Arrays", func(t *testing.T, o objects.Object) {
		as(t, o, "Ints", []int{10, 20, 30, 40})
		as(t, o, "Chars", "chars")
		as(t, o, "Bytes", []byte("bytes"))
		as(t, o, "Empty", []bool(nil))
		a, c := "a", "c"
		as(t, o, "Strings", []*string{&a, nil, &c})
		refused[[]string](t, o, "Strings", target.ErrNull)
		got, err := objects.As[[]objects.Object](o.Field("Jagged"))
		assert.ErrorIs(t, err, target.ErrNull)
		assert.Len(t, got, 2, "what was read before the error")
	})
}

func as[T any](t *testing.T, o objects.Object, field string, want T) {
	t.Helper()
	got, err := objects.As[T](o.Field(field))
	require.NoError(t, err, field)
	assert.Equal(t, want, got, field)
}

func refused[T any](t *testing.T, o objects.Object, field string, want error) {
	t.Helper()
	_, err := objects.As[T](o.Field(field))
	assert.ErrorIs(t, err, want, field)
}

// TestTypedReadersAgree compares what typed readers return with the text of the same values, for all structs on the
// heaps of several dumps.
func TestTypedReadersAgree(t *testing.T) {
	seen := map[string]int{}
	for _, folder := range []string{"net10-zoo", "net8-zoo", "net31-zoo", "web/web-net10", "net10-async"} {
		v := openView(t, folder)
		r, err := v.Objects()
		require.NoError(t, err)
		h, err := v.Heap()
		require.NoError(t, err)
		for ho, err := range h.Objects() {
			if err != nil || ho.Free || ho.Type.IsArray() {
				continue
			}
			o, err := r.Of(ho)
			require.NoError(t, err)
			for _, v := range o.Fields() {
				if v.Kind() == objects.KindStruct {
					agree(t, v, seen)
				}
			}
		}
	}
	for _, name := range []string{"System.DateTime", "System.TimeSpan", "System.Guid", "System.Decimal", "System.DateTimeOffset", "System.Nullable`1",
		"System.Memory`1", "System.ReadOnlyMemory`1", "System.Collections.Immutable.ImmutableArray`1"} {
		assert.Positive(t, seen[name], name)
	}
}

// agree compares one value, and counts its type.
func agree(t *testing.T, v objects.Value, seen map[string]int) {
	typ, err := v.Type()
	if err != nil || typ == nil {
		return
	}
	name, err := typ.Name()
	require.NoError(t, err)
	name, _, _ = strings.Cut(name, "[")
	var text string
	shown := v.Plain(-1)
	switch name {
	case "System.DateTime", "System.DateTimeOffset":
		var at time.Time
		at, err = v.Time()
		text = at.Format("2006-01-02T15:04:05.9999999")
		shown = shown[:min(len(shown), len(text))]
	case "System.TimeSpan":
		var d time.Duration
		if d, err = v.Duration(); err == nil && d >= 0 && d < 24*time.Hour {
			text = time.Time{}.Add(d).Format("15:04:05.0000000")
			shown += "."
			shown = (shown + "0000000")[:len(text)]
			text, shown = strings.TrimRight(text, ".0"), strings.TrimRight(shown, ".0")
		} else {
			text = shown
		}
	case "System.Guid":
		var g target.GUID
		g, err = v.GUID()
		text = g.String()
	case "System.Decimal":
		var n *big.Rat
		if n, err = v.Decimal(); err == nil {
			_, after, _ := strings.Cut(shown, ".")
			text = n.FloatString(len(after))
		}
	case "System.Nullable`1":
		inner, has, e := v.Nullable()
		if text, err = "null", e; has {
			text = inner.Plain(-1)
		}
		assert.Equal(t, err == nil && !has, v.IsNull())
	case "System.Memory`1", "System.ReadOnlyMemory`1", "System.ArraySegment`1", "System.Collections.Immutable.ImmutableArray`1":
		var s objects.Slice
		if s, err = v.Slice(); err == nil && strings.HasPrefix(shown, "(") {
			text = "(" + strconv.FormatInt(s.Len(), 10) + ")"
			shown, _, _ = strings.Cut(shown, " ")
		} else {
			text = shown
		}
	default:
		return
	}
	if err != nil { // nothing else can be known, and the text says so too
		assert.True(t, testdump.Typed(err), "%s: %v", name, err)
		return
	}
	seen[name]++
	assert.Equal(t, shown, text, name)
}

// TestTypedTruncated cuts the object off at each byte. A value behind the cut is not in the dump, and others are right.
func TestTypedTruncated(t *testing.T) {
	altered := &testdump.Altered{Target: testdump.Open(t, "net10-zoo").Target()}
	v, err := altered.Open(t, sosgo.Options{Offline: true}).View("")
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	typ, err := r.Named("Debuggee.Zoo.Primitives", "")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	var o objects.Object
	for ho, err := range h.Walk(t.Context(), &heap.Filter{Type: heap.TypeIs(typ.MT.Addr)}) {
		require.NoError(t, err)
		o, err = r.Of(ho)
		require.NoError(t, err)
	}
	readers := map[string]func(v objects.Value) (any, error){
		"DateTime": func(v objects.Value) (any, error) { return objects.As[time.Time](v) },
		"TimeSpan": func(v objects.Value) (any, error) { return objects.As[time.Duration](v) },
		"Guid":     func(v objects.Value) (any, error) { return objects.As[target.GUID](v) },
		"Decimal":  func(v objects.Value) (any, error) { return objects.As[*big.Rat](v) },
		"Some":     func(v objects.Value) (any, error) { return objects.As[int](v) },
		"Enum":     func(v objects.Value) (any, error) { return v.Enum() },
	}
	whole := map[string]any{}
	for name, read := range readers {
		whole[name], err = read(o.Field(name))
		require.NoError(t, err, name)
	}
	size, err := o.Size()
	require.NoError(t, err)
	missing := 0
	for n := range size {
		altered.Holes = []target.Range{{Start: o.Addr + target.Addr(n), End: o.Addr + target.Addr(size)}}
		for name, read := range readers {
			got, err := read(o.Field(name))
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump, "%s of %d bytes", name, n)
				missing++
				continue
			}
			assert.Equal(t, whole[name], got, "%s of %d bytes", name, n)
		}
	}
	assert.Greater(t, missing, 8*len(readers))
}
