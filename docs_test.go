package sosgo_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exported lists the exported functions, types and methods of the packages, as
// "dac.Runtime.Threads".
func exported(t *testing.T, dirs ...string) map[string]bool {
	out := map[string]bool{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, decl := range f.Decls {
				addDecl(out, f.Name.Name, decl)
			}
		}
	}
	return out
}

func addDecl(out map[string]bool, pkg string, decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := pkg + "."
		if d.Recv != nil {
			recv := d.Recv.List[0].Type
			if p, ok := recv.(*ast.StarExpr); ok {
				recv = p.X
			}
			if id, ok := recv.(*ast.Ident); ok {
				name += id.Name + "."
			}
		}
		out[name+d.Name.Name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if ts, ok := s.(*ast.TypeSpec); ok {
				out[pkg+"."+ts.Name.Name] = true
			}
		}
	}
}

// TestInterfaceTable checks docs/isosdac.md: each method has an answer, and
// what the answers name exists.
func TestInterfaceTable(t *testing.T) {
	names := exported(t, ".", "dac", "heap", "objects", "stackscan", "stackwalk", "codeinfo", "target", "threads")
	text, err := os.ReadFile(filepath.Join("docs", "isosdac.md"))
	require.NoError(t, err)
	code := regexp.MustCompile("`([a-z]+\\.[A-Z][A-Za-z.]*)`")
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| method") || strings.HasPrefix(line, "| query") {
			continue
		}
		rows++
		cells := strings.Split(line, "|")
		require.Len(t, cells, 4, line)
		require.NotEmpty(t, strings.TrimSpace(cells[2]), line)
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			require.True(t, names[m[1]], "%s: there is no %s", strings.TrimSpace(cells[1]), m[1])
		}
	}
	require.Greater(t, rows, 150)
}
