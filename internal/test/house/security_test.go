package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecurityTable checks that each door in SECURITY.md has tests, and that these exist.
func TestSecurityTable(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "## Doors and dangers\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	tests := map[string]bool{} // as folder.Test
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(b, -1) {
			tests[filepath.Base(filepath.Dir(path))+"."+string(m[1])] = true
		}
		return err
	}))
	named := regexp.MustCompile("`(\\w+\\.(?:Test|Fuzz)\\w+)`")
	doors := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| door") {
			continue
		}
		doors++
		names := named.FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, names, line)
		for _, n := range names {
			assert.True(t, tests[n[1]], "%s is not a test", n[1])
		}
	}
	assert.Equal(t, 12, doors)
}
