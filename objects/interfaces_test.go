package objects_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// typeNamed returns the only loaded type of that name.
func typeNamed(t *testing.T, r *objects.Reader, name string) *objects.Type {
	t.Helper()
	var found []*objects.Type
	for typ, err := range r.TypeByName(name, "System.Private.CoreLib") {
		require.NoError(t, err)
		found = append(found, typ)
	}
	require.Len(t, found, 1, name)
	return found[0]
}

// TestInterfacesOfMarkers: a definition in an interface map is resolved to the instance that the type implements.
func TestInterfacesOfMarkers(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	for typ, want := range map[string][]string{
		"System.Decimal": {"System.IEquatable<System.Decimal>", "System.Numerics.IAdditionOperators<System.Decimal, System.Decimal, System.Decimal>", "System.IConvertible"},
		"System.Int32":   {"System.IComparable<System.Int32>", "System.Numerics.IShiftOperators<System.Int32, System.Int32, System.Int32>"},
		// The definition does not show that it is of Byte.
		"System.Runtime.Intrinsics.Vector64<System.Byte>": {"System.Runtime.Intrinsics.ISimdVector<System.Runtime.Intrinsics.Vector64<System.Byte>, System.Byte>"},
		"System.Collections.Generic.IList<System.Char>":   {"System.Collections.Generic.ICollection<System.Char>", "System.Collections.Generic.IEnumerable<System.Char>"},
		"System.String": {"System.IComparable<System.String>"},
	} {
		list, err := typeNamed(t, r, typ).Interfaces()
		require.NoError(t, err)
		var names []string
		for i := range list {
			name, err := list[i].Name()
			require.NoError(t, err)
			names = append(names, name)
		}
		for _, w := range want {
			require.Contains(t, names, w, typ)
		}
	}
}

// TestInterfacesLeaveNoMarker: in any runtime, only an open type implements an open interface.
func TestInterfacesLeaveNoMarker(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net9-zoo", "net8-zoo", "win-net6-zoo", "net31-zoo"} {
		t.Run(name, func(t *testing.T) {
			r, err := testdump.Open(t, name).Objects()
			require.NoError(t, err)
			types, marked := 0, 0
			for mt, err := range r.Runtime().LoadedTypes() {
				if err != nil || mt.IsOpen() {
					continue
				}
				typ, err := r.Type(mt.Addr)
				if err != nil {
					continue
				}
				list, err := typ.Interfaces()
				if err != nil {
					continue // a slice does not have all parts of types
				}
				types++
				for i := range list {
					x := &list[i]
					if x.Type == x.Definition {
						require.False(t, x.Type.MT.IsOpen())
						continue
					}
					marked++
					params, err := x.Definition.Arguments()
					require.NoError(t, err)
					require.Len(t, x.Arguments, len(params))
					if x.Type != nil {
						require.False(t, x.Type.MT.IsOpen())
						args, err := x.Type.Arguments()
						require.NoError(t, err)
						require.Equal(t, x.Arguments, args)
					}
				}
			}
			t.Logf("%d types, %d markers resolved", types, marked)
			require.NotZero(t, types)
			require.NotZero(t, marked)
		})
	}
}

func TestAssignable(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"System.String", "System.Object", true},
		{"System.String", "System.String", true},
		{"System.Object", "System.String", false},
		{"System.String", "System.IComparable", true},
		{"System.Int32", "System.IEquatable`1", true},
		{"System.String", "System.Collections.Generic.IList`1", false},
		{"System.String[]", "System.Object[]", true},
		{"System.Object[]", "System.String[]", false},
		{"System.Int32[]", "System.Object[]", false},
		{"System.String[]", "System.Array", true},
		{"System.Int32", "System.ValueType", true},
	} {
		got, err := typeNamed(t, r, c.from).IsAssignableTo(typeNamed(t, r, c.to))
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%s to %s", c.from, c.to)
	}
}

func TestTypeByName(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	list := typeNamed(t, r, "System.Collections.Generic.List`1")
	require.True(t, list.MT.IsOpen())
	instance := typeNamed(t, r, "System.Collections.Generic.List<System.String>")
	require.Equal(t, list.MT.Token, instance.MT.Token)
	for range r.TypeByName("System.String", "Debuggee") {
		t.Error("another assembly")
	}
	for range r.TypeByName("System.string", "") {
		t.Error("names are exact")
	}
	var methods []string
	for m, err := range typeNamed(t, r, "System.Object").Methods() {
		require.NoError(t, err)
		name, err := dac.CodeOf(r.Runtime()).MethodName(m, dac.MethodFull)
		require.NoError(t, err)
		methods = append(methods, name)
	}
	require.True(t, slices.Contains(methods, "System.Object.ToString()"), methods)
	statics, err := typeNamed(t, r, "System.String").Statics()
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(statics, func(f *objects.Field) bool { return f.Name == "Empty" }))
}

// TestInterfacesWithoutMetadata: a marker of a fully loaded type stands for one instance, which needs no metadata. A
// marker of another type stands for a declaration in metadata, and is not guessed without metadata.
func TestInterfacesWithoutMetadata(t *testing.T) {
	const notLoaded = 0x40 // methodtable.h, enum_flag_IsNotFullyLoaded
	for _, name := range []string{"net10-zoo", "net8-zoo"} {
		sound, err := testdump.Open(t, name).Objects()
		require.NoError(t, err)
		typ := markedType(t, sound)
		want, err := typ.Interfaces()
		require.NoError(t, err)
		m, err := sound.Runtime().Module(typ.MT.Module)
		require.NoError(t, err)
		_, err = m.Metadata()
		require.NoError(t, err)
		metadata := m.MetadataSource().Addr
		require.NotZero(t, metadata, name)
		flags, err := target.Uint32(sound.Runtime().Memory(), typ.MT.Auxiliary)
		require.NoError(t, err)
		unloaded := binary.LittleEndian.AppendUint32(nil, flags|notLoaded)
		for _, tc := range []struct {
			patches map[target.Addr][]byte
			known   bool
		}{
			{map[target.Addr][]byte{metadata: make([]byte, 16)}, true},
			{map[target.Addr][]byte{typ.MT.Auxiliary: unloaded}, true},
			{map[target.Addr][]byte{metadata: make([]byte, 16), typ.MT.Auxiliary: unloaded}, false},
		} {
			r, err := testdump.Patched(t, name, tc.patches).Objects()
			require.NoError(t, err)
			typ, err := r.Type(typ.MT.Addr)
			require.NoError(t, err)
			got, err := typ.Interfaces()
			if !tc.known {
				require.Error(t, err, name)
				require.True(t, testdump.Typed(err), "%v", err)
				continue
			}
			require.NoError(t, err, name)
			require.Len(t, got, len(want), name)
			for i := range got {
				require.Equal(t, want[i].Definition.MT.Addr, got[i].Definition.MT.Addr, name)
				require.Equal(t, want[i].Arguments, got[i].Arguments, "%s: %d", name, i)
			}
		}
	}
}

// markedType returns a fully loaded type with a marker among its interfaces and a base class.
func markedType(t *testing.T, r *objects.Reader) *objects.Type {
	rt := r.Runtime()
	for mt, err := range rt.LoadedTypes() {
		if err != nil || mt.IsOpen() || mt.IsInterface() || mt.Parent == 0 {
			continue
		}
		if loaded, err := rt.IsFullyLoaded(mt); err != nil || !loaded {
			continue
		}
		addrs, err := rt.Interfaces(mt)
		if err != nil || !slices.ContainsFunc(addrs, func(a target.Addr) bool {
			i, err := rt.MethodTable(a)
			return err == nil && i.IsOpen()
		}) {
			continue
		}
		typ, err := r.Type(mt.Addr)
		if err != nil {
			continue
		}
		if _, err := typ.Interfaces(); err == nil {
			return typ
		}
	}
	require.Fail(t, "no type has a marker")
	return nil
}
