package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestStability checks that the comment of each public package states its stability, and that few
// packages are stable, which have no types of the others in their declarations.
func TestStability(t *testing.T) {
	const most = 15
	mark := regexp.MustCompile(`(?m)^Stability: (stable|unstable)\.`)
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	marks := map[string][]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			if name := d.Name(); rel != "." && (strings.HasPrefix(name, ".") || name == "internal" || name == "cmd" || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		marks[dir] = append(marks[dir], "")
		if f.Doc != nil {
			if m := mark.FindStringSubmatch(f.Doc.Text()); m != nil {
				marks[dir] = append(marks[dir], m[1])
			}
		}
		return nil
	}))
	stable := 0
	for dir, found := range marks {
		text := strings.Join(found, "")
		assert.Contains(t, []string{"stable", "unstable"}, text, "the comment of package %s has no mark \"Stability: stable.\" or \"Stability: unstable.\", or several", dir)
		if text == "stable" {
			stable++
		}
	}
	assert.Greater(t, len(marks), most, "packages")
	assert.LessOrEqual(t, stable, most)
	publicPackages(t, func(dir string, file *ast.File, fset *token.FileSet) {
		if strings.Join(marks[dir], "") == "stable" {
			onlyStable(t, file, fset, marks)
		}
	})
}

// onlyStable checks that the exported declarations of a file have types of stable packages.
func onlyStable(t *testing.T, file *ast.File, fset *token.FileSet, marks map[string][]string) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if dir, ours := strings.CutPrefix(imported, modulePath+"/"); ours {
			imports[path.Base(dir)] = dir
			if spec.Name != nil {
				imports[spec.Name.Name] = dir
			}
		}
	}
	for _, decl := range file.Decls {
		for _, node := range exportedTypes(decl) {
			ast.Inspect(node, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && imports[x.Name] != "" {
						assert.Equal(t, "stable", strings.Join(marks[imports[x.Name]], ""), "%s: a stable package has the type %s.%s", fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}
