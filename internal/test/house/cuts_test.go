package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cutters are the functions that return a part of a text of the process without a mark of the cut: what ends the part may begin a secret, which is not
// known without a mark. Answers show Start, a Line, or what secrets.CutEnd or secrets.Cut made of the part. The value is the file with the reason
// why that is not needed, or where it is done.
var cutters = map[string]string{
	"answer/line.go":                                   "Line marks it with an ellipsis",
	"answer/conclusion.go":                             "counts",
	"internal/words/values.go":                         "counts",
	"query/ops.go":                                     "counts",
	"heap/contents.go":                                 "CutEnd",
	"heap/objectlist.go":                               "the answer says whether it is whole, and text marks it",
	"objects/text.go":                                  "Text and Start themselves",
	"objects/inline.go":                                "a piece of a Line has the length of the whole",
	"objects/describeobject.go":                        "CutEnd",
	"objects/collections_describe.go":                  "Cut; and a text to search in",
	"objects/hides.go":                                 "names and values to compare",
	"objects/holders.go":                               "a name",
	"query/cells.go":                                   "masked before the cut",
	"query/engine.go":                                  "to compare",
	"stackscan/list.go":                                "marked with dots",
	"dac/threadname.go":                                "StringAt itself, which marks it",
	"dac/code_exception.go":                            "StringAt marks it",
	"internal/app/crash/cause.go":                      "marked with an ellipsis",
	"internal/app/locks/regexes.go":                    "a pattern to examine",
	"internal/app/sensitive/leaves.go":                 "values to learn",
	"internal/app/sensitive/sensitive.go":              "values to learn",
	"internal/app/waste/report.go":                     "Cut",
	"internal/export/heapsnapshot/edges.go":            "without masking",
	"internal/export/heapsnapshot/heapsnapshot.go":     "masked before the cut",
	"internal/export/tables/heap.go":                   "CutEnd",
	"internal/front/cli/text/memorytext/waste.go":      "marked with dots",
	"internal/front/cli/text/objecttext/collection.go": "marked with dots",
	"internal/front/cli/text/object.go":                "marked with an ellipsis",
}

// TestCutsAreMasked finds readers that cut texts of the process. A new one uses Start or a Line, or is listed with its reason.
func TestCutsAreMasked(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(path)
		if d.IsDir() {
			if slices.Contains([]string{"internal/test", "testdata", "ui", "docs", ".git"}, rel) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !cuts(call) {
				return true
			}
			seen[rel] = true
			if cutters[rel] == "" {
				t.Errorf("%s cuts a text without a mark: %s. Use Start or a Line, or secrets.Cut for what is shown, and list the file in cutters", set.Position(call.Pos()), types.ExprString(call))
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	for file := range cutters {
		assert.True(t, seen[file], "%s cuts no text any more: remove it from cutters", file)
	}
}

// cuts reports whether a call is one of a function that cuts a text: its last argument is the number of characters.
func cuts(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "CutText"
	}
	if len(call.Args) == 0 {
		return false
	}
	switch f.Sel.Name {
	case "StringText", "StringAt", "CutText":
		return true
	case "append", "Append":
		from, ok := f.X.(*ast.SelectorExpr)
		id, plain := f.X.(*ast.Ident)
		return len(call.Args) > 2 && (ok && strings.HasPrefix(from.Sel.Name, "text") || plain && strings.HasPrefix(id.Name, "text"))
	case "Text", "heldText":
	default:
		return false
	}
	switch last := call.Args[len(call.Args)-1].(type) {
	case *ast.BasicLit:
		return last.Kind == token.INT && last.Value != "0"
	case *ast.SelectorExpr:
		id, ok := last.X.(*ast.Ident)
		return ok && id.Name == "limits"
	case *ast.Ident:
		return strings.HasSuffix(last.Name, "Chars") || strings.HasPrefix(last.Name, "max") || strings.HasPrefix(last.Name, "most") || last.Name == "limit" || strings.HasSuffix(last.Name, "Text")
	}
	return false
}
