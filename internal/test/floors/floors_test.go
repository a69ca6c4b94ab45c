package floors_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/floors"
)

func TestHold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "floors")
	require.NoError(t, os.WriteFile(file, []byte("# comment\nsos case-a 60.5\nsos case-b 12.00\n"), 0o644))
	low, err := floors.Hold(file, map[string]float64{"sos case-a": floors.Percent(4, 6), "oracle case-a": 100}, 0, true)
	require.NoError(t, err)
	require.False(t, low)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "\noracle case-a 100.00\nsos case-a 66.66\nsos case-b 12.00\n")

	low, err = floors.Hold(file, map[string]float64{"sos case-a": 60}, 0, true)
	require.NoError(t, err)
	require.True(t, low)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(text), string(after), "no floor falls")
}
