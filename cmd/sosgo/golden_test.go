package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/testdump"
)

// goldenCommands pin how answers look; what they say is held to facts and to
// other tools elsewhere. A command that names a fact of the manifest in braces
// gets its address.
var goldenCommands = []string{
	"clrthreads",
	"eeheap -gc",
	"dumpheap -stat -type Debuggee",
	"dumpheap -stat -type Debuggee -json",
	"dumpobj {root.Dog}",
	"dumpobj {root.Dog} -json",
	"dumpobj {root.Primitives}",
	"dumparray {root.Arrays.Ints}",
	"dumpmt {type Debuggee.Zoo.Dog}",
	"printexception {root.Exception}",
	"dumpstackobjects -all",
	"clrstack -all",
}

// TestGolden compares answers, in the form of a terminal and in SOS's, with
// those under testdata/golden: go test ./cmd/sosgo -run TestGolden -update
// writes them anew.
func TestGolden(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join("testdata", "golden"))
	require.NoError(t, err)
	for _, name := range []string{"net10-zoo", "net8-zoo", "net31-zoo", "win-net10-zoo", "net10-crash-null-triage"} {
		d := testdump.Open(t, name)
		for _, command := range goldenCommands {
			line, ok := withFacts(d, command)
			if !ok {
				continue
			}
			for _, form := range []string{"", ".sos"} {
				if form != "" && strings.Contains(line, "-json") {
					continue
				}
				file := filepath.Join(name, fileName(command)+form+".txt")
				t.Run(file, func(t *testing.T) {
					out, errs, _ := run(t, "-d", d.Path, "-sos="+strconv.FormatBool(form != ""), "-c", line)
					compareGolden(t, filepath.Join(folder, file), out+errs)
				})
			}
		}
	}
}

// withFacts fills in the addresses of facts; it reports false where the dump's
// manifest has no such fact.
func withFacts(d *testdump.Dump, command string) (string, bool) {
	before, rest, ok := strings.Cut(command, "{")
	if !ok {
		return command, true
	}
	name, after, _ := strings.Cut(rest, "}")
	value, ok := d.Manifest.Fact(name)
	address, _, _ := strings.Cut(value, " ")
	return before + address + after, ok
}

func fileName(command string) string {
	return strings.NewReplacer("{", "", "}", "", "type Debuggee.Zoo.", "", " -", "-", " ", "-").Replace(command)
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if got != string(want) {
		t.Errorf("%s: run go test ./cmd/sosgo -run TestGolden -update if this is right\n%s", file, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is longer than the other"
}
