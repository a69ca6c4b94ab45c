package commands_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestUnprovedHolders checks that an object held only by unverified roots counts as possibly live in text and JSON.
// SOS's form prints such roots unmarked, so a line on stderr reports them.
func TestUnprovedHolders(t *testing.T) {
	d := testdump.Open(t, "win-net10-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	var guess, exact target.Addr
	for root, err := range v.Roots(t.Context()) {
		if err != nil || guess != 0 && exact != 0 {
			continue
		}
		paths, err := memory.GCRoot(t.Context(), v.Process, root.Object, graph.HoldOptions{All: true})
		if err != nil {
			continue // the root refers to no object
		}
		unproved := 0
		for i := range paths.Paths {
			if paths.Paths[i].Root.Conservative {
				unproved++
			}
		}
		switch unproved {
		case len(paths.Paths):
			guess = root.Object
		case 0:
			exact = root.Object
		}
	}
	require.NotZero(t, guess)
	require.NotZero(t, exact)
	strength := func(o target.Addr) string {
		code, text, stderr := sosgo(t, d, "--json", "eval", fmt.Sprintf("live(%#x)", uint64(o)))
		require.Zero(t, code, stderr)
		var said struct {
			Result struct{ Values []struct{ Strength string } }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &said))
		return said.Result.Values[0].Strength
	}
	assert.Equal(t, "possible", strength(guess))
	assert.Empty(t, strength(exact))
	_, text, _ := sosgo(t, d, "eval", fmt.Sprintf("live(%#x)", uint64(guess)))
	assert.Equal(t, "true  (possible: only words that look like references hold the object)\n", text)

	for o, marked := range map[target.Addr]bool{guess: true, exact: false} {
		code, text, stderr := sosgo(t, d, "query", fmt.Sprintf("from objects | where address == %#x | select live", uint64(o)))
		assert.Zero(t, code, stderr)
		assert.Contains(t, text, "true")
		assert.Equal(t, marked, strings.Contains(text, "1 row (possible: "), text)
	}

	_, text, stderr := sosgo(t, d, "--sos", "gcroot", fmt.Sprintf("%x", uint64(guess)))
	assert.Contains(t, stderr, "roots are unverified: words that only look like references")
	assert.NotContains(t, text, "unverified")
	_, _, stderr = sosgo(t, d, "--sos", "gcroot", fmt.Sprintf("%x", uint64(exact)))
	assert.NotContains(t, stderr, "unverified")
}
