package waste

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestDefinition: arguments are left out, and what is nested in a collection is none.
func TestDefinition(t *testing.T) {
	for name, want := range map[string]string{
		"System.Collections.Generic.List<System.Collections.Generic.List<System.Int32>>": "System.Collections.Generic.List",
		"System.Collections.Generic.List<System.Int32>+Enumerator":                       "",
		"System.Text.StringBuilder": "System.Text.StringBuilder",
		"A<B>+C<D>":                 "",
	} {
		assert.Equal(t, want, definition(name), name)
	}
}

// TestUnknownFields: a collection whose fields have other names is unknown, and not guessed at.
func TestUnknownFields(t *testing.T) {
	r, err := testdump.Open(t, "net10-zoo").Objects()
	require.NoError(t, err)
	var typ *objects.Type
	for found, err := range r.TypeByName("System.Text.StringBuilder", "") {
		require.NoError(t, err)
		typ = found
	}
	require.NotNil(t, typ)
	c, err := bindAny(typ, "A", []shape{{arrays: "m_ChunkChars", count: "m_ChunkLength"}})
	require.NoError(t, err)
	assert.Len(t, c.arrays, 1)
	for _, s := range []shape{{arrays: "_items", count: "m_ChunkLength"}, {arrays: "m_ChunkChars", count: "_size"}, {arrays: "m_ChunkLength", count: "m_ChunkChars"}} {
		_, err = bindAny(typ, "A", []shape{s})
		assert.ErrorIs(t, err, target.ErrUnsupported)
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
