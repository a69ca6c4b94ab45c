package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFloors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	sos := write("sos.json", `[{"file": "x/case-a/sos/dso.txt", "want": 3, "same": 2}, {"file": "x/case-a/sos/pe.txt", "want": 3, "same": 2}]`)
	oracle := write("oracle.json", `[{"case": "case-a", "section": "types", "asked": 4, "right": 4}]`)
	floors := write("floors", "# comment\nsosdiff case-a 60.5\nsosdiff case-b 12.00\n")

	low, err := check(floors, true, []string{"sosdiff=" + sos, "oraclediff=" + oracle})
	require.NoError(t, err)
	require.False(t, low)
	text, err := os.ReadFile(floors)
	require.NoError(t, err)
	require.Contains(t, string(text), "\noraclediff case-a 100.00\nsosdiff case-a 66.66\nsosdiff case-b 12.00\n")

	worse := write("worse.json", `[{"file": "x/case-a/sos/dso.txt", "want": 10, "same": 6}]`)
	low, err = check(floors, true, []string{"sosdiff=" + worse})
	require.NoError(t, err)
	require.True(t, low)
	after, err := os.ReadFile(floors)
	require.NoError(t, err)
	require.Equal(t, string(text), string(after), "no floor falls")

	_, err = check(floors, false, []string{"sosdiff=" + filepath.Join(dir, "absent")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCoverage(t *testing.T) {
	dir := t.TempDir()
	profile := filepath.Join(dir, "cover")
	require.NoError(t, os.WriteFile(profile, []byte("mode: set\n"+
		"github.com/sosgo/sosgo/heap/a.go:1.1,2.2 2 0\n"+
		"github.com/sosgo/sosgo/heap/a.go:3.1,4.2 1 0\n"+
		"github.com/sosgo/sosgo/heap/a.go:1.1,2.2 2 1\n"+ // of another test binary
		"github.com/sosgo/sosgo/a.go:1.1,2.2 2 1\n"), 0o644))
	floors := filepath.Join(dir, "coverage")
	low, err := check(floors, true, []string{"coverage=" + profile})
	require.NoError(t, err)
	require.False(t, low)
	text, err := os.ReadFile(floors)
	require.NoError(t, err)
	require.Contains(t, string(text), "\ncoverage . 97.00\ncoverage heap 63.00\n")
}
