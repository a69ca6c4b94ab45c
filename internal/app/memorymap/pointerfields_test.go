package memorymap_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/memorymap"
	"github.com/sosgo/sosgo/target"
)

// TestArraysOfPointers checks that addresses in an array are said to be in its elements: no field has its type's name. The
// addresses are those that the program printed of the first blocks of three sizes, which it keeps in one list.
func TestArraysOfPointers(t *testing.T) {
	const path = "../../../testdata/dumps/native/net10-malloc/net10-malloc.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	v, err := d.View("")
	require.NoError(t, err)
	to := []target.Range{target.RangeAt(0x5566a1462cc0, 1016), target.RangeAt(0x5566a1516460, 5000), target.RangeAt(0x5566a1553680, 40000)}
	list, err := memorymap.PointerFields(t.Context(), v.Process, to)
	require.NoError(t, err)
	require.Len(t, list, 1)
	f := &list[0]
	assert.Equal(t, "System.IntPtr[]", f.Name)
	assert.Equal(t, uint64(3), f.Count)
	assert.Equal(t, 1, f.Arrays)
}

// TestArraysOfHandles checks the same of the handles in an array of GCHandle, the elements of the list Trial.Native.pins: GCHandle has one field, and its name
// says nothing.
func TestArraysOfHandles(t *testing.T) {
	const path = "../../../testdata/dumps/native/net10-malloc/net10-malloc.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	v, err := d.View("")
	require.NoError(t, err)
	list, err := memorymap.PointerFields(t.Context(), v.Process, []target.Range{target.RangeAt(0x7fd53afb1558, 8), target.RangeAt(0x7fd53afb1560, 8)})
	require.NoError(t, err)
	require.NotEmpty(t, list)
	f := &list[0]
	assert.Equal(t, "System.Runtime.InteropServices.GCHandle[]", f.Name)
	assert.Equal(t, uint64(2), f.Count)
	assert.Equal(t, 1, f.Arrays)
	assert.Equal(t, "Trial.Native.pins._items", f.Held)
}
