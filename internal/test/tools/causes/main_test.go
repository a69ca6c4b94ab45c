package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable: each row of the table names a paragraph of the document.
func TestTable(t *testing.T) {
	doc, err := os.ReadFile("../../../../docs/differences.md")
	require.NoError(t, err)
	rules, err := parse(table, string(doc))
	require.NoError(t, err)
	assert.NotEmpty(t, rules)
	for _, bad := range []string{"registers | .", "( | . | `registers`", "registers | ( | `registers`", "registers | . | nobody wrote this"} {
		_, err := parse(bad, string(doc))
		assert.Error(t, err, bad)
	}
}

// TestRun: a line that no row fits is named.
func TestRun(t *testing.T) {
	results := filepath.Join(t.TempDir(), "sosdiff.json")
	require.NoError(t, os.WriteFile(results, []byte(`[
		{"file": "/corpus/one/sos/registers-00.txt", "commands": ["setthread 0", "Registers"], "diff": ["@@ -1 +1 @@", "-r8 = 0", "+r8 = 1", "-rax = 0"]},
		{"file": "/corpus/sxs-full/sos/clr1-registers-00.txt", "commands": ["registers"], "diff": ["-rax = 0"]},
		{"file": "/corpus/one/sos/other.txt", "commands": [], "diff": ["+x"]}]`), 0o600))
	var out strings.Builder
	unknown, err := run(&out, "../../../../docs/differences.md", results, 1)
	require.NoError(t, err)
	assert.Equal(t, 2, unknown)
	assert.Contains(t, out.String(), "one/registers-00.txt \"registers\": -rax = 0\n")
	assert.NotContains(t, out.String(), "other.txt", "one line is listed")
	assert.Contains(t, out.String(), "2 of 5 differing lines have no cause\n")
	_, err = run(&out, "../../../../docs/differences.md", results+"none", 1)
	assert.Error(t, err)
	_, err = run(&out, results, results, 1)
	assert.Error(t, err, "a document without the paragraphs")
}
