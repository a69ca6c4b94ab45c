package house_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flavorsKnown are the packages that may read the flavor of a dac.Instance: they select one of a process's runtimes
// before it is opened.
var flavorsKnown = []string{"process", "internal/app/doctor", "internal/app/resolve"}

// TestNobodyAsksForTheKind checks that code outside of dac mentions no flavor, and that dac never asserts or compares
// the kind that it selected. A CLR and a NativeAOT program are two implementations behind dac.Runtime; code calls
// dac.Runtime.Check for what it needs.
func TestNobodyAsksForTheKind(t *testing.T) {
	kinds := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.Contains(filepath.ToSlash(file), "testdata/") {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		if dir == "." {
			dir = "sosgo"
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if dir != "dac" && !bytes.Contains(text, []byte("dac.Flavor")) && !bytes.Contains(text, []byte("IsNative")) {
			return nil // not searched
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "dac" && strings.HasPrefix(n.Sel.Name, "Flavor") && !strings.HasSuffix(file, "_test.go") {
					assert.Contains(t, flavorsKnown, dir, "%v", fset.Position(n.Pos()))
				}
				assert.NotEqual(t, "IsNative", n.Sel.Name, "%v", fset.Position(n.Pos()))
			case *ast.TypeAssertExpr:
				if x, ok := n.X.(*ast.SelectorExpr); ok && dir == "dac" {
					assert.NotEqual(t, "impl", x.Sel.Name, "%v", fset.Position(n.Pos()))
				}
			case *ast.BinaryExpr:
				for _, side := range []ast.Expr{n.X, n.Y} {
					if x, ok := side.(*ast.SelectorExpr); ok && dir == "dac" {
						assert.NotEqual(t, "impl", x.Sel.Name, "%v", fset.Position(n.Pos()))
					}
				}
			case *ast.Field:
				if dir == "dac" && slices.ContainsFunc(n.Names, func(name *ast.Ident) bool { return name.Name == "impl" }) {
					kinds++
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, 1, kinds, "the field of dac.Runtime that holds the implementation")
}
