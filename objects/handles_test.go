package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// fieldKinds are fields of each kind, each of another type.
type fieldKinds struct {
	instance, static, thread, inStruct *objects.Field
}

// aFieldOfEachKind returns fields of types that the dumped program declares.
func aFieldOfEachKind(t *testing.T, r *objects.Reader) (k fieldKinds) {
	field := func(class, name string) *objects.Field {
		typ, err := r.Named("Debuggee.Zoo."+class, "Debuggee")
		require.NoError(t, err)
		fields, err := typ.OwnFields()
		require.NoError(t, err)
		for _, f := range fields {
			if f.Name == name {
				return f
			}
		}
		require.Fail(t, "no such field", "%s.%s", class, name)
		return nil
	}
	return fieldKinds{field("Animal", "Legs"), field("Statics", "Int"), field("Statics", "PerThreadInt"), field("Point", "Y")}
}

// TestFieldsOfOtherKinds reads fields of each kind by the methods for the other kinds. Each is an error of the caller,
// and most name the right method.
func TestFieldsOfOtherKinds(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	k := aFieldOfEachKind(t, r)
	threads, err := r.Runtime().Threads()
	require.NoError(t, err)
	dog := anObject(t, d, r, "Debuggee.Zoo.Dog")
	node := anObject(t, d, r, "Debuggee.Zoo.Node")
	in, err := anObject(t, d, r, "Debuggee.Zoo.Point").Unbox()
	require.NoError(t, err)

	// Each field by the methods that are right for it.
	assert.NoError(t, dog.Value(k.instance).Err(), "a field of the base class")
	assert.NoError(t, in.Value(k.inStruct).Err())
	assert.NoError(t, k.static.StaticValue().Value.Err())
	value, err := k.static.StaticValue().Value.Int()
	require.NoError(t, err)
	assert.EqualValues(t, 1234567, value)
	used := map[int64]bool{}
	for i := range threads {
		if n, err := k.thread.ThreadStatic(&threads[i]).Value.Int(); err == nil {
			used[n] = true
		}
	}
	assert.Equal(t, map[int64]bool{1: true, 2: true}, used)

	thread := &threads[0]
	for name, c := range map[string]struct {
		v    objects.Value
		says string
	}{
		"instance.StaticValue":     {k.instance.StaticValue().Value, "Object.Value"},
		"instance.StaticValue raw": {k.instance.StaticValue().Stored, ""},
		"instance.ThreadStatic":    {k.instance.ThreadStatic(thread).Value, "Object.Value"},
		"static.ThreadStatic":      {k.static.ThreadStatic(thread).Value, "StaticValue"},
		"static.At":                {k.static.At(dog.Addr + 8), "StaticValue"},
		"Object.Value(static)":     {dog.Value(k.static), ""},
		"thread.StaticValue":       {k.thread.StaticValue().Value, "ThreadStatic"},
		"thread.StaticValue raw":   {k.thread.StaticValue().Stored, ""},
		"thread.At":                {k.thread.At(dog.Addr + 8), "ThreadStatic"},
		"thread.ThreadStatic(nil)": {k.thread.ThreadStatic(nil).Value, "thread"},
		"Struct.Value(thread)":     {in.Value(k.thread), ""},
		"Object.Value(other type)": {node.Value(k.instance), "belongs to type"},
		"Struct.Value(other type)": {in.Value(k.instance), "belongs to type"},
		"Object.Value(struct's)":   {dog.Value(k.inStruct), "belongs to type"},
		"Object.Value(nil)":        {dog.Value(nil), "no field"},
		"Struct.Value(nil)":        {in.Value(nil), "no field"},
		"nil.StaticValue":          {(*objects.Field)(nil).StaticValue().Value, "no field"},
		"nil.ThreadStatic":         {(*objects.Field)(nil).ThreadStatic(thread).Value, "no field"},
		"nil.At":                   {(*objects.Field)(nil).At(dog.Addr), "no field"},
		"zero.StaticValue":         {new(objects.Field).StaticValue().Value, "no field"},
	} {
		if name == "instance.StaticValue raw" || name == "thread.StaticValue raw" {
			assert.NotEqual(t, objects.KindInt, c.v.Kind(), name)
			continue
		}
		assert.Equal(t, objects.KindUnknown, c.v.Kind(), name)
		assert.ErrorIs(t, c.v.Err(), target.ErrArgument, name)
		assert.ErrorContains(t, c.v.Err(), c.says, name)
		_, err := c.v.Int()
		assert.ErrorIs(t, err, target.ErrArgument, name)
	}
	other, err := testdump.Open(t, "net8-zoo").Objects()
	require.NoError(t, err)
	assert.ErrorIs(t, dog.Value(aFieldOfEachKind(t, other).instance).Err(), target.ErrArgument, "a field of another dump")
	runtimeFields(t, r.Runtime(), k, thread)
}

// runtimeFields does the same with package dac's fields.
func runtimeFields(t *testing.T, rt *dac.Runtime, k fieldKinds, thread *dac.Thread) {
	for name, f := range map[string]*objects.Field{"instance": k.instance, "thread": k.thread} {
		_, err := rt.StaticField(f.Declaring.MT, &f.FieldDesc)
		assert.ErrorIs(t, err, target.ErrArgument, name)
	}
	for name, f := range map[string]*objects.Field{"instance": k.instance, "static": k.static} {
		_, err := rt.ThreadStaticField(f.Declaring.MT, &f.FieldDesc, thread)
		assert.ErrorIs(t, err, target.ErrArgument, name)
	}
	_, err := rt.StaticField(k.instance.Declaring.MT, &k.static.FieldDesc)
	assert.ErrorIs(t, err, target.ErrArgument, "another type's")
	_, err = rt.ThreadStaticField(k.instance.Declaring.MT, &k.thread.FieldDesc, thread)
	assert.ErrorIs(t, err, target.ErrArgument, "another type's")
	_, err = rt.StaticField(nil, &k.static.FieldDesc)
	assert.ErrorIs(t, err, target.ErrArgument)
	_, err = rt.StaticField(k.static.Declaring.MT, nil)
	assert.ErrorIs(t, err, target.ErrArgument)
}

// anObject returns the first object of a type.
func anObject(t *testing.T, d *testdump.Dump, r *objects.Reader, class string) objects.Object {
	typ, err := r.Named(class, "")
	require.NoError(t, err)
	h, err := d.Heap()
	require.NoError(t, err)
	for ho, err := range h.Walk(t.Context(), &heap.Filter{Type: heap.TypeIs(typ.MT.Addr)}) {
		require.NoError(t, err)
		o, err := r.Of(ho)
		require.NoError(t, err)
		return o
	}
	require.Fail(t, "no object", class)
	return objects.Object{}
}

// TestValuesOfOtherKinds asks values of each kind for what only other kinds have.
func TestValuesOfOtherKinds(t *testing.T) {
	zoo(t, "root.Primitives", func(t *testing.T, o objects.Object) {
		kinds := map[objects.Kind]objects.Value{objects.KindBool: o.Field("True"), objects.KindInt: o.Field("Flags"), objects.KindUint: o.Field("Byte"),
			objects.KindFloat: o.Field("Double"), objects.KindReference: o.Field("String"), objects.KindStruct: o.Field("Decimal"), objects.KindChar: o.Field("Char")}
		numbers := []objects.Kind{objects.KindInt, objects.KindUint}
		for name, m := range map[string]struct {
			ask   func(v objects.Value) error
			reads []objects.Kind
		}{
			"Bool":     {func(v objects.Value) error { _, err := v.Bool(); return err }, []objects.Kind{objects.KindBool}},
			"Char":     {func(v objects.Value) error { _, err := v.Char(); return err }, []objects.Kind{objects.KindChar}},
			"Int":      {func(v objects.Value) error { _, err := v.Int(); return err }, numbers},
			"Uint":     {func(v objects.Value) error { _, err := v.Uint(); return err }, numbers},
			"Float":    {func(v objects.Value) error { _, err := v.Float(); return err }, []objects.Kind{objects.KindFloat}},
			"Addr":     {func(v objects.Value) error { _, err := v.Addr(); return err }, []objects.Kind{objects.KindReference}},
			"Object":   {func(v objects.Value) error { _, err := v.Object(); return err }, []objects.Kind{objects.KindReference}},
			"Text":     {func(v objects.Value) error { _, err := v.Text(-1); return err }, []objects.Kind{objects.KindReference}},
			"Struct":   {func(v objects.Value) error { _, err := v.Struct(); return err }, []objects.Kind{objects.KindStruct}},
			"Decimal":  {func(v objects.Value) error { _, err := v.Decimal(); return err }, []objects.Kind{objects.KindStruct}},
			"Nullable": {func(v objects.Value) error { _, _, err := v.Nullable(); return err }, nil},
			"Time":     {func(v objects.Value) error { _, err := v.Time(); return err }, nil},
			"Duration": {func(v objects.Value) error { _, err := v.Duration(); return err }, nil},
			"GUID":     {func(v objects.Value) error { _, err := v.GUID(); return err }, nil},
			"Slice":    {func(v objects.Value) error { _, err := v.Slice(); return err }, nil},
			"Enum":     {func(v objects.Value) error { _, err := v.Enum(); return err }, []objects.Kind{objects.KindInt}},
		} {
			for kind, v := range kinds {
				require.Equal(t, kind, v.Kind())
				reads := false
				for _, k := range m.reads {
					reads = reads || k == kind
				}
				err := m.ask(v)
				if reads {
					assert.NoError(t, err, "%s of %v", name, kind)
				} else {
					assert.ErrorIs(t, err, target.ErrArgument, "%s of %v", name, kind)
				}
			}
			err := m.ask(objects.Value{})
			assert.ErrorIs(t, err, target.ErrArgument, "%s of the zero Value", name)
		}
		_, err := o.Field("Null").Text(-1)
		assert.ErrorIs(t, err, target.ErrNull)
		_, err = o.Type.StaticField("Int")
		assert.ErrorIs(t, err, target.ErrNoSuch, "an instance field")
		_, err = o.Type.InstanceField("int")
		assert.ErrorIs(t, err, target.ErrNoSuch, "case matters")
	})
}

// TestWrongAddresses: an address that is not an object's or a type's is the caller's error, and one in memory that the
// walk of the heap knows to be damaged is not.
func TestWrongAddresses(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	dog := anObject(t, d, r, "Debuggee.Zoo.Dog")
	for name, ask := range map[string]func(a target.Addr) error{
		"Object": func(a target.Addr) error { _, err := r.Object(a); return err },
		"Proven": func(a target.Addr) error { _, err := r.Proven(a); return err },
		"Type":   func(a target.Addr) error { _, err := r.Type(a); return err },
		"Struct": func(a target.Addr) error { _, err := r.Struct(a, dog.Addr); return err },
	} {
		for _, a := range []target.Addr{0, 3, 0x1234, dog.Addr + 8, ^target.Addr(0)} {
			err := ask(a)
			assert.ErrorIs(t, err, target.ErrArgument, "%s of %#x", name, uint64(a))
			assert.NotErrorIs(t, err, target.ErrCorrupt, "%s of %#x", name, uint64(a))
			assert.ErrorAs(t, err, new(*target.AddressError), "%s of %#x", name, uint64(a))
		}
	}
	patched, over := openPatched(t, "net10-zoo")
	over.Set(testdump.Damage{At: dog.Addr, Bytes: []byte{8, 0, 0, 0, 0, 0, 0, 0}})
	_, err = patched.Proven(dog.Addr)
	assert.ErrorIs(t, err, target.ErrCorrupt, "the object's header is damaged")
	assert.NotErrorIs(t, err, target.ErrArgument)
	_, err = patched.Proven(dog.Addr + 8)
	assert.Error(t, err)
}
