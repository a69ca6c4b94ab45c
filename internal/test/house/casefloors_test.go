package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A testCall is a call by a function of a folder. The package is "" for a function of the same folder.
type testCall struct{ pkg, name string }

// testCalls are the functions of a folder (methods not counted) with what they call; sets are those that mark a test as one on dumps.
type testCalls struct {
	calls map[string][]testCall
	sets  map[string]bool
}

// TestFloorsOfCases checks that each test on the dumps of a list has a line in .ci/cases: the whole run of the tests would miss it only at
// its end. Tests that need SOSGO_TRIALS have none, nor has the agreement on the corpus, a step of its own with floors of its own.
func TestFloorsOfCases(t *testing.T) {
	folders := map[string]testCalls{}
	require.NoError(t, filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if base := e.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
			return fs.SkipDir
		}
		calls, err := callsOfTests(name)
		folders[filepath.ToSlash(name)] = calls
		return err
	}))
	const shared = "internal/test/"
	counted := func(folder, name string) bool {
		return marks(folders, map[testCall]bool{}, testCall{folder, name})
	}
	floors, err := os.ReadFile(".ci/cases")
	require.NoError(t, err)
	var missing []string
	tests := 0
	for folder, f := range folders {
		for name := range f.calls {
			key := strings.TrimPrefix(folder+"."+name, "..")
			ofItsOwn := slices.Contains(f.calls[name], testCall{"", "trials"}) || key == "internal/test/agreement.TestCorpus"
			if ofItsOwn || !strings.HasPrefix(name, "Test") || !counted(folder, name) {
				continue
			}
			if tests++; !strings.Contains(string(floors), "\n"+key+" ") {
				missing = append(missing, key)
			}
		}
	}
	assert.Greater(t, tests, 250, "tests on lists of dumps")
	assert.Empty(t, missing, "a line TEST CASES for each in .ci/cases, or .ci/run -raise test")
	assert.True(t, counted(shared+"testdump", "Corpus"))
}

// marks reports whether a function calls, by way of functions of its folder and of the shared packages of tests, one that marks a test.
func marks(folders map[string]testCalls, seen map[testCall]bool, f testCall) bool {
	if seen[f] {
		return false
	}
	seen[f] = true
	folder := folders[f.pkg]
	return folder.sets[f.name] || slices.ContainsFunc(folder.calls[f.name], func(c testCall) bool {
		switch c.pkg {
		case "":
			c.pkg = f.pkg
		case "testcase", "testdump", "testheap":
			c.pkg = "internal/test/" + c.pkg
		default:
			return false
		}
		return marks(folders, seen, c)
	})
}

// callsOfTests reads the test files of a folder, and all files of the shared packages of tests.
func callsOfTests(folder string) (testCalls, error) {
	out := testCalls{calls: map[string][]testCall{}, sets: map[string]bool{}}
	pattern := "*_test.go"
	if strings.HasPrefix(filepath.ToSlash(folder), "internal/test/test") {
		pattern = "*.go"
	}
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		return out, err
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return out, err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					if n.Name == "AttrCase" {
						out.sets[f.Name.Name] = true
					}
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok {
						out.calls[f.Name.Name] = append(out.calls[f.Name.Name], testCall{x.Name, n.Sel.Name})
					}
				case *ast.CallExpr:
					if x, ok := n.Fun.(*ast.Ident); ok {
						out.calls[f.Name.Name] = append(out.calls[f.Name.Name], testCall{"", x.Name})
					}
				}
				return true
			})
		}
	}
	return out, nil
}
