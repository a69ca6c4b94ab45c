package query_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/test/plants"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// TestAnnounced: a value is hidden if something on the path to it announces a secret: a field's name, a key of a dictionary, or the option before it.
// Comparisons have no more than the answer has. The masks here know no values. Kinds.cs has the fields; the dictionary's key and value are set.
func TestAnnounced(t *testing.T) {
	const (
		optionString, secretString, keyString = 0x7f4a3d803b30, 0x7f4a3d803b50, 0x7f5611403af0 // "--pwd", "Lk8d", "Password"
		stringList, stringArray               = target.Addr(0x7f4a3d80d7e0), target.Addr(0x7f4a3d80dab8)
		numberEntries                         = target.Addr(0x7f4a3d80e348) // of a Dictionary<string, int>
		elements, size, value                 = 16, 16, 16                  // offsets in an array, in List<T>, in an entry
	)
	d, _ := testdump.OverlaidFile(t, plants.Read(t, "..", "net10-kinds").Dump, sosgo.Options{Offline: true},
		testdump.Words(numberEntries+elements, keyString), testdump.Damage{At: numberEntries + elements + value, Bytes: []byte{0x59, 0xbc, 0, 0}},
		testdump.Words(stringArray+elements, optionString, secretString), testdump.Damage{At: stringList + size, Bytes: []byte{2, 0, 0, 0}})
	v, err := d.View("")
	require.NoError(t, err)
	answer := func(question string, masked bool) (out string) {
		ctx := t.Context()
		if masked {
			ctx = secrets.WithMask(ctx, secrets.NewMasker().Text)
		}
		found, err := v.Query(ctx, question, query.Options{})
		require.NoError(t, err, question)
		for row, err := range found.Rows {
			if err == nil {
				for i := range row.Cells {
					out += row.Cells[i].Plain() + " "
				}
			}
		}
		return out
	}
	const numbers, settings = "from objects of Dictionary<string, int> | ", "from objects of Kinds.Settings | "
	list := fmt.Sprintf("from objects of List<string> | where address == 0x%x | select ", uint64(stringList))
	for _, c := range []struct{ question, secret string }{
		{numbers + `select this["Password"]`, "48217"},
		{numbers + `select _entries[0].value`, "48217"},
		{numbers + `where this["Password"] == 48217 | select "found"`, "found"},
		{numbers + `where this["Password"] > 48216 | select "found"`, "found"},
		{settings + `select AccessTokens["Password"], AccessTokens._entries[0].value`, "48217"},
		{settings + `select max(AccessTokens._entries[0].value)`, "48217"},
		{settings + `where AccessTokens._entries[0].value in (1, 48217) | select "found"`, "found"},
		{settings + `where AccessTokens.Contains(48217) | select "found"`, "found"},
		{settings + `select Credentials[3]`, "txg94PNH"},
		{settings + `select Credentials._entries[0].value`, "txg94PNH"},
		{settings + `select refs(Credentials)[1][0].value`, "txg94PNH"},
		{settings + `where Credentials[3].StartsWith("txg94") | select "found"`, "found"},
		{list + `this[1]`, "Lk8d"},
		{list + `_items[1]`, "Lk8d"},
		{list + `this.Contains("Lk8d")`, "true"},
	} {
		plain := answer(c.question, false)
		if assert.Contains(t, plain, c.secret, c.question) {
			assert.NotContains(t, answer(c.question, true), c.secret, c.question)
		}
	}
	assert.Contains(t, answer(settings+"select AccessTokens.Count, PasswordLength", true), "1 7731", "numbers about secrets stay")
}
