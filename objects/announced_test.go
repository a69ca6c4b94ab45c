package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/test/plants"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Objects of net10-kinds: two strings that stand beside each other in its command line, a key for a secret, a list of one string and its array, and the
// entries of a dictionary from strings to numbers.
const (
	optionString  = target.Addr(0x7f4a3d803b30) // "--pwd"
	secretString  = target.Addr(0x7f4a3d803b50) // "Lk8d"
	keyString     = target.Addr(0x7f5611403af0) // "Password"
	stringList    = target.Addr(0x7f4a3d80d7e0)
	stringArray   = target.Addr(0x7f4a3d80dab8)
	numberEntries = target.Addr(0x7f4a3d80e348)
)

// TestAnnouncedInList: a list with the words of a command line hides what an option announces, as an array does: in each page of it, also in one that
// begins with the secret, and in a search.
func TestAnnouncedInList(t *testing.T) {
	const elements, size = 16, 16 // offsets in an array of references, and in List<T>
	d, _ := testdump.OverlaidFile(t, plants.Read(t, "..", "net10-kinds").Dump, sosgo.Options{Offline: true},
		testdump.Words(stringArray+elements, uint64(optionString), uint64(secretString), uint64(keyString)),
		testdump.Damage{At: stringList + size, Bytes: []byte{3, 0, 0, 0}})
	v, err := d.View("")
	require.NoError(t, err)
	c, err := v.Collections()
	require.NoError(t, err)
	masked := secrets.WithMask(t.Context(), secrets.NewMasker().Text)
	texts := func(o objects.CollectionOptions) (list []string) {
		described, err := c.Describe(masked, stringList, o)
		require.NoError(t, err)
		for item, err := range described.Items.All() {
			require.NoError(t, err)
			list = append(list, item.Item.Plain())
		}
		return list
	}
	assert.Equal(t, []string{`"--pwd"`, `"<hidden>"`, `"Password"`}, texts(objects.CollectionOptions{}))
	assert.Equal(t, []string{`"<hidden>"`, `"Password"`}, texts(objects.CollectionOptions{Offset: 1}))
	assert.Equal(t, []string{`"Password"`}, texts(objects.CollectionOptions{Offset: 2}))
	assert.Empty(t, texts(objects.CollectionOptions{Find: "Lk8"}), "a search confirms no guess")
	masked = t.Context()
	assert.Equal(t, []string{`"--pwd"`, `"Lk8d"`, `"Password"`}, texts(objects.CollectionOptions{}))
	assert.Equal(t, []string{`"Lk8d"`}, texts(objects.CollectionOptions{Find: "Lk8"}))
}

// TestNumberBesideKey: the key in an entry of a dictionary names a value that is a number, too.
func TestNumberBesideKey(t *testing.T) {
	const entries, value = 16, 16 // offsets in the array, and in an entry
	d, _ := testdump.OverlaidFile(t, plants.Read(t, "..", "net10-kinds").Dump, sosgo.Options{Offline: true},
		testdump.Words(numberEntries+entries, uint64(keyString)), testdump.Damage{At: numberEntries + entries + value, Bytes: []byte{0x59, 0xbc, 0, 0}})
	v, err := d.View("")
	require.NoError(t, err)
	first := func(masked bool) string {
		ctx := t.Context()
		if masked {
			ctx = secrets.WithMask(ctx, secrets.NewMasker().Text)
		}
		a, err := v.Array(ctx, numberEntries, objects.ArrayOptions{})
		require.NoError(t, err)
		for e, err := range a.Elements {
			require.NoError(t, err)
			return e.Stored.Plain()
		}
		return ""
	}
	assert.Contains(t, first(false), `key="Password", value=48217`)
	assert.Contains(t, first(true), `key="Password", value=<hidden>`)
}
