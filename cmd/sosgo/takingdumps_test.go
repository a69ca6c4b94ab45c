package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// columns maps the kind of a dump in the corpus to its column of the table.
var columns = map[string]int{"normal": 2, "triage": 3, "withheap": 4, "full": 5}

// TestKindsOfDumps compares the table in docs/taking-dumps.md with what dumps of each kind answer: with exit code 0 and
// no warning "yes", with a warning "in part", and "no" if what is asked for is not in the dump.
func TestKindsOfDumps(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "taking-dumps.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "<!-- kinds -->\n")
	require.True(t, found)
	table, _, found := strings.Cut(after, "<!-- /kinds -->")
	require.True(t, found)
	rows := strings.Split(strings.TrimSpace(table), "\n")
	require.Greater(t, len(rows), 8)
	testcase.Corpus(t, testcase.Named("net8-zoo-*", "net9-zoo-*", "net10-zoo-normal", "net10-zoo-triage", "net10-zoo-withheap", "net10-stacks-full"), func(t *testing.T, c *testcase.Case) int {
		testcase.NeedModules(t, c)
		column, known := columns[c.Manifest.Kind]
		require.True(t, known, c.Manifest.Kind)
		for _, row := range rows {
			cells := strings.Split(strings.Trim(row, "| "), " | ")
			require.Len(t, cells, 6, row)
			words := append([]string{"-d", c.Path, "--offline"}, strings.Fields(strings.Trim(cells[1], "`"))...)
			_, stderr, code := run(t, words...)
			got := map[bool]string{true: "yes", false: "no"}[slices.Contains([]int{cli.ExitOK, cli.ExitGate}, code)]
			if got == "yes" && strings.Contains(stderr, "warning: ") {
				got = "in part"
			}
			assert.Equal(t, cells[column], got, "%s of %s: exit code %d, %s", cells[1], c.Name, code, stderr)
		}
		return len(rows)
	})
}
