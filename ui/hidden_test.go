package ui_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// TestHidden keeps the list of hidden characters with which the page's own tests compare what the page escapes equal to what text and JSON
// escape: pairs of the first and the last of a run.
func TestHidden(t *testing.T) {
	const file = "test/hidden.json"
	var runs [][2]rune
	for r := rune(0x80); r <= 0x10ffff; r++ {
		switch n := len(runs); {
		case !jsonenc.Hidden(r):
		case n > 0 && runs[n-1][1] == r-1:
			runs[n-1][1] = r
		default:
			runs = append(runs, [2]rune{r, r})
		}
	}
	want, err := json.Marshal(runs)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(file, append(want, '\n'), 0o644))
		return
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got), "run: go test ./ui -run TestHidden -update")
}
