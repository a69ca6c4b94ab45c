package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestDescribeTypes describes the types that the program knew by their
// MethodTables, and by their EEClasses.
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
			if typ.FieldList != nil && typ.FieldsErr == nil {
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

// TestDescribeFreeType: the type of free space is none of a module, and what is
// no type is corrupt.
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
	require.ErrorIs(t, err, target.ErrCorrupt)
	_, err = r.DescribeClass(rt.WellKnown().Object+8, objects.TypeOptions{})
	require.Error(t, err)
}
