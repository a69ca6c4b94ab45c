package objects_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// zoo calls f for each dump of the program that holds one object of every kind, with the object of a fact in its
// manifest.
func zoo(t *testing.T, fact string, f func(t *testing.T, o objects.Object)) {
	zooReader(t, fact, func(t *testing.T, _ *objects.Reader, o objects.Object) { f(t, o) })
}

// zooReader is zoo with the Reader of the object.
func zooReader(t *testing.T, fact string, f func(t *testing.T, r *objects.Reader, o objects.Object)) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasHeap() || d.Canned && d.Name != "net10-zoo" {
			t.Skip("no heap, or a slice without all metadata")
		}
		for _, have := range d.Manifest.Objects() {
			if have.Name != fact {
				continue
			}
			r, err := d.Objects()
			require.NoError(t, err)
			o, err := r.Object(have.Addr)
			require.NoError(t, err)
			f(t, r, o)
			return
		}
		t.Skip("another program")
	})
}

func TestPrimitives(t *testing.T) {
	zoo(t, "root.Primitives", func(t *testing.T, o objects.Object) {
		b, err := o.Field("True").Bool()
		require.NoError(t, err)
		assert.True(t, b)
		b, err = o.Field("False").Bool()
		require.NoError(t, err)
		assert.False(t, b)
		c, err := o.Field("Char").Char()
		require.NoError(t, err)
		assert.Equal(t, uint16('Ω'), c)
		for name, want := range map[string]int64{"SByte": -5, "Int16": -12345, "Int32": -123456789, "Int64": -1234567890123456789} {
			n, err := o.Field(name).Int()
			require.NoError(t, err, name)
			assert.Equal(t, want, n, name)
		}
		for name, want := range map[string]uint64{"Byte": 250, "UInt16": 54321, "UInt32": 4000000000, "UInt64": 18000000000000000000} {
			n, err := o.Field(name).Uint()
			require.NoError(t, err, name)
			assert.Equal(t, want, n, name)
		}
		f, err := o.Field("Double").Float()
		require.NoError(t, err)
		assert.Equal(t, math.Pi, f)
		f, err = o.Field("Single").Float()
		require.NoError(t, err)
		assert.Equal(t, float64(float32(0.72)), f)
		f, err = o.Field("NaN").Float()
		require.NoError(t, err)
		assert.True(t, math.IsNaN(f))
		a, err := o.Field("Pointer").Addr()
		require.NoError(t, err)
		assert.Equal(t, target.Addr(0xdead0), a)
		assert.Equal(t, objects.KindPointer, o.Field("FunctionPointer").Kind())
		assert.True(t, o.Field("Null").IsNull())
	})
}

// TestInline compares the one-line form of every kind of value with what the program stored.
func TestInline(t *testing.T) {
	zoo(t, "root.Primitives", func(t *testing.T, o objects.Object) {
		for name, want := range map[string]string{
			"True":          "true",
			"Char":          "'Ω'",
			"Int32":         "", // the number is enough
			"String":        `"hello, wörld 你好"`,
			"Empty":         `""`,
			"Null":          "",
			"Boxed":         "(System.Int32) 42",
			"BoxedStruct":   "(Debuggee.Zoo.Point) {X=3, Y=4}",
			"BoxedEnum":     "(Debuggee.Zoo.Rights) All",
			"Enum":          "Green",
			"Flags":         "Read, Write",
			"Some":          "17",
			"None":          "null",
			"Decimal":       "12345.6789",
			"DateTime":      "2013-02-28T01:02:03Z",
			"TimeSpan":      "01:30:30",
			"Guid":          "00112233-4455-6677-8899-aabbccddeeff",
			"Struct":        `{From={X=1, Y=2}, To={X=30, Y=40}, Label="seg", Length=48.33}`,
			"GenericStruct": `{First="one", Second={X=9, Y=8}}`,
			"Union":         "{I=1065353216, F=1, L=77}",
			"Packed":        "{A=1, B=2, C=3}",
			"Tuple":         `{Item1=5, Item2="five"}`,
			"Delegate":      "",
		} {
			v := o.Field(name)
			require.NoError(t, v.Err(), name)
			assert.Equal(t, want, v.Inline(64), name)
		}
		assert.Equal(t, `"hell"… (15 characters)`, o.Field("String").Inline(4))
		assert.Equal(t, "-123456789", o.Field("Int32").Plain(64))
		assert.Equal(t, "null", o.Field("Null").Plain(64))
		assert.Equal(t, "0xdead0", o.Field("Pointer").Plain(64))
	})
}

// TestInlineArray compares all elements of an inline array with what the program stored: each is its index times
// eleven.
func TestInlineArray(t *testing.T) {
	zoo(t, "root.Newer", func(t *testing.T, o objects.Object) {
		v := o.Field("Inline")
		assert.Equal(t, "{0, 11, 22, 33}", v.Inline(64))
		s, err := v.Struct()
		require.NoError(t, err)
		n, err := s.Type.InlineLength()
		require.NoError(t, err)
		require.Equal(t, 4, n)
		seen := 0
		for i, e := range s.Elements() {
			got, err := e.Int()
			require.NoError(t, err)
			assert.EqualValues(t, 11*i, got)
			seen++
		}
		assert.Equal(t, 4, seen)
		half, err := o.Field("Half").Struct()
		require.NoError(t, err)
		n, err = half.Type.InlineLength()
		require.NoError(t, err)
		assert.Zero(t, n, "a struct of one field is no inline array")
	})
}

func TestFieldsOfBaseClasses(t *testing.T) {
	zoo(t, "root.Dog", func(t *testing.T, o objects.Object) {
		fields, err := o.Type.Fields()
		require.NoError(t, err)
		var names []string
		for _, f := range fields {
			names = append(names, f.Name)
		}
		assert.Equal(t, []string{"name", "Legs", "s_created", "LastName", "name2", "name", "Friend", "Coat"}, names)
		// Two classes have a field of that name: the derived one is used.
		f, err := o.Type.InstanceField("name")
		require.NoError(t, err)
		assert.Same(t, o.Type, f.Declaring)
		base, err := o.Type.Base()
		require.NoError(t, err)
		created, err := base.StaticField("s_created")
		require.NoError(t, err)
		s := created.StaticValue()
		require.NoError(t, s.Err)
		n, err := s.Value.Int()
		if errors.Is(err, target.ErrNotInDump) {
			t.Skip("Windows dumps leave these statics out")
		}
		require.NoError(t, err)
		assert.Positive(t, n)
	})
}

func TestArrays(t *testing.T) {
	zoo(t, "root.Arrays", func(t *testing.T, o objects.Object) {
		array := func(name string) objects.Array {
			e, err := o.Field(name).Object()
			require.NoError(t, err, name)
			a, err := e.Array()
			require.NoError(t, err, name)
			return a
		}
		m := array("Matrix")
		assert.Equal(t, 2, m.Rank)
		assert.Equal(t, []int32{2, 3}, m.Lengths)
		at, err := m.ElementAddr(1, 2)
		require.NoError(t, err)
		assert.Equal(t, m.At(5).Location(), at)
		assert.Equal(t, "6", m.At(5).Plain(10))
		assert.Equal(t, []int32{1, 2}, m.Index(5, make([]int32, 2)))
		_, err = m.ElementAddr(2, 0)
		assert.ErrorIs(t, err, target.ErrArgument)
		_, err = m.ElementAddr(1)
		assert.ErrorIs(t, err, target.ErrArgument)
		assert.ErrorIs(t, m.At(6).Err(), target.ErrArgument)

		low := array("NonZeroBased")
		assert.Equal(t, []int32{5}, low.LowerBounds)
		assert.Equal(t, []int32{3}, low.Lengths)
		_, err = low.ElementAddr(0)
		assert.Error(t, err)
		at, err = low.ElementAddr(5)
		require.NoError(t, err)
		assert.Equal(t, low.At(0).Location(), at)

		assert.Equal(t, uint32(8), func() uint32 { a := array("Cube"); return a.Len }())
		points := array("Points")
		p, err := points.At(1).Struct()
		require.NoError(t, err)
		y, err := p.Field("Y").Int()
		require.NoError(t, err)
		assert.Equal(t, int64(4), y)
		enums := array("Enums")
		assert.NotEmpty(t, enums.At(0).Inline(10))
		for name, want := range map[string]string{
			"Matrix": "System.Int32[2, 3]", "Cube": "System.String[2, 2, 2]", "Jagged": "System.Int32[3][]",
			"NonZeroBased": "System.Int32[5..7]", "Empty": "System.Boolean[0]",
		} {
			assert.Equal(t, want, o.Field(name).Inline(10), name)
		}
	})
}

func TestNotAnObject(t *testing.T) {
	zoo(t, "root.Primitives", func(t *testing.T, o objects.Object) {
		s, err := o.Field("String").Object()
		require.NoError(t, err)
		_, err = s.Array()
		assert.ErrorIs(t, err, target.ErrArgument)
		_, err = s.Unbox()
		assert.ErrorIs(t, err, target.ErrArgument)
		_, err = o.Text(-1)
		assert.ErrorIs(t, err, target.ErrArgument)
		_, err = o.Field("Null").Object()
		assert.ErrorIs(t, err, target.ErrNull)
		_, err = o.Field("True").Int()
		assert.ErrorIs(t, err, target.ErrArgument)
		assert.ErrorIs(t, o.Field("nothing of that name").Err(), target.ErrNoSuch)
		assert.Equal(t, objects.KindUnknown, o.Field("nothing of that name").Kind())
	})
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	for _, a := range []target.Addr{0, 0x1001, 0x1000, ^target.Addr(7)} {
		_, err := r.Object(a)
		assert.ErrorIs(t, err, target.ErrArgument, "%x", uint64(a))
		assert.NotErrorIs(t, err, target.ErrCorrupt, "%x", uint64(a))
		_, err = r.TrustedObject(a)
		assert.ErrorIs(t, err, target.ErrCorrupt, "%x", uint64(a))
	}
}

// openPatched opens a canned dump with memory that can be changed.
func openPatched(t testing.TB, name string) (*objects.Reader, *testdump.Overlay) {
	d, over := testdump.OpenOverlaid(t, name)
	r, err := d.Objects()
	require.NoError(t, err)
	return r, over
}

// FuzzObject reads an object with arbitrary bytes: every field, and what the fields refer to, in every form.
func FuzzObject(f *testing.F) {
	d := testdump.Open(f, "net10-zoo")
	r, p := openPatched(f, d.Name)
	facts := d.Manifest.Objects()
	for i := range facts {
		var b [64]byte
		if _, err := d.Memory().ReadMemory(b[:], facts[i].Addr); err == nil {
			f.Add(uint8(i), b[:])
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		a := facts[int(which)%len(facts)].Addr
		p.Set(testdump.Damage{At: a, Bytes: b})
		o, err := r.Object(a)
		if err != nil {
			return
		}
		exercise(o)
	})
}

// readTyped reads a value as each Go type.
func readTyped(v objects.Value) {
	_ = v.IsNull()
	_, _ = v.Enum()
	_, _ = objects.As[time.Time](v)
	_, _ = objects.As[time.Duration](v)
	_, _ = objects.As[target.GUID](v)
	_, _ = objects.As[*big.Rat](v)
	_, _ = objects.As[*string](v)
	_, _ = objects.As[float32](v)
	_, _ = objects.As[int8](v)
	s, err := v.Slice()
	if err != nil {
		return
	}
	for i, e := range s.All() {
		if _, err := objects.As[*int](e); err != nil || i > 100 {
			break
		}
	}
	_, _ = s.Text(1 << 16)
}

// exercise calls all methods of an object. Errors are accepted; panics and endless loops are not.
func exercise(o objects.Object) {
	_, _ = o.Size()
	_ = o.Inline(64)
	_, _, _ = o.RuntimeType()
	_, _ = o.Text(1 << 16)
	_ = o.Boxed().Plain(64)
	for f, v := range o.Fields() {
		_ = v.Plain(64)
		_, _ = f.TypeName(dac.NameManaged)
		readTyped(v)
	}
	a, err := o.Array()
	if err != nil {
		return
	}
	for i, v := range a.Values() {
		if i == 100 {
			return
		}
		_ = v.Plain(64)
		_ = a.Index(i, make([]int32, a.Rank))
	}
}

// TestLyingLengths reads arrays and strings with lengths that exceed their memory.
func TestLyingLengths(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, p := openPatched(t, d.Name)
	object := func(fact string) objects.Object {
		for _, f := range d.Manifest.Objects() {
			if f.Name == fact {
				o, err := r.Object(f.Addr)
				require.NoError(t, err)
				return o
			}
		}
		t.Fatal(fact)
		return objects.Object{}
	}
	matrix := object("root.Arrays.Matrix")
	for name, lengths := range map[string][]byte{
		"product":  {2, 0, 0, 0, 4, 0, 0, 0},
		"negative": {2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
		"overflow": {0, 0, 0, 0x40, 0, 0, 0, 0x40},
	} {
		p.Set(testdump.Damage{At: matrix.Addr + 16, Bytes: lengths})
		_, err := matrix.Array()
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
	s := object("root.Primitives.String")
	p.Set(testdump.Damage{At: s.Addr + 8, Bytes: []byte{0xff, 0xff, 0xff, 0x7f}})
	var out strings.Builder
	assert.Error(t, s.WriteText(&out), "a string longer than the heap")
	assert.True(t, strings.HasPrefix(out.String(), "hello, wörld"), "what is there is written")
	text, err := s.Text(5)
	require.NoError(t, err)
	assert.Equal(t, "hello", text)
}

func BenchmarkFields(b *testing.B) {
	d := testdump.Open(b, "net10-zoo")
	r, err := d.Objects()
	require.NoError(b, err)
	for _, f := range d.Manifest.Objects() {
		if f.Name != "root.Primitives" {
			continue
		}
		o, err := r.Object(f.Addr)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			for _, v := range o.Fields() {
				if v.Err() != nil {
					b.Fatal(v.Err())
				}
			}
		}
	}
}

func BenchmarkText(b *testing.B) {
	d := testdump.Open(b, "net10-zoo")
	r, err := d.Objects()
	require.NoError(b, err)
	for _, f := range d.Manifest.Objects() {
		if f.Name != "root.Primitives.String" {
			continue
		}
		o, err := r.Object(f.Addr)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := o.Text(-1); err != nil {
				b.Fatal(err)
			}
		}
	}
}
