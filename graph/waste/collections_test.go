package waste_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph/waste"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestCollectionOf checks which types are collections.
func TestCollectionOf(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	for name, want := range map[string]int{"System.Text.StringBuilder": 1, "System.Collections.Hashtable": 1, "System.Collections.ArrayList": 1, "System.Exception": -1} {
		found := false
		for typ, err := range r.TypeByName(name, "") {
			require.NoError(t, err)
			found = true
			arrays, count, ok, err := waste.CollectionOf(r, typ)
			require.NoError(t, err, name)
			if want < 0 {
				assert.False(t, ok, name)
				continue
			}
			require.True(t, ok, name)
			assert.Equal(t, want, arrays, name)
			assert.NotZero(t, count, name)
		}
		assert.True(t, found, name)
	}
}

// TestMarks checks that only marked addresses are in the set.
func TestMarks(t *testing.T) {
	set, has := waste.NewMarks()
	for _, a := range []target.Addr{0x10000, 0x10008, 0x7fff00000000, 0x7fff003ffff8} {
		set(a)
	}
	for a, want := range map[target.Addr]bool{0x10000: true, 0x10008: true, 0x10010: false, 0x7fff00000000: true, 0x7fff003ffff8: true, 0x7fff00400000: false, 0x999999999998: false} {
		assert.Equal(t, want, has(a), a)
	}
}
