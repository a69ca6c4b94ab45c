package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// untypedKinds are the fields of package answer that have a name of typedNames and are strings, with the reason.
var untypedKinds = map[string]string{
	"DomainHeap.Kind":       "a heading; dac.LoaderHeapKind has the type",
	"LoaderHeap.Kind":       "a heading; dac.LoaderHeapKind has the type",
	"ScrubbedKind.Kind":     "a heading",
	"ShrunkKind.Kind":       "a heading",
	"SecretKind.Kind":       "a heading",
	"SpecialThread.Kind":    "the runtime's name of the thread",
	"GroupHolder.Kind":      "a heading; graph.SourceKind has the type",
	"Fault.Kind":            "what verifyheap prints; heap.FaultKind has the type",
	"Method.Kind":           "what dumpmd prints; code.MethodKind has the type",
	"GCInfo.Kind":           "what gcinfo prints; code.Kind has the type",
	"Disassembly.Kind":      "what clru prints; code.Kind has the type",
	"RuntimeDiagnosis.Kind": "a title; dac.Flavor has the type",
	"TrackedEntities.State": "a name of EntityState, an enumeration of the program",
	"Lock.State":            "counts in words",
	"OperationWait.State":   "counts in words",
	"Request.State":         "the server's words",
}

// typedNames are the ends of the names of fields that hold one value of a set.
var typedNames = []string{"Kind", "Verdict", "Strength", "State", "Status"}

// TestKindsAreTyped checks that a field of package answer with a name of typedNames has a type of its own, so that
// importers find its values, and that each string type of the package has constants.
func TestKindsAreTyped(t *testing.T) {
	names, err := filepath.Glob("answer/*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, f)
		}
	}
	kinds := kindsIn(files)
	for field := range untypedKinds {
		assert.Contains(t, kinds.strings, field, "it is no string any more")
	}
	for _, field := range kinds.strings {
		assert.Contains(t, untypedKinds, field, "a string: give it a type with constants, or the list a reason")
	}
	assert.Greater(t, kinds.typed, 60)
	for name, constants := range kinds.types {
		assert.GreaterOrEqual(t, constants, 2, "constants of type %s", name)
	}
}

// TestKindsIn checks what TestKindsAreTyped finds.
func TestKindsIn(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", `package answer
type AKind string
const (
	A1 AKind = "1"
	A2 AKind = "2"
)
type T struct {
	Kind string
	LockState, Other string
	Verdict AKind
	List []struct { Status string }
	Text string
}`, parser.SkipObjectResolution)
	require.NoError(t, err)
	kinds := kindsIn([]*ast.File{f})
	assert.Equal(t, []string{"T.Kind", "T.LockState", "T.Status"}, kinds.strings)
	assert.Equal(t, 1, kinds.typed)
	assert.Equal(t, map[string]int{"AKind": 2}, kinds.types)
}

// kindsOf are the fields of a package with a name of typedNames.
type kindsOf struct {
	strings []string       // "Type.Field" of those that are strings
	typed   int            // how many are not
	types   map[string]int // the number of constants of each type that is a string
}

func kindsIn(files []*ast.File) *kindsOf {
	k := &kindsOf{types: map[string]int{}}
	var constants []string
	for _, f := range files {
		for _, d := range f.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if isString(s.Type) {
						k.types[s.Name.Name] = 0
					}
					ast.Inspect(s, func(n ast.Node) bool { k.add(s.Name.Name, n); return true })
				case *ast.ValueSpec:
					if name, ok := s.Type.(*ast.Ident); ok && d.Tok == token.CONST {
						constants = append(constants, name.Name)
					}
				}
			}
		}
	}
	for _, of := range constants {
		if _, ok := k.types[of]; ok {
			k.types[of]++
		}
	}
	slices.Sort(k.strings)
	return k
}

// add adds the names of a field.
func (k *kindsOf) add(of string, n ast.Node) {
	field, ok := n.(*ast.Field)
	if !ok {
		return
	}
	for _, name := range field.Names {
		switch {
		case !slices.ContainsFunc(typedNames, func(end string) bool { return strings.HasSuffix(name.Name, end) }):
		case isString(field.Type):
			k.strings = append(k.strings, of+"."+name.Name)
		default:
			k.typed++
		}
	}
}

func isString(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "string"
}
