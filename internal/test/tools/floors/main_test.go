package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCoverage(t *testing.T) {
	dir := t.TempDir()
	profile := filepath.Join(dir, "cover")
	require.NoError(t, os.WriteFile(profile, []byte("mode: set\n"+
		"github.com/sosgo/sosgo/heap/a.go:1.1,2.2 2 0\n"+
		"github.com/sosgo/sosgo/heap/a.go:3.1,4.2 1 0\n"+
		"github.com/sosgo/sosgo/heap/a.go:1.1,2.2 2 1\n"+ // of another test binary
		"github.com/sosgo/sosgo/a.go:1.1,2.2 2 1\n"), 0o644))
	floors := filepath.Join(dir, "coverage")
	low, err := check(floors, true, profile)
	require.NoError(t, err)
	require.False(t, low)
	text, err := os.ReadFile(floors)
	require.NoError(t, err)
	require.Contains(t, string(text), "\ncoverage . 97.00\ncoverage heap 63.00\n")
}
