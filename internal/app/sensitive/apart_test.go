package sensitive_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/query"
)

// apart is the folder of a dump of Apart.cs: its secrets have their names in another field, or are arguments of command lines in collections.
const apart = "../../../testdata/dumps/secrets/net10-apart"

// TestApart: a secret is known by a name in another field of its object (Name and Value, of properties, bases and structs), and by the option before it in an
// array, a queue or a stack in either order. Names that are no settings stay with their values.
func TestApart(t *testing.T) {
	text, err := os.ReadFile(apart + "/facts.txt")
	if err != nil {
		t.Skip("no canned dump")
	}
	d, _ := testdump.OverlaidFile(t, apart+"/net10-apart.dmp.zst", sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	mask, err := sensitive.Mask(t.Context(), v.Process)
	require.NoError(t, err)
	counts := map[string]int{}
	short := map[string]string{} // beside their names
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		counts[word]++
		switch word {
		case "PLANT":
			kind, value, _ := strings.Cut(rest, " ")
			assert.Equal(t, "a <hidden> b", mask("a "+value+" b"), kind)
		case "STAY":
			assert.Equal(t, rest, mask(rest))
		case "BESIDE":
			name, value, _ := strings.Cut(rest, " ")
			short[value] = name
		}
	}
	assert.Equal(t, map[string]int{"PLANT": 11, "STAY": 8, "BESIDE": 5, "READY": 1}, counts)
	ctx := secrets.WithMask(t.Context(), mask)
	for _, line := range []string{
		"from Apart.Setting | select Name, Value",
		"from System.Collections.Generic.Stack<String> | select this[0], this[1], this[2], this[3], this[4], this[5]",
		"from System.Collections.Generic.Queue<String> | select this[0], this[1], this[2], this[3], this[4], this[5], this[6]",
	} {
		found, err := v.Query(ctx, line, query.Options{})
		require.NoError(t, err)
		hidden := 0
		for row, err := range found.Rows {
			require.NoError(t, err)
			for _, cell := range row.Cells {
				assert.Empty(t, short[cell.Text], line)
				if cell.Text == secrets.Mask {
					hidden++
				}
			}
		}
		assert.GreaterOrEqual(t, hidden, 2, line)
	}
}
