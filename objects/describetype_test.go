package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestDescribeTypes describes the types in the program's manifest by their MethodTables, and by their EEClasses.
func TestDescribeTypes(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		r, err := d.Objects()
		require.NoError(t, err)
		for _, fact := range d.Manifest.Types() {
			typ, err := r.DescribeType(fact.Addr, objects.TypeOptions{Methods: true, Fields: true})
			if err != nil {
				require.ErrorIs(t, err, target.ErrNotInDump)
				continue
			}
			assert.Equal(t, fact.Addr, typ.MethodTable)
			if typ.Methods == nil {
				assert.NotEmpty(t, typ.Noted())
				continue
			}
			if d.HasHeap() {
				assert.NotEmpty(t, typ.MethodList, "%s has at least what Object has", fact.Name)
			}
			if typ.Listed() && typ.FieldsErr == nil {
				assert.GreaterOrEqual(t, len(typ.Fields), *typ.InstanceFields)
			}
			class, err := r.DescribeClass(typ.EEClass.Value, objects.TypeOptions{})
			if err != nil {
				require.ErrorIs(t, err, target.ErrNotInDump)
				continue
			}
			assert.Equal(t, typ.Canonical, class.MethodTable)
			assert.Equal(t, typ.EEClass, class.EEClass)
		}
	})
}

// TestDescribeFreeType: the type of free space belongs to no module, and an address without a type is an error of the caller.
func TestDescribeFreeType(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	r, err := d.Objects()
	require.NoError(t, err)
	free, err := r.DescribeType(rt.WellKnown().Free, objects.TypeOptions{Methods: true, Fields: true})
	require.NoError(t, err)
	assert.True(t, free.Free)
	assert.Nil(t, free.MethodList)
	_, err = r.DescribeType(rt.WellKnown().Object+8, objects.TypeOptions{})
	require.ErrorIs(t, err, target.ErrArgument)
	_, err = r.DescribeClass(rt.WellKnown().Object+8, objects.TypeOptions{})
	require.Error(t, err)
	_, err = r.DescribeType(1, objects.TypeOptions{})
	require.ErrorIs(t, err, target.ErrArgument)
	require.ErrorContains(t, err, "0000000000000001 is not", "the address as it was given, with the bits of a TypeHandle")
}

// TestFieldTypesOfDeclarations: a field's declaration names its type if the type itself is not in the dump.
func TestFieldTypesOfDeclarations(t *testing.T) {
	d := testdump.OpenCase(t, "net31-zoo-normal")
	t.Attr("case", d.Name)
	r, err := d.Objects()
	require.NoError(t, err)
	declared := 0
	for found, err := range r.TypeByName("Debuggee.Zoo.Everything", "Debuggee") {
		require.NoError(t, err)
		described, err := r.DescribeType(found.MT.Addr, objects.TypeOptions{Fields: true})
		require.NoError(t, err)
		for _, f := range described.Fields {
			assert.NoError(t, f.Shared.Name.Err, f.Name)
			if mt := f.Shared.MethodTable.Value; mt != 0 {
				if _, err := r.Runtime().TypeName(mt, dac.NameNative); err != nil {
					declared++
				}
			}
		}
	}
	assert.NotZero(t, declared, "types that are not in the dump")
}
