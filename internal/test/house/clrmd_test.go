package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestClrMD checks that every name of sosgo in docs/clrmd.md exists, that the document has its rows, that each row of
// the first table names something of sosgo, and that it names a member of ClrMD once.
func TestClrMD(t *testing.T) {
	const rows = 70
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs", "clrmd.md"))
	require.NoError(t, err)
	name := regexp.MustCompile("`([a-z]+\\.[A-Z][\\w.]*)`")
	table, _, _ := strings.Cut(string(text), "## Which")
	count, members := 0, map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || cells[1] == " ClrMD " || cells[1] == "---" {
			continue
		}
		count++
		assert.Regexp(t, name, cells[2], line)
		assert.False(t, members[cells[1]], "two rows for %s", cells[1])
		members[cells[1]] = true
	}
	assert.GreaterOrEqual(t, count, rows)
	names := exportedNames(t, root)
	require.Contains(t, names, "sosgo.View.Stacks")
	seen := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(cells[2]+cells[3], -1) {
			seen++
			assert.Contains(t, names, m[1], "docs/clrmd.md")
		}
	}
	assert.Greater(t, seen, rows)
}

// exportedNames returns the exported functions, types and methods of the module's public packages:
// "heap.Heap.Objects".
func exportedNames(t *testing.T, root string) map[string]bool {
	out := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "internal" || d.Name() == "testdata" || d.Name() == "node_modules") {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				name := decl.Name.Name
				if decl.Recv != nil {
					name = receiver(decl.Recv.List[0].Type) + "." + name
				}
				out[f.Name.Name+"."+name] = true
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						out[f.Name.Name+"."+s.Name.Name] = true
					}
				}
			}
		}
		return nil
	}))
	return out
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
