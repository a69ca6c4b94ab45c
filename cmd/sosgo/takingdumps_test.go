package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
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

// TestAdviceFitsKind checks the advice of triage, doctor and of errors without module files: a dump of kind heap or full
// is not advised to be one, a smaller one is, and JSON advises what text does.
func TestAdviceFitsKind(t *testing.T) {
	const larger = "a dump of kind heap or full"
	testcase.Corpus(t, testcase.Named("net31-zoo-*", "net8-stacks-*", "net10-zoo-normal", "net10-zoo-triage", "net10-zoo-withheap", "win-net10-zoo-*", "sxs-full"), func(t *testing.T, c *testcase.Case) int {
		small := c.Manifest.Kind == "normal" || c.Manifest.Kind == "triage"
		ask := func(words ...string) (stdout, stderr string) {
			stdout, stderr, _ = run(t, append([]string{"-d", c.Plain(), "--offline"}, words...)...)
			return stdout, stderr
		}
		doc, _ := ask("--json", "triage")
		var told struct {
			Result struct{ Unknown []struct{ Settles string } }
			Error  struct{ Advice string }
		}
		require.NoError(t, json.Unmarshal([]byte(doc), &told))
		var settles []string
		for _, u := range told.Result.Unknown {
			settles = append(settles, u.Settles)
		}
		text, stderr := ask("triage")
		lines := 0
		for line := range strings.Lines(text) {
			if advice, found := strings.CutPrefix(line, "What would help: "); found {
				lines++
				assert.Contains(t, settles, strings.TrimSpace(advice))
			}
		}
		assert.NotContains(t, stderr, "\n  ", "the answer has the advice")
		doc, _ = ask("--json", "doctor")
		for _, d := range []string{strings.Join(settles, "\n") + told.Error.Advice, doc} {
			if small {
				assert.Contains(t, d, larger)
			} else {
				assert.NotContains(t, d, larger)
			}
		}

		doc, _ = ask("--json", "dq", "10000000")
		require.NoError(t, json.Unmarshal([]byte(doc), &told))
		_, stderr = ask("dq", "10000000")
		require.NotEmpty(t, told.Error.Advice)
		assert.Contains(t, stderr, "\n  "+told.Error.Advice+"\n")
		return lines + 1
	})
}

// TestWarningsNameTheLoss checks that a warning names what is missing of the answer, and not only an address.
func TestWarningsNameTheLoss(t *testing.T) {
	testcase.Corpus(t, testcase.Named("net8-zoo-normal", "net8-stacks-triage", "net10-crash-null-triage", "net10-zoo-triage", "net31-zoo-withheap", "win-net10-zoo-triage"), func(t *testing.T, c *testcase.Case) int {
		warnings := 0
		for _, line := range []string{"modules", "finalizequeue", "clrthreads", "clrstack -all -a", "dumpheap -stat", "waits", "gchandles", "threadpool", "timerinfo", "crashinfo"} {
			doc, _, _ := run(t, append([]string{"-d", c.Plain(), "--offline", "--json"}, strings.Fields(line)...)...)
			var told struct{ Warnings []struct{ Text string } }
			require.NoError(t, json.Unmarshal([]byte(doc), &told), line)
			for _, w := range told.Warnings {
				warnings++
				assert.NotRegexp(t, `^([0-9]+ bytes|0x|[0-9a-f]{16}\b)`, w.Text, line)
			}
		}
		assert.NotZero(t, warnings)
		return warnings
	})
}

// TestStacksNeedAFile checks that a stack which ends in an image without unwind data names the file that has them, that
// doctor lists the file, and that the stack is whole with the files that doctor lists.
func TestStacksNeedAFile(t *testing.T) {
	testcase.Corpus(t, testcase.Named("win-net6-heap-withheap"), func(t *testing.T, c *testcase.Case) int {
		const ends = "no unwind data for the code at"
		ask := func(line string, options ...string) string {
			out, errs, _ := run(t, slices.Concat([]string{"-d", c.Plain(), "--offline"}, options, strings.Fields(line))...)
			return out + errs
		}
		testcase.NeedModules(t, c)
		triage := ask("triage")
		require.Contains(t, triage, ends)
		assert.Contains(t, triage, "the unwind data of coreclr.dll are not in the dump")
		assert.Contains(t, triage, "What would help: stacks go on with coreclr.dll of the process: --modules DIR")
		assert.NotContains(t, triage, `"sosgo doctor" describes the dump`)
		doctor := ask("doctor")
		_, missing, _ := strings.Cut(doctor, "Missing files")
		assert.Contains(t, missing, "coreclr.dll: key")
		dir := t.TempDir()
		for _, name := range regexp.MustCompile(`(?m)^ +(\S+\.dll): key`).FindAllStringSubmatch(missing, -1) {
			b, err := os.ReadFile(filepath.Join(c.Modules, name[1]))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name[1]), b, 0o600))
		}
		whole := ask("triage", "--modules", dir)
		assert.NotContains(t, whole, ends)
		return 1
	})
}
