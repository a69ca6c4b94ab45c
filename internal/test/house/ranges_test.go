package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRangesDoNotWrap checks that a range of a start and a size is made by target.RangeAt, which can't wrap around the
// end of the address space.
func TestRangesDoNotWrap(t *testing.T) {
	made := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if types.ExprString(n.Fun) == "target.RangeAt" {
					made++
				}
			case *ast.CompositeLit:
				if types.ExprString(n.Type) == "target.Range" && wraps(n.Elts) {
					assert.Fail(t, "this end may wrap: use target.RangeAt", "%s", files.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	}))
	assert.Greater(t, made, 30)
}

// wraps reports whether the elements of a range are a start and the sum of that start and something.
func wraps(elements []ast.Expr) bool {
	if len(elements) != 2 {
		return false
	}
	var bounds [2]ast.Expr
	for i, e := range elements {
		bounds[i] = e
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			bounds[i] = kv.Value
		}
	}
	sum, ok := bounds[1].(*ast.BinaryExpr)
	return ok && sum.Op == token.ADD && types.ExprString(sum.X) == types.ExprString(bounds[0])
}
