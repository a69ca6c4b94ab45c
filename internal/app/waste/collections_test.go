package waste_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/waste/internal/marks"
	"github.com/sosgo/sosgo/internal/app/waste/internal/stores"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestCollectionOf checks which types are collections.
func TestCollectionOf(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, err := d.Objects()
	require.NoError(t, err)
	known := objects.NewCollections(objects.NewBinder(r, nil))
	for name, want := range map[string]int{"System.Text.StringBuilder": 1, "System.Collections.Hashtable": 1, "System.Collections.ArrayList": 1, "System.Exception": -1} {
		found := false
		for typ, err := range r.TypeByName(name, "") {
			require.NoError(t, err)
			found = true
			c, err := stores.Of(known, typ)
			require.NoError(t, err, name)
			if want < 0 {
				assert.Nil(t, c, name)
				continue
			}
			require.NotNil(t, c, name)
			assert.Len(t, c.Arrays, want, name)
			assert.NotZero(t, c.Count, name)
		}
		assert.True(t, found, name)
	}
}

// TestMarks checks that only marked addresses are in the set.
func TestMarks(t *testing.T) {
	m := marks.New()
	set, has := m.Marker(), m.Marker()
	for _, a := range []target.Addr{0x10000, 0x10008, 0x7fff00000000, 0x7fff003ffff8} {
		set.Set(a)
	}
	for a, want := range map[target.Addr]bool{0x10000: true, 0x10008: true, 0x10010: false, 0x7fff00000000: true, 0x7fff003ffff8: true, 0x7fff00400000: false, 0x999999999998: false} {
		assert.Equal(t, want, has.Has(a), a)
	}
}
