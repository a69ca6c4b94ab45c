package house_test

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/sosgo/sosgo"

var drawImports = flag.String("draw", "", "write a Mermaid drawing of the imports to this `file`")

// floors lists the packages from the ground up, in the order of docs/architecture.md. A package may
// import packages of its own floor and of lower floors. A folder includes all packages below it
// without their own entry. The root package is called sosgo.
var floors = []struct{ name, packages string }{
	{"encodings", "internal/encoding"},
	{"vocabulary", "target"},
	{"answers", "answer internal/words"},
	{"plumbing", "internal/base"},
	{"processes that run", "internal/live"},
	{"containers", "minidump dump internal/dump"},
	{"files", "image metadata internal/image internal/files"},
	{"runtime", "dac"},
	{"heap", "heap"},
	{"objects", "objects internal/disasm"},
	{"stacks", "stackscan stackwalk internal/threads internal/stresslog"},
	{"graph", "graph internal/heapdiff"},
	{"process", "process"},
	{"queries", "query"},
	{"application", "internal/app"},
	{"summaries", "internal/export/pieces internal/export/summary"},
	{"façade", "sosgo"},
	{"forms", "internal/front/report"},
	{"exports", "internal/export/gcdump internal/export/heappprof internal/export/heapsnapshot internal/export/internal internal/export/stackexport internal/export/tables internal/export/fleet internal/export/scrub internal/export/pack export"},
	{"front", "internal/front"},
	{"doors", "text remote"},
	{"programs", "cmd docs/examples ui"},
}

// only restricts some packages further. The key is a package, or a folder followed by /...; the
// value lists the packages of this module that it may import.
var only = map[string]string{
	// Answers are plain values.
	"answer": "target internal/encoding/jsonenc internal/encoding/utf16text",
	// Renderers receive answers and cannot read a dump.
	"internal/front/cli/text/...": "answer target internal/base/compilernames internal/front/report internal/encoding/utf16text internal/export/stackexport internal/front/cli/text internal/front/cli/text/processtext",
	"text":                        "answer target internal/front/report internal/front/cli/text/objecttext internal/front/cli/text/processtext internal/front/cli/text/threadtext",
	"internal/front/report":       "answer internal/words target internal/encoding/jsonenc internal/encoding/utf16text",
	// The engine of the command line knows no commands, and the web page runs commands and reads
	// nothing itself.
	"internal/front/cli":       "target internal/base/machine internal/base/mmapfile internal/base/offheap internal/base/outfile internal/base/shownurl internal/front/report internal/base/secrets internal/base/workers",
	"internal/front/webui":     "internal/front/report internal/front/serving",
	"internal/front/remote":    "process target internal/base/machine internal/base/mmapfile internal/base/outfile internal/base/shownurl internal/base/webclient",
	"internal/front/mcpguard":  "",
	"internal/front/serving":   "",
	"internal/front/mcpserver": "internal/front/mcpguard internal/front/report internal/front/serving",
	"cmd/...":                  "internal/front/cli internal/front/cli/commands internal/front/cli/commands/reading internal/front/report",
}

// importers restricts who may import some packages; all other packages use target.
var importers = map[string]string{
	"minidump":                  "dump internal/export/scrub internal/front/cli/commands",
	"internal/dump/elfcore":     "dump process internal/front/cli/commands",
	"internal/dump/machocore":   "dump",
	"internal/dump/crashreport": "dump process internal/app/... internal/front/cli/commands/ask",
	// Only the command line asks processes.
	"internal/live/collect":   "internal/front/cli/commands/livecmd",
	"internal/live/processes": "internal/front/cli/commands/livecmd internal/live/collect",
	"internal/live/diagport":  "internal/live/collect internal/live/processes",

	"dump": "process internal/app/doctor internal/export/scrub internal/export/pack internal/front/cli/commands/ask internal/front/cli/commands/processcmd internal/front/cli/commands/objectcmd internal/front/cli/commands",
}

// thirdParty lists which packages may import packages of other modules.
var thirdParty = map[string]string{
	"github.com/google/go-dap":               "internal/front/dap",
	"github.com/modelcontextprotocol/go-sdk": "internal/front/mcpguard internal/front/mcpserver",
	"github.com/spf13/cobra":                 "internal/front/cli",
	"golang.org/x/term":                      "internal/front/cli",
	"golang.org/x/sys":                       "internal/base/mmapfile internal/base/offheap internal/base/outfile dump internal/front/cli internal/front/sandbox",
	"github.com/klauspost/compress":          "dump internal/front/cli internal/export/scrub internal/export/internal/parquetfile",
	"github.com/olekukonko/tablewriter":      "internal/front/report",
	"github.com/go-delve/delve":              "internal/image/unwind",
	"golang.org/x/arch":                      "internal/disasm",
}

// testFolder contains packages that only tests and the project's tools import.
const testFolder = "internal/test"

// floorOf returns the floor of a package, or false without one.
func floorOf(pkg string) (int, bool) {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		for i, f := range floors {
			if slices.Contains(strings.Fields(f.packages), pkg) {
				return i, true
			}
		}
	}
	return 0, false
}

// TestImportDirections checks the imports of all packages against the floors and the rules above.
// Tests and tools may import anything.
func TestImportDirections(t *testing.T) {
	imports, others := importsOf(t)
	for pkg, list := range imports {
		floor, ok := floorOf(pkg)
		if !assert.True(t, ok, "package %s is on no floor", pkg) {
			continue
		}
		for _, imported := range list {
			below, _ := floorOf(imported)
			assert.LessOrEqual(t, below, floor, "%s imports %s, which is on a floor above it", pkg, imported)
			if may, limited := allowed(pkg); limited {
				assert.Contains(t, may, imported, "%s may not import %s", pkg, imported)
			}
			if who, limited := importers[imported]; limited {
				assert.True(t, isBelow(pkg, strings.Fields(who)), "%s may not import %s", pkg, imported)
			}
		}
		for _, imported := range others[pkg] {
			assert.True(t, mayUse(pkg, imported), "%s may not import %s", pkg, imported)
		}
	}
	for rule := range only {
		assert.NotEmpty(t, matching(imports, rule), "there is no package %s", rule)
	}
	for _, f := range floors {
		for _, pkg := range strings.Fields(f.packages) {
			assert.NotEmpty(t, matching(imports, pkg+"/..."), "there is no package %s", pkg)
		}
	}
	if *drawImports != "" {
		require.NoError(t, os.WriteFile(*drawImports, []byte(drawing(imports)), 0o644))
	}
}

// isBelow reports whether a package is one of a list, or below a folder of it that ends in /....
func isBelow(pkg string, list []string) bool {
	return slices.ContainsFunc(list, func(l string) bool {
		folder, all := strings.CutSuffix(l, "/...")
		return pkg == folder || all && strings.HasPrefix(pkg, folder+"/")
	})
}

// allowed returns what a package with a rule in only may import.
func allowed(pkg string) (list []string, limited bool) {
	for rule, packages := range only {
		if folder, ok := strings.CutSuffix(rule, "/..."); pkg == folder || ok && strings.HasPrefix(pkg, folder+"/") {
			return strings.Fields(packages), true
		}
	}
	return nil, false
}

func matching(imports map[string][]string, rule string) (out []string) {
	folder, all := strings.CutSuffix(rule, "/...")
	for pkg := range imports {
		if pkg == folder || all && strings.HasPrefix(pkg, folder+"/") {
			out = append(out, pkg)
		}
	}
	return out
}

// importsOf returns the imports of each package: packages of this module and of other modules. It
// omits tests, and packages for tests and tools.
func importsOf(t *testing.T) (own, others map[string][]string) {
	own, others = map[string][]string{}, map[string][]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := path.Clean(filepath.ToSlash(filepath.Dir(p)))
		switch name := d.Name(); {
		case d.IsDir() && (name == "testdata" || name == "node_modules" || filepath.ToSlash(p) == testFolder || name == "browsertest" || strings.HasPrefix(name, ".") && name != "."):
			return fs.SkipDir
		case !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir = packageName(dir)
		if _, ok := own[dir]; !ok {
			own[dir] = nil
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			switch ours, ok := strings.CutPrefix(imported, modulePath); {
			case ok:
				own[dir] = append(own[dir], packageName(path.Clean(strings.TrimPrefix(ours, "/"))))
			case strings.Contains(strings.Split(imported, "/")[0], "."):
				others[dir] = append(others[dir], imported)
			}
		}
		return nil
	})
	require.NoError(t, err)
	for _, set := range []map[string][]string{own, others} {
		for pkg, list := range set {
			slices.Sort(list)
			set[pkg] = slices.Compact(list)
		}
	}
	return own, others
}

func packageName(dir string) string {
	if dir == "." || dir == "" {
		return "sosgo"
	}
	return dir
}

func mayUse(pkg, imported string) bool {
	for module, users := range thirdParty {
		if imported == module || strings.HasPrefix(imported, module+"/") {
			return slices.Contains(strings.Fields(users), pkg)
		}
	}
	return false
}

// drawing returns a Mermaid graph of the imports, floor by floor. It omits arrows that follow from
// others, and package target, which every package imports.
func drawing(imports map[string][]string) string {
	var b strings.Builder
	b.WriteString("graph BT\n")
	node := strings.NewReplacer("/", "_").Replace
	for i, f := range floors {
		fmt.Fprintf(&b, "  subgraph f%d[%s]\n", i, f.name)
		for pkg := range imports {
			if at, ok := floorOf(pkg); ok && at == i {
				fmt.Fprintf(&b, "    %s[%s]\n", node(pkg), pkg)
			}
		}
		b.WriteString("  end\n")
	}
	for pkg, list := range imports {
		for _, imported := range list {
			if imported != "target" && !follows(imports, pkg, imported) {
				fmt.Fprintf(&b, "  %s --> %s\n", node(pkg), node(imported))
			}
		}
	}
	return b.String()
}

// follows reports whether p reaches q through another package that it imports.
func follows(imports map[string][]string, p, q string) bool {
	for _, via := range imports[p] {
		if via != q && reaches(imports, via, q, map[string]bool{}) {
			return true
		}
	}
	return false
}

// reaches reports whether p imports q, directly or through others.
func reaches(imports map[string][]string, p, q string, seen map[string]bool) bool {
	if seen[p] {
		return false
	}
	seen[p] = true
	for _, via := range imports[p] {
		if via == q || reaches(imports, via, q, seen) {
			return true
		}
	}
	return false
}
