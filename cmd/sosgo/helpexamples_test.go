package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestExamplesWithAddresses runs the examples of help that name an address. They are of net10-zoo, so that a reader can
// try them.
func TestExamplesWithAddresses(t *testing.T) {
	dump := testdump.Open(t, "net10-zoo").Path
	out, errs, code := run(t, "-json", "help")
	require.Zero(t, code, errs)
	var help struct {
		Result []struct {
			Name     string
			Examples []struct{ Line string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &help))
	address := regexp.MustCompile(`\b(0x)?[0-9a-f]{11,16}\b`)
	commands := map[string]bool{}
	for _, c := range help.Result {
		for _, e := range c.Examples {
			if !address.MatchString(e.Line) {
				continue
			}
			commands[c.Name] = true
			words := append([]string{"-d", dump, "--offline"}, shellWords(e.Line)...)
			dir := t.TempDir()
			if i := slices.Index(words, "-out") + 1; i > 0 {
				words[i] = filepath.Join(dir, words[i])
			}
			out, errs, code := run(t, words...)
			assert.Zero(t, code, "%s: %s", e.Line, errs)
			assert.Empty(t, errs, e.Line)
			files, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.True(t, out != "" || len(files) > 0, "%s writes nothing", e.Line)
		}
	}
	assert.GreaterOrEqual(t, len(commands), 20, "%v", commands)
}
