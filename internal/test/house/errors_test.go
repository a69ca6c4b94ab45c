package house_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ownErrors are the places in public packages that make an error of no kind of package target, with the reason.
var ownErrors = map[string]string{
	"internal/app/leaks.errNoCollection":               "stays in the package",
	"internal/app/waste.lacking":                       "its formats have %w",
	"dump.ErrNotNeeded":                                "makes a pack leave a file out",
	"dump.createTemporary":                             "an error of the host, without fs.ErrNotExist",
	"internal/dump/crashreport.reader.begin":           "becomes a damageError",
	"internal/export/tables.errNothing":                "stays in the package",
	"graph.kept.note":                                  "its formats have %w",
	"heap.errEnough":                                   "stays in the package",
	"image.ErrMismatch":                                "the reason why a file is refused: the error of the search is os.ErrNotExist",
	"image.mvidOffset":                                 "becomes an ErrCorrupt",
	"internal/image/malloc.finder.addMissing":          "its formats have %w",
	"internal/files/symbolserver.Server.checkRedirect": "an error of the network",
	"internal/files/symbolserver.Server.download":      "an error of the network",
	"internal/files/symbolserver.Server.receive":       "an error of the network",
	"internal/files/symbolserver.notOnServer":          "is fs.ErrNotExist",
	"internal/image/unwind.errEnd":                     "stays in the package",
	"objects.errEnough":                                "stays in the package",
	"process.Dump.fitStructure":                        "the reason why a file is refused: the error of the search is os.ErrNotExist",
	"process.errFewReturns":                            "the reason why a file is refused: the error of the search is os.ErrNotExist",
	"query.ErrNoAnswer":                                "its errors are target.ErrUnsupported too",
	"query.ambiguousError":                             "becomes an Error",
	"query.errEnough":                                  "stays in the package",
	"query.errNaN":                                     "stays in the package",
	"query.errNoMember":                                "stays in the package",
	"stackwalk.ErrSnapshotAborted":                     "the caller stopped the snapshot",
}

// TestErrorsHaveAKind checks that importers can match the errors of public packages (target.Kind). No code calls
// errors.New, or fmt.Errorf without %w, and each type of errors has a method Unwrap. ownErrors lists the exceptions.
func TestErrorsHaveAKind(t *testing.T) {
	found, unwrapped := map[string]string{}, map[string]bool{}
	libraryPackages(t, func(dir string, file *ast.File, fset *token.FileSet) {
		if top, _, _ := strings.Cut(dir, "/"); top == "docs" || top == "ui" || dir == "target" {
			return
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				name := packageName(dir) + "." + receiverName(f)
				if f.Name.Name == "Unwrap" {
					unwrapped[name] = true
				} else if f.Name.Name == "Error" && f.Type.Params.NumFields() == 0 {
					found[name] = fset.Position(f.Pos()).String() + ": its errors have no method Unwrap"
				}
			}
			for name, node := range namedParts(decl) {
				ast.Inspect(node, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && wrapsNothing(call) {
						found[packageName(dir)+"."+name] = fset.Position(call.Pos()).String() + ": the error wraps no error of package target"
					}
					return true
				})
			}
		}
	})
	for name := range unwrapped {
		delete(found, name)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if ownErrors[name] == "" {
			t.Errorf("%s (%s)", found[name], name)
		}
	}
	for name := range ownErrors {
		assert.Contains(t, found, name, "the exception is not needed")
	}
}

// namedParts returns the parts of a declaration by name: the function, or each specification.
func namedParts(decl ast.Decl) map[string]ast.Node {
	out := map[string]ast.Node{}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = receiverName(d) + "." + name
		}
		out[name] = d
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.ValueSpec); ok {
				out[s.Names[0].Name] = s
			}
		}
	}
	return out
}

// receiverName returns the name of a method's type.
func receiverName(f *ast.FuncDecl) string {
	e := f.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return fmt.Sprint(x)
		}
	}
}

// wrapsNothing reports whether a call is errors.New, or fmt.Errorf without %w.
func wrapsNothing(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch fmt.Sprint(sel.X) + "." + sel.Sel.Name {
	case "errors.New":
		return true
	case "fmt.Errorf":
		format := ""
		ast.Inspect(call.Args[0], func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				format += text
			}
			return true
		})
		return !strings.Contains(format, "%w")
	}
	return false
}
