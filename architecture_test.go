package sosgo_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/sosgo/sosgo"

// mayImport says which packages of this module each package may import, test
// files aside: the data's way from the file to the printed line, and never back
// (docs/architecture.md). A package that suddenly needs one above it wants a
// different design.
var mayImport = map[string]string{
	"target":          "",
	"internal/cursor": "",
	"internal/limits": "",
	"internal/synth":  "",
	"metadata":        "internal/cursor internal/limits target",
	"codeinfo":        "internal/limits target",
	"unwind":          "internal/limits target",

	"internal/mmapfile": "target",
	"internal/memmap":   "target",
	"internal/layout":   "target",
	"minidump":          "internal/cursor internal/limits internal/memmap target",
	"elfcore":           "internal/cursor internal/limits internal/memmap target",
	"dump":              "elfcore internal/limits internal/memmap internal/mmapfile minidump target",
	"image":             "internal/cursor internal/limits internal/memmap internal/mmapfile target",
	"internal/modfiles": "image internal/limits target",
	"internal/symstore": "internal/limits internal/modfiles target",

	"dac":       "codeinfo image internal/layout internal/limits metadata target",
	"heap":      "dac internal/layout internal/limits target",
	"objects":   "dac internal/limits metadata target",
	"graph":     "dac heap internal/limits objects stackscan target",
	"stackscan": "codeinfo dac heap image internal/limits metadata objects target unwind",
	"disasm":    "dac objects target",

	// The root package is the façade: whatever answers, and nothing that prints.
	"": "codeinfo dac disasm dump elfcore graph heap image internal/limits internal/modfiles internal/symstore metadata minidump objects " +
		"stackscan target unwind",

	"report":             "",
	"report/stackexport": "report",
	"internal/cli":       "report target",
	"internal/commands": ". codeinfo dac disasm dump elfcore graph heap image internal/cli internal/limits metadata minidump objects report " +
		"report/stackexport stackscan target unwind",
	"cmd/sosgo": "internal/cli internal/commands",

	"internal/testdump":        ". target",
	"internal/tools/floors":    "",
	"internal/tools/slicedump": ". dac elfcore image internal/cli internal/commands internal/memmap internal/mmapfile target",
}

// mayDepend says where other people's modules are used, so that each is known
// to few. Those that only tests need are not listed.
var mayDepend = map[string]string{
	"github.com/spf13/cobra":            "internal/cli",
	"github.com/chzyer/readline":        "internal/cli",
	"github.com/schollz/progressbar/v3": "internal/cli",
	"golang.org/x/term":                 "internal/cli",
	"github.com/klauspost/compress":     ". dump internal/cli internal/testdump internal/tools/slicedump",
	"github.com/olekukonko/tablewriter": "report",
	"github.com/google/pprof":           "report/stackexport",
	"github.com/go-delve/delve":         "unwind",
	"golang.org/x/arch":                 "disasm",
	"golang.org/x/sys":                  "internal/mmapfile internal/tools/slicedump",
}

// A listed package is what go list says of it.
type listed struct {
	ImportPath string
	Imports    []string
	Module     *struct{ Path string }
}

func TestImportDirections(t *testing.T) {
	for _, p := range goList(t, "./...") {
		name := local(p.ImportPath)
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s is not in the table of this test: where does it stand?", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, module) && !slices.Contains(strings.Fields(allowed), orDot(local(i))) {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, i)
			}
		}
	}
}

func TestDependencies(t *testing.T) {
	modules := map[string]string{} // by package
	for _, p := range goList(t, "-deps", "./...") {
		if p.Module != nil && p.Module.Path != module {
			modules[p.ImportPath] = p.Module.Path
		}
	}
	for _, p := range goList(t, "./...") {
		for _, i := range p.Imports {
			dep, foreign := modules[i]
			if foreign && !slices.Contains(strings.Fields(mayDepend[dep]), orDot(local(p.ImportPath))) {
				t.Errorf("%s imports %s: only %q may", p.ImportPath, i, mayDepend[dep])
			}
		}
	}
}

// local is the path of a package inside the module.
func local(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

// orDot is how the tables name the root package among others.
func orDot(name string) string {
	if name == "" {
		return "."
	}
	return name
}

func goList(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Module"}, args...)...)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)
	var all []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
