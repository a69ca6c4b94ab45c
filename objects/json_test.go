package objects_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestJSONText: a JsonArray that was never read has the text of its element of the document. An invalid index is an
// error.
func TestJSONText(t *testing.T) {
	d, overlay := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	r := objects.NewCollections(b)
	array := theOnly(t, v, "System.Text.Json.Nodes.JsonArray")
	text := func() (string, error) {
		c, err := r.Of(array)
		require.NoError(t, err)
		s, ok, err := c.Text()
		require.True(t, ok)
		return s, err
	}
	s, err := text()
	require.NoError(t, err)
	assert.Equal(t, "[1,22]", s)

	element, err := array.Field("_jsonElement").Struct()
	require.NoError(t, err)
	value, err := element.Field("value").Struct()
	require.NoError(t, err)
	index := value.Field("_idx").Location()
	for row, want := range map[uint64]error{0: nil, 12: target.ErrCorrupt, 60: target.ErrCorrupt, 36: nil, 25: target.ErrCorrupt, 12 * 1000: target.ErrCorrupt, 1 << 31: target.ErrCorrupt} {
		overlay.Set(testdump.Words(index, row))
		s, err := text()
		assert.ErrorIs(t, err, want, "row at %d", row)
		switch row {
		case 0:
			assert.Equal(t, `{"a":[1,22],"b":"x"}`, s)
		case 36:
			assert.Equal(t, "1", s, "a number")
		}
	}
}

// TestJSONProperties: a JsonObject of .NET 6 to 8 has its properties in order, in a list of pairs.
func TestJSONProperties(t *testing.T) {
	d, _ := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	b, err := v.Shapes()
	require.NoError(t, err)
	c, err := objects.NewCollections(b).Of(theOnly(t, v, "System.Text.Json.Nodes.JsonObject"))
	require.NoError(t, err)
	assert.True(t, c.HasKeys)
	var got []string
	for i, err := range c.Items() {
		require.NoError(t, err)
		got = append(got, i.Key.Plain(40)+": "+i.Value.Plain(40))
	}
	assert.Equal(t, []string{`"a": "x"`, `"b": null`}, got)
}

// TestJSONDocument: two real documents of a web server, with rows that are not in the canned dump.
func TestJSONDocument(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		b, err := v.Shapes()
		require.NoError(t, err)
		texts := []string{`{"name":"json","items":[1,2.5,true,null,"x"],"nested":{"deep":"er"}}`, `{"a":1,"b":[true,"two"]}`}
		found := allOf(t, v, "System.Text.Json.JsonDocument")
		require.Len(t, found, len(texts))
		for i, o := range found {
			c, err := objects.NewCollections(b).Of(o)
			if d.Canned && errors.Is(err, target.ErrNotInDump) {
				continue
			}
			require.NoError(t, err)
			s, ok, err := c.Text()
			require.True(t, ok)
			require.NoError(t, err)
			assert.Equal(t, texts[i], s)
		}
		return len(texts)
	})
}

// theOnly returns the only object of a type.
func theOnly(t *testing.T, v *sosgo.View, name string) objects.Object {
	t.Helper()
	found := allOf(t, v, name)
	require.Len(t, found, 1)
	return found[0]
}

// allOf returns the objects of a type.
func allOf(t *testing.T, v *sosgo.View, name string) []objects.Object {
	t.Helper()
	h, err := v.Heap()
	require.NoError(t, err)
	reader, err := v.Objects()
	require.NoError(t, err)
	var found []objects.Object
	for o, err := range h.Objects() {
		require.NoError(t, err)
		at, err := reader.Of(o)
		require.NoError(t, err)
		if n, err := at.Type.ManagedName(); err == nil && n == name && !o.Free {
			found = append(found, at)
		}
	}
	return found
}
