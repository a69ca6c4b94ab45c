package waste

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestCollectionOf: where a type keeps how full it is; other types are none.
func TestCollectionOf(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	plans := newPlans(r)
	for name, want := range map[string]int{"System.Text.StringBuilder": 1, "System.Collections.Hashtable": 1, "System.Collections.ArrayList": 1, "System.Exception": -1} {
		found := false
		for typ, err := range r.TypeByName(name, "") {
			require.NoError(t, err)
			found = true
			c, err := collectionOf(plans.collections, typ)
			require.NoError(t, err, name)
			if want < 0 {
				assert.Nil(t, c, name)
				continue
			}
			require.NotNil(t, c, name)
			assert.Len(t, c.arrays, want, name)
			assert.NotZero(t, c.count, name)
		}
		assert.True(t, found, name)
	}
}

// TestMarks: what is set is there, and nothing else.
func TestMarks(t *testing.T) {
	m := newMarks()
	set, has := marker{m: m}, marker{m: m}
	for _, a := range []target.Addr{0x10000, 0x10008, 0x7fff00000000, 0x7fff003ffff8} {
		set.set(a)
	}
	for a, want := range map[target.Addr]bool{0x10000: true, 0x10008: true, 0x10010: false, 0x7fff00000000: true, 0x7fff003ffff8: true, 0x7fff00400000: false, 0x999999999998: false} {
		assert.Equal(t, want, has.has(a), a)
	}
}
