package commands_test

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// answers are the valid exit codes of a command that may need missing memory or a CLR.
var answers = []int{0, cli.ExitNotInDump, cli.ExitUnsupported}

// TestHandleCommandsAgree compares the forms of each command.
func TestHandleCommandsAgree(t *testing.T) {
	for name, row := range map[string]func(line string) bool{
		"gchandles": func(s string) bool {
			return strings.Count(s[:min(11, len(s))], "0") >= 4 && !strings.Contains(s, "objects")
		},
		"finalizequeue": func(s string) bool { return strings.HasPrefix(s, "    ") && !strings.Contains(s, "Address") },
	} {
		t.Run(name, func(t *testing.T) {
			testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
				code, text, stderr := sosgo(t, d, "--json", name)
				require.Contains(t, answers, code, stderr)
				if code != 0 {
					return
				}
				var all struct{ Result struct{ Count, Size uint64 } }
				require.NoError(t, json.Unmarshal([]byte(text), &all))
				code, text, stderr = sosgo(t, d, name)
				require.Zero(t, code, stderr)
				list, _, _ := strings.Cut(text, "Statistics:")
				n := 0
				for line := range strings.Lines(list) {
					if row(line) {
						n++
					}
				}
				assert.EqualValues(t, all.Result.Count, n, text)
			})
		})
	}
}

// TestTraverseHeapForms checks that both forms describe the same graph.
func TestTraverseHeapForms(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		plain, marked := filepath.Join(t.TempDir(), "heap.txt"), filepath.Join(t.TempDir(), "heap.xml")
		code, _, stderr := sosgo(t, d, "traverseheap", plain)
		require.Contains(t, answers, code, stderr)
		if code != 0 {
			require.NoFileExists(t, plain)
			return
		}
		code, _, stderr = sosgo(t, d, "traverseheap", "-xml", marked)
		require.Zero(t, code, stderr)
		var graph struct {
			Types   []struct{} `xml:"types>type"`
			Roots   []struct{} `xml:"roots>root"`
			Objects []struct {
				Members []struct{} `xml:"member"`
			} `xml:"objects>object"`
		}
		b, err := os.ReadFile(marked)
		require.NoError(t, err)
		require.NoError(t, xml.Unmarshal(b, &graph))
		members := 0
		for _, o := range graph.Objects {
			members += len(o.Members)
		}
		b, err = os.ReadFile(plain)
		require.NoError(t, err)
		types, roots, objects, refs := 0, 0, 0, 0
		for line := range strings.Lines(string(b)) {
			fields := strings.Fields(line)
			switch {
			case len(fields) == 0:
			case fields[0] == "t":
				types++
			case fields[0] == "r":
				roots = len(fields) - 1
			case fields[0] == "o":
				objects++
				refs += len(fields) - 4
			}
		}
		assert.Equal(t, []int{len(graph.Types), len(graph.Roots), len(graph.Objects), members}, []int{types, roots, objects, refs})
		code, _, _ = sosgo(t, d, "traverseheap", plain)
		assert.NotZero(t, code, "a file that exists is kept")
	})
}

// TestVerifyCommands checks that a sound heap is reported as sound, object by object.
func TestVerifyCommands(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		code, text, stderr := sosgo(t, d, "verifyheap")
		require.Contains(t, answers, code, stderr)
		if code != 0 {
			return
		}
		assert.Contains(t, text, "No heap corruption detected")
		code, text, stderr = sosgo(t, d, "dumpexceptions")
		if code == cli.ExitUnsupported && d.Manifest.NativeAOT() {
			return // no CLR
		}
		require.Zero(t, code, stderr)
		assert.Contains(t, text, "Total: ")
		code, text, stderr = sosgo(t, d, "verifyobj", "10")
		require.Zero(t, code, stderr)
		assert.Contains(t, text, "ObjectNotOnTheHeap")
	})
}
