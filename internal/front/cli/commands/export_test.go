package commands_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/exportread"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// exportForms are the forms with a single file.
var exportForms = []string{"gcdump", "heapsnapshot", "pprof", "speedscope", "folded"}

// TestExport checks that each form writes and reports its file and never overwrites one.
func TestExport(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	for _, form := range exportForms {
		t.Run(form, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "out")
			code, text, stderr := sosgo(t, d, "--json", "export", form, file)
			require.Zero(t, code, stderr)
			var said struct {
				Result struct{ Form, Path, Of string }
			}
			require.NoError(t, json.Unmarshal([]byte(text), &said))
			assert.Equal(t, form, said.Result.Form)
			assert.Equal(t, file, said.Result.Path)
			first, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.NotEmpty(t, first)

			code, _, stderr = sosgo(t, d, "export", form, "-o", file)
			assert.NotZero(t, code)
			assert.Contains(t, stderr, "exist")
			other := filepath.Join(t.TempDir(), "other")
			code, text, stderr = sosgo(t, d, "-jobs", "1", "export", form, "-o", other)
			require.Zero(t, code, stderr)
			assert.Contains(t, text, form)
			again, err := os.ReadFile(other)
			require.NoError(t, err)
			assert.True(t, string(first) == string(again), "the same bytes for any number of workers")
		})
	}
}

// TestSnapshotID checks that commands accept the id of a heap snapshot's node for its object.
func TestSnapshotID(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	file := filepath.Join(t.TempDir(), "heap.heapsnapshot")
	code, _, stderr := sosgo(t, d, "export", "heapsnapshot", file)
	require.Zero(t, code, stderr)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var snapshot struct {
		Nodes   []int
		Strings []string
	}
	require.NoError(t, json.Unmarshal(raw, &snapshot))
	seen := map[int]bool{}
	for n := range slices.Chunk(snapshot.Nodes, 6) {
		name, id := snapshot.Strings[n[1]], n[2]
		if seen[n[1]] || n[3] == 0 || n[0] == 2 { // one object per type; a string's name is its text
			continue
		}
		seen[n[1]] = true
		code, text, stderr := sosgo(t, d, "--json", "dumpobj", fmt.Sprintf("@%d", id))
		require.Zero(t, code, stderr)
		var said struct {
			Result struct {
				Type string
				Size int
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &said))
		if !strings.Contains(name, "<") { // dumpobj writes generic types as SOS does
			require.Equal(t, name, said.Result.Type)
		}
		require.Equal(t, n[3], said.Result.Size)
	}
	assert.Greater(t, len(seen), 50)
	for _, none := range []string{"@1", "@4", "@18446744073709551615", fmt.Sprintf("@%d", snapshot.Nodes[8])} {
		code, _, stderr = sosgo(t, d, "dumpobj", none)
		assert.Equal(t, cli.ExitUsage, code)
		assert.Contains(t, stderr, "no object has the id "+none+" in a heap snapshot")
	}
}

// TestRules checks that a rules file gives a crash the same signature in triage, summarize and the tables, unlike the
// default rules.
func TestRules(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	rules := filepath.Join(t.TempDir(), "my.rules")
	require.NoError(t, os.WriteFile(rules, []byte("frames 1\nskip Debuggee.Crash.Scenario.Submit\n"), 0o600))
	type said struct {
		Result struct {
			answer.Identity
			Findings []struct {
				answer.Identity
				Kind answer.FindingKind
			}
		}
	}
	ask := func(args ...string) (out said) {
		_, text, stderr := sosgo(t, d, append([]string{"--json"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(text), &out), stderr)
		return out
	}
	crash := func(s said) answer.Identity {
		i := slices.IndexFunc(s.Result.Findings, func(f struct {
			answer.Identity
			Kind answer.FindingKind
		}) bool {
			return f.Kind == answer.FindingCrash
		})
		require.GreaterOrEqual(t, i, 0)
		return s.Result.Findings[i].Identity
	}
	all := map[string]bool{}
	for _, with := range [][]string{nil, {"--rules", rules}} {
		triage := crash(ask(append([]string{"triage", "-noheap"}, with...)...))
		summary := ask(append([]string{"summarize", "-noheap"}, with...)...)
		require.NotEmpty(t, triage.Signature)
		assert.Equal(t, summary.Result.Identity, triage)
		assert.Equal(t, crash(summary), triage)
		assert.Equal(t, with != nil, triage.SignatureRules != "")
		all[triage.Signature] = true

		dir := filepath.Join(t.TempDir(), "tables")
		code, _, stderr := sosgo(t, d, append([]string{"export", "ndjson", dir}, with...)...)
		require.Zero(t, code, stderr)
		for _, name := range []string{"dump.ndjson", "findings.ndjson"} {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Contains(t, string(raw), triage.Signature)
		}
	}
	assert.Len(t, all, 2)
	for _, bad := range []string{"no such rule\n", strings.Repeat("skip X\n", 20_000)} {
		require.NoError(t, os.WriteFile(rules, []byte(bad), 0o600))
		code, _, stderr := sosgo(t, d, "triage", "--rules", rules)
		assert.Equal(t, cli.ExitUsage, code)
		assert.Contains(t, stderr, "my.rules")
	}
	code, _, _ := sosgo(t, d, "triage", "--rules", rules+".none")
	assert.Equal(t, cli.ExitOpen, code)
}

// TestExportGarbage checks that a gcdump holds the live objects that dumpheap counts, or all objects with -garbage.
func TestExportGarbage(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	count := func(args ...string) (objects, garbage uint64) {
		code, text, stderr := sosgo(t, d, append([]string{"--json", "export", "gcdump", filepath.Join(t.TempDir(), "out")}, args...)...)
		require.Zero(t, code, stderr)
		var said struct {
			Result struct{ Objects, Garbage uint64 }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &said))
		return said.Result.Objects, said.Result.Garbage
	}
	code, text, stderr := sosgo(t, d, "--json", "summarize")
	require.Zero(t, code, stderr)
	var sums struct{ Result struct{ Objects uint64 } }
	require.NoError(t, json.Unmarshal([]byte(text), &sums))
	live, garbage := count()
	assert.Equal(t, sums.Result.Objects, live)
	all, again := count("-garbage")
	assert.NotZero(t, garbage)
	assert.Equal(t, garbage, again)
	assert.Equal(t, all, live+garbage)
	_, text, _ = sosgo(t, d, "export", "gcdump", filepath.Join(t.TempDir(), "out"))
	assert.Contains(t, text, fmt.Sprintf("%d objects of garbage left out (-garbage adds them)", garbage))
	_, text, _ = sosgo(t, d, "export", "gcdump", "-garbage", filepath.Join(t.TempDir(), "out"))
	assert.Contains(t, text, fmt.Sprintf("%d of the objects are garbage", garbage))
}

// TestExportFails checks that a full or unwritable place leaves no file.
func TestExportFails(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	for _, form := range exportForms {
		dir := t.TempDir()
		code, _, stderr := sosgo(t, d, "export", form, filepath.Join(dir, "no", "such", "folder"))
		assert.NotZero(t, code)
		assert.NotEmpty(t, stderr)
		code, _, stderr = sosgo(t, d, "export", form)
		assert.Equal(t, cli.ExitUsage, code, stderr)
		code, _, stderr = sosgo(t, d, "export", form, "a", "-o", "b")
		assert.Equal(t, cli.ExitUsage, code, stderr)
		if runtime.GOOS == "linux" {
			code, _, stderr = sosgo(t, d, "export", form, "/dev/full")
			assert.NotZero(t, code)
			assert.Contains(t, stderr, "no space left")
		}
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
	code, _, stderr := sosgo(t, d, "export", "dbase", "x")
	assert.Equal(t, cli.ExitUsage, code, stderr)
}

// TestExportTables checks that folders are complete and overwrite nothing, and that -summary skips a dump that the
// fleet has.
func TestExportTables(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	for _, form := range []string{"parquet", "csv", "ndjson"} {
		dir := filepath.Join(t.TempDir(), "a", "b")
		code, text, stderr := sosgo(t, d, "--json", "export", form, dir)
		require.Zero(t, code, stderr)
		var said struct {
			Result struct {
				Files []struct{ Name string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &said))
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, list, len(said.Result.Files))
		code, _, stderr = sosgo(t, d, "export", form, dir)
		assert.NotZero(t, code)
		assert.Contains(t, stderr, "exist")
	}
	fleet := filepath.Join(t.TempDir(), "fleet")
	code, text, stderr := sosgo(t, d, "export", "parquet", "-summary", fleet)
	require.Zero(t, code, stderr)
	assert.Contains(t, text, "part=")
	code, text, stderr = sosgo(t, d, "export", "parquet", "-summary", fleet)
	require.Zero(t, code, stderr)
	assert.Contains(t, text, "already exists")
	list, err := os.ReadDir(fleet)
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

// TestExportWithoutHeap checks a dump without a heap: tables are written without it, other forms fail without a file.
func TestExportWithoutHeap(t *testing.T) {
	d := testdump.Open(t, "net10-crash-null-triage")
	dir := filepath.Join(t.TempDir(), "out")
	code, _, stderr := sosgo(t, d, "export", "csv", dir)
	require.Zero(t, code, stderr)
	assert.FileExists(t, filepath.Join(dir, "threads.csv"))
	assert.NoFileExists(t, filepath.Join(dir, "objects.csv"))
	file := filepath.Join(t.TempDir(), "heap")
	code, _, stderr = sosgo(t, d, "export", "gcdump", file)
	assert.Equal(t, cli.ExitNotInDump, code, stderr)
	assert.NoFileExists(t, file)
}

// TestSummarize checks that summarize prints one line of JSON, equal to the result in the envelope.
func TestSummarize(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	code, text, stderr := sosgo(t, d, "summarize")
	require.Zero(t, code, stderr)
	var line, result map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &line))
	assert.Equal(t, 1, strings.Count(text, "\n"))
	code, text, stderr = sosgo(t, d, "--json", "summarize")
	require.Zero(t, code, stderr)
	var envelope struct{ Result json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(text), &envelope))
	require.NoError(t, json.Unmarshal(envelope.Result, &result))
	assert.Equal(t, line, result)
	assert.Equal(t, true, line["crashed"])
	assert.Len(t, line["signature"], 16)
	assert.NotEmpty(t, line["exception"])
	assert.NotEmpty(t, line["topFrame"])
	code, text, stderr = sosgo(t, d, "summarize", "-noheap")
	require.Zero(t, code, stderr)
	var brief map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &brief))
	assert.Equal(t, line["signature"], brief["signature"])
	assert.NotContains(t, brief, "objects")
}

// TestExportTruncated checks that an export of a truncated dump reports its missing parts or leaves no file.
func TestExportTruncated(t *testing.T) {
	whole := testdump.Open(t, "net8-zoo")
	raw, err := whole.Raw()
	require.NoError(t, err)
	for _, share := range []int{20, 50, 80, 95} {
		cut := filepath.Join(t.TempDir(), "cut.dmp")
		require.NoError(t, os.WriteFile(cut, raw[:len(raw)/100*share], 0o600))
		for _, form := range append([]string{"csv"}, exportForms...) {
			d := *whole
			c := *whole.Case
			c.Path = cut
			d.Case = &c
			out := filepath.Join(t.TempDir(), "out")
			code, _, stderr := sosgo(t, &d, "export", form, out)
			assert.NotEmpty(t, stderr, "%s of %d%%", form, share)
			assert.NotContains(t, stderr, "bug of sosgo")
			if code != 0 {
				assert.NoFileExists(t, out)
				assert.NoDirExists(t, out)
			}
		}
	}
}

// TestExportHostileNames checks that a type name with quotes, markup, separators and control characters survives
// every form.
func TestExportHostileNames(t *testing.T) {
	clean := testdump.Open(t, "net8-zoo")
	raw, err := clean.Raw()
	require.NoError(t, err)
	const hostile = "\"<;\x01\n,&"
	renamed := bytes.ReplaceAll(raw, []byte("\x00Outer`1\x00"), []byte("\x00"+hostile+"\x00"))
	require.NotEqual(t, raw, renamed, "the dump has no type Outer`1")
	dir := t.TempDir()
	d := &testdump.Dump{Case: &testcase.Case{Path: filepath.Join(dir, "hostile.dmp")}}
	require.NoError(t, os.WriteFile(d.Path, renamed, 0o600))
	export := func(args ...string) string {
		out := filepath.Join(dir, strings.Join(args, "-"))
		code, _, stderr := sosgo(t, d, append(append([]string{"-offline", "export"}, args...), "-o", out)...)
		require.Zero(t, code, "%v: %s", args, stderr)
		return out
	}
	read := func(args ...string) string {
		b, err := os.ReadFile(export(args...))
		require.NoError(t, err)
		return string(b)
	}

	var snapshot struct{ Strings []string }
	require.NoError(t, json.Unmarshal([]byte(read("heapsnapshot")), &snapshot))
	assert.True(t, slices.ContainsFunc(snapshot.Strings, func(s string) bool { return strings.Contains(s, hostile) }))
	var speedscope any
	require.NoError(t, json.Unmarshal([]byte(read("speedscope", "-heap")), &speedscope))
	for line := range strings.Lines(read("folded", "-heap")) {
		assert.Regexp(t, `^[^\x00-\x1f]+ \d+\n$`, line)
	}
	assert.True(t, slices.ContainsFunc(exportread.ReadProfile(t, []byte(read("pprof", "-heap"))).Samples, func(s exportread.Sample) bool {
		return strings.Contains(s.Frames[0].Function, "Debuggee.Zoo.")
	}))
	assert.NotEmpty(t, read("gcdump"))

	f, err := os.Open(filepath.Join(export("csv"), "types.csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // fails if the rows differ in length
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(rows, func(row []string) bool {
		return slices.ContainsFunc(row, func(s string) bool { return strings.Contains(s, hostile) })
	}))
	lines, err := os.ReadFile(filepath.Join(export("ndjson"), "types.ndjson"))
	require.NoError(t, err)
	for line := range bytes.Lines(lines) {
		assert.True(t, json.Valid(line), "%s", line)
	}
}
