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
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestConclusionsAreConcluded checks that answer.Conclude makes every conclusion outside package answer, with a kind of finding that is a
// constant or a variable, and with a statement.
func TestConclusionsAreConcluded(t *testing.T) {
	concluded := 0
	require.NoError(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") && name != ".") {
			return fs.SkipDir
		}
		file = filepath.ToSlash(file)
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || path.Dir(file) == "answer" {
			return nil
		}
		files := token.NewFileSet()
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		f, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, at := range concludedByHand(f) {
			t.Errorf("%v: answer.Conclude makes conclusions, with a kind and a statement", files.Position(at))
		}
		concluded += bytes.Count(text, []byte("answer.Conclude("))
		return nil
	}))
	assert.Greater(t, concluded, 30)
}

// TestConcludedByHand checks what TestConclusionsAreConcluded finds.
func TestConcludedByHand(t *testing.T) {
	const source = `package p
import a "` + modulePath + `/answer"
func f(list []a.Verdict) (*a.Verdict, []*a.Verdict) {
	list = append([]a.Verdict{}, list...)
	v := a.Conclude(a.FindingWait, w.X.Of(), a.StrengthLikely)
	return &v, []*a.Verdict{&v}
}
`
	count := func(line string) int {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", source+line, parser.SkipObjectResolution)
		require.NoError(t, err)
		return len(concludedByHand(f))
	}
	assert.Zero(t, count(""))
	for _, line := range []string{
		"var v a.Verdict",
		"var v = new(a.Verdict)",
		"var v = &a.Verdict{Strength: a.StrengthProved}",
		"var v = a.Verdict{}",
		"var list = []a.Verdict{{Kind: a.FindingWait}}",
		"var list = []*a.Verdict{{Kind: a.FindingWait}}",
		"var by = map[string]a.Verdict{\"x\": {}}",
		"func g() (v a.Verdict, ok bool) { return }",
		"type own a.Verdict",
		"type own = a.Verdict",
		"var v = a.Conclude(\"\", w.X.Of(), a.StrengthLikely)",
		"var v = a.Conclude(a.FindingKind(name), w.X.Of(), a.StrengthLikely)",
		"var v = a.Conclude(a.FindingWait, a.Statement{}, a.StrengthLikely)",
	} {
		assert.Equal(t, 1, count(line), line)
	}
}

// concludedByHand returns where a file makes a conclusion without answer.Conclude, without a kind, or without a statement.
func concludedByHand(f *ast.File) (out []token.Pos) {
	of := importedAs(f, modulePath+"/answer")
	is := func(e ast.Expr, name string) bool { return of != "" && selects(e, of, name) }
	found := func(n ast.Node, wrong bool) {
		if wrong {
			out = append(out, n.Pos())
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			found(n, is(n.Type, "Verdict") || is(elementOf(n.Type), "Verdict") && slices.ContainsFunc(n.Elts, withoutType))
		case *ast.ValueSpec:
			found(n, is(n.Type, "Verdict"))
		case *ast.TypeSpec:
			found(n, is(n.Type, "Verdict"))
		case *ast.FuncType:
			found(n, n.Results != nil && slices.ContainsFunc(n.Results.List, func(r *ast.Field) bool { return len(r.Names) > 0 && is(r.Type, "Verdict") }))
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "new" {
				found(n, is(n.Args[0], "Verdict"))
			}
			if is(n.Fun, "Conclude") {
				_, unnamed := n.Args[0].(*ast.BasicLit)
				converted, ok := n.Args[0].(*ast.CallExpr)
				composed, empty := n.Args[1].(*ast.CompositeLit)
				found(n, unnamed || ok && is(converted.Fun, "FindingKind") || empty && is(composed.Type, "Statement"))
			}
		}
		return true
	})
	return out
}

// importedAs returns the name by which a file refers to an imported package, or "".
func importedAs(f *ast.File, imported string) string {
	for _, i := range f.Imports {
		switch p, err := strconv.Unquote(i.Path.Value); {
		case err != nil || p != imported:
		case i.Name != nil:
			return i.Name.Name
		default:
			return path.Base(p)
		}
	}
	return ""
}

// selects reports whether e is pkg.name.
func selects(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// elementOf returns the type of the elements of an array, slice or map, or what they point to. It returns nil for other types.
func elementOf(e ast.Expr) ast.Expr {
	switch t := e.(type) {
	case *ast.ArrayType:
		e = t.Elt
	case *ast.MapType:
		e = t.Value
	default:
		return nil
	}
	if p, ok := e.(*ast.StarExpr); ok {
		return p.X
	}
	return e
}

// withoutType reports whether an element of a literal is a literal that takes its type from the elements' type.
func withoutType(e ast.Expr) bool {
	if pair, ok := e.(*ast.KeyValueExpr); ok {
		e = pair.Value
	}
	x, ok := e.(*ast.CompositeLit)
	return ok && x.Type == nil
}
