package sosgo_test

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

var update = flag.Bool("update", false, "write the drawing of the imports anew instead of comparing with it")

// layers are the floors of the building, from the ground up. A package imports
// what is on its own floor or below.
var layers = []struct{ name, packages string }{
	{"words", "target answer internal/cursor internal/inuse internal/lazy internal/limits internal/workers internal/addrindex internal/addrmap internal/compilernames internal/httpnames internal/poolverdict internal/ticks internal/utf16text"},
	{"bytes", "internal/memmap internal/mmapfile internal/offheap internal/arrayfile internal/digraph internal/outfile internal/sandbox internal/teb internal/wordscan hexdump"},
	{"containers", "minidump elfcore dump"},
	{"formats", "image metadata codeinfo unwind internal/bundle internal/layout internal/modfiles internal/nativeformat internal/symstore"},
	{"runtime", "dac dac/code"},
	{"subjects", "heap objects shapes collections disasm stackscan stackwalk threads crash resolve roots graph leaks diagnosis waste heapdiff query tasks threadpool locks flows web sqlpools hosting"},
	{"façade", "sosgo"},
	{"forms", "report report/stackexport internal/text internal/text/objecttext internal/text/memorytext internal/text/threadtext internal/text/tasktext internal/text/apptext internal/text/querytext internal/text/typetext internal/text/processtext internal/text/exporttext internal/webui"},
	{"exports", "export export/gcdump export/heapsnapshot export/heappprof export/summary export/tables"},
	{"command line", "internal/cli internal/commands/ask internal/commands/objectcmd internal/commands/memorycmd internal/commands/threadcmd internal/commands/taskcmd internal/commands/appcmd internal/commands/querycmd internal/commands/typecmd " +
		"internal/commands/processcmd internal/commands/exportcmd internal/commands/webcmd internal/commands cmd/sosgo"},
}

// TestImportDrawing keeps docs/imports.md, the drawing of who imports whom,
// true, and holds the imports to the floors. go test . -run TestImportDrawing
// -update draws it anew.
func TestImportDrawing(t *testing.T) {
	imports := importsOf(t)
	floor := map[string]int{}
	for i, l := range layers {
		for _, p := range strings.Fields(l.packages) {
			floor[p] = i
			assert.Contains(t, imports, p, "there is no package %s", p)
		}
	}
	for p, list := range imports {
		if _, ok := floor[p]; !ok {
			t.Errorf("package %s is on no floor", p)
			continue
		}
		for _, q := range list {
			assert.LessOrEqual(t, floor[q], floor[p], "%s imports %s, which is above it", p, q)
		}
	}
	got := drawing(imports)
	file := filepath.Join("docs", "imports.md")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run: go test . -run TestImportDrawing -update")
}

// importsOf are the packages of this module and whom of them each imports, the
// root's under the name sosgo. Tests and what only tests and tools use are left
// out.
func importsOf(t *testing.T) map[string][]string {
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := path.Clean(filepath.ToSlash(filepath.Dir(p)))
		switch name := d.Name(); {
		case d.IsDir() && (name == "testdata" || name == "tools" || strings.HasPrefix(name, ".") && name != "."):
			return fs.SkipDir
		case !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || slices.Contains(testPackages, dir):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir = roomName(dir)
		list := out[dir]
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			own, ok := strings.CutPrefix(imported, modulePath)
			if own = roomName(path.Clean(strings.TrimPrefix(own, "/"))); ok && !slices.Contains(list, own) {
				list = append(list, own)
			}
		}
		slices.Sort(list)
		out[dir] = list
		return nil
	})
	require.NoError(t, err)
	return out
}

func roomName(dir string) string {
	if dir == "." || dir == "" {
		return "sosgo"
	}
	return dir
}

// drawing is a Markdown document with a Mermaid graph. An arrow that follows
// from others is left out.
func drawing(imports map[string][]string) string {
	var b strings.Builder
	b.WriteString("# Who imports whom\n\nMade from the code by `go test . -run TestImportDrawing -update`. The floors are those of " +
		"[architecture.md](architecture.md):\na package imports what is on its own floor or on one below. Arrows that follow from others " +
		"are left out, and so is package\n`target`, the vocabulary that everybody uses.\n\n```mermaid\ngraph BT\n")
	for i, l := range layers {
		fmt.Fprintf(&b, "  subgraph f%d[%s]\n", i, l.name)
		for _, p := range strings.Fields(l.packages) {
			fmt.Fprintf(&b, "    %s[%s]\n", node(p), p)
		}
		b.WriteString("  end\n")
	}
	for _, l := range layers {
		for _, p := range strings.Fields(l.packages) {
			for _, q := range imports[p] {
				if q != "target" && !follows(imports, p, q) {
					fmt.Fprintf(&b, "  %s --> %s\n", node(p), node(q))
				}
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

func node(p string) string { return strings.NewReplacer("/", "_").Replace(p) }

// follows reports whether p reaches q through another package that it imports.
func follows(imports map[string][]string, p, q string) bool {
	for _, via := range imports[p] {
		if via != q && reaches(imports, via, q, map[string]bool{}) {
			return true
		}
	}
	return false
}

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
