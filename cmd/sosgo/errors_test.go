package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// failingLines lists failing command lines by the dump that they use.
var failingLines = []struct {
	of    string // the dump's name in the golden file
	lines []string
}{
	{"net10-zoo", []string{
		"dumphep", "dumpobj", "dumpobj zz", "dumpobj 10", "dumpobj 7fffffffffff", "gcroot 10", "dumpmt 10", "dumpmd 10", "clru 10", "dumpmodule 10", "dumpdomain 10",
		"taskstate", "taskstate 10", "listnearobj 10", "ip2md 10", "dq 10", "dumpheap -type", "dumpheap -typ x", "dumpheap -where 'x y'", "dumpgen 7", "clrstack 99", "clrstack 1 junk",
		"threads -thread 99", "waste -kind nope", "gchandles -type Nope", "eval 1 +", "eval Nope.Nope", "query from nothing", "query from objects | wher x", "statics",
		"findhttpcontext", "name2ee x.dll!Nope", "token2ee x.dll 02000002", "watsonbuckets", "savemodule 10 nowhere/x", "pack -o nowhere/x", "report -o nowhere/x",
		"export heapsnapshot -o nowhere/x", "traverseheap nowhere/x", "diff nowhere.dmp"}},
	{"net10-crash-null-triage", []string{"tasks", "dumpheap -stat", "locks", "statics X", "threadpool", "verifyheap"}},
	{"nativeaot10", []string{"waits", "initializers", "contexts", "dumpmodule 10", "clrmodules", "dumpmd 10", "syncblk", "gchandles", "dumpdomain", "name2ee x!y", "statics X", "dumplog"}},
	{"crash report", []string{"dumpheap", "dumpobj 1000"}},
	{"missing file", []string{"threads"}},
	{"text file", []string{"threads"}},
	{"cut file", []string{"threads"}},
	{"folder", []string{"threads"}},
}

// temporary matches the name of an incomplete output file.
var temporary = regexp.MustCompile(`\S*\.sosgo-[0-9-]+\.x\.part`)

// TestGoldenErrors compares the errors, hints and exit codes of failing commands with testdata/golden/errors.txt, as
// text and as JSON.
func TestGoldenErrors(t *testing.T) {
	dir := t.TempDir()
	zoo := testdump.Open(t, "net10-zoo").Path
	whole, err := os.ReadFile(zoo)
	require.NoError(t, err)
	cut := filepath.Join(dir, "cut.dmp.zst")
	require.NoError(t, os.WriteFile(cut, whole[:len(whole)/4], 0o600))
	text := filepath.Join(dir, "notes.dmp")
	require.NoError(t, os.WriteFile(text, []byte("notes of a colleague\n"), 0o600))
	paths := map[string]string{
		"net10-zoo": zoo, "net10-crash-null-triage": testdump.Open(t, "net10-crash-null-triage").Path,
		"nativeaot10":  filepath.Join(moduleRoot, "testdata", "dumps", "nativeaot", "nativeaot10", "nativeaot10.dmp.zst"),
		"crash report": filepath.Join(moduleRoot, "internal", "dump", "crashreport", "testdata", "net8-x64.crashreport.json"),
		"missing file": filepath.Join(dir, "none.dmp"), "text file": text, "cut file": cut, "folder": dir,
	}
	var got strings.Builder
	for _, f := range failingLines {
		path, err := filepath.Abs(paths[f.of])
		require.NoError(t, err)
		kept := testcli.Kept{Path: path}
		env := kept.Env()
		for _, line := range f.lines {
			_, errs, code := runIn(t, env, "-d", path, "-offline", "-c", line)
			assert.NotZero(t, code, line)
			fmt.Fprintf(&got, "==== %s: %s\n%sexit code %d\n", f.of, line, temporary.ReplaceAllString(strings.NewReplacer(path, "FILE", dir, "DIR").Replace(errs), "TEMPORARY"), code)
			out, _, same := runIn(t, env, "-d", path, "-offline", "-json", "-c", line)
			assert.Equal(t, code, same, line)
			assert.Contains(t, out, fmt.Sprintf(`"exit":%d`, code), line)
		}
		require.NoError(t, kept.Close())
	}
	compareGolden(t, filepath.Join(moduleRoot, "cmd", "sosgo", "testdata", "golden", "errors.txt"), got.String())
}

// TestLimitOfAddresses checks that a limit is the whole error of a command about an address: no other address would do.
func TestLimitOfAddresses(t *testing.T) {
	path := testdump.Open(t, "net10-zoo").Plain()
	for _, line := range []string{"objsize -mt 7f07a5b48748", "objsize 7f079cc025e0", "retained 7f079cc025e0"} {
		out, errs, code := run(t, append([]string{"-d", path, "--max-memory", "1"}, strings.Fields(line)...)...)
		assert.Equal(t, cli.ExitUnsupported, code, line)
		assert.Empty(t, out, line)
		assert.Contains(t, errs, "more than the limit of", line)
		assert.NotContains(t, errs, "use dumpmt", line)
	}
}

// TestMemoryLimit: what --max-memory makes incomplete has the exit code of a limit, warnings of its kind, and no files.
func TestMemoryLimit(t *testing.T) {
	path := testdump.Open(t, "net10-zoo").Plain()
	for _, form := range []string{"csv", "ndjson", "parquet"} {
		for _, size := range []string{"1", "1k", "64k"} {
			dir := t.TempDir()
			_, errs, code := run(t, "-d", path, "--max-memory", size, "export", form, filepath.Join(dir, "tables"))
			assert.Equal(t, cli.ExitUnsupported, code, "%s %s: %s", form, size, errs)
			assert.Contains(t, errs, "more than the limit of", form)
			assert.Empty(t, filesOf(t, dir), "%s %s", form, size)
		}
	}
	out, errs, code := run(t, "-d", path, "--max-memory", "1", "--json", "summarize")
	assert.Equal(t, cli.ExitUnsupported, code, errs)
	assert.Contains(t, out, `"kind":"limit"`)
	assert.Contains(t, out, `"limit":true`)
	for line := range strings.Lines(out) {
		assert.False(t, strings.Contains(line, `"warnings"`) && strings.Contains(line[:strings.Index(line+`"error"`, `"error"`)], `"kind":"unsupported"`), line)
	}
}
