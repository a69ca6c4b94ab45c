package house_test

import (
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// facts are functions with a bool that is a value or a fact, and not an option.
var facts = []string{"process.UnlessEmpty", "query.Bool", "query.SomeIf", "target.NewClaims"}

// TestOptions checks the style of options in public packages: a struct by value is the last parameter but for callbacks and what they fill in, with options of
// other packages at most one level deep. No exported function has a bool as a parameter, or a list of options.
func TestOptions(t *testing.T) {
	imported := sources(t)
	for _, dir := range publicFolders(t) {
		pkg, err := imported.Import(path.Join(modulePath, dir))
		require.NoError(t, err)
		for _, name := range pkg.Scope().Names() {
			object := pkg.Scope().Lookup(name)
			if !object.Exported() {
				continue
			}
			place := packageName(dir) + "." + name
			switch object := object.(type) {
			case *types.Func:
				checkOptions(t, place, object.Signature())
			case *types.TypeName:
				named, ok := object.Type().(*types.Named)
				if !ok {
					continue // an alias
				}
				for method := range named.Methods() {
					if method.Exported() {
						checkOptions(t, place+"."+method.Name(), method.Signature())
					}
				}
				if depth := optionDepth(named); depth > 1 {
					t.Errorf("%s: options are nested %d deep", place, depth)
				}
			}
		}
	}
}

func checkOptions(t *testing.T, name string, s *types.Signature) {
	for i := range s.Params().Len() {
		p := s.Params().At(i)
		last := i == s.Params().Len()-1
		typ := p.Type()
		if s.Variadic() && last {
			if typ = typ.(*types.Slice).Elem(); isOptions(typ) {
				t.Errorf("%s: a list of options", name)
			}
			continue
		}
		if b, ok := types.Unalias(typ).(*types.Basic); ok && b.Kind() == types.Bool && !slices.Contains(facts, name) {
			t.Errorf("%s: the parameter %s is a bool", name, p.Name())
		}
		if isOptions(typ) && !endsBefore(s.Params(), i+1) {
			t.Errorf("%s: %s is not the last parameter", name, p.Name())
		}
		if dereferenced(typ) != typ && isOptions(dereferenced(typ)) {
			t.Errorf("%s: %s is a pointer", name, p.Name())
		}
	}
}

// endsBefore reports whether only functions and pointers that a function fills in follow from parameter i on.
func endsBefore(params *types.Tuple, i int) bool {
	for ; i < params.Len(); i++ {
		switch types.Unalias(params.At(i).Type()).Underlying().(type) {
		case *types.Signature, *types.Pointer:
		default:
			return false
		}
	}
	return true
}

// isOptions reports whether t is a struct of options.
func isOptions(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	_, isStruct := named.Underlying().(*types.Struct)
	return isStruct && strings.HasSuffix(named.Obj().Name(), "Options")
}

// optionDepth returns how many levels of options a struct of options contains.
func optionDepth(t types.Type) (depth int) {
	if !isOptions(t) {
		return 0
	}
	for field := range t.Underlying().(*types.Struct).Fields() {
		if typ := dereferenced(field.Type()); field.Exported() && isOptions(typ) {
			depth = max(depth, 1+optionDepth(types.Unalias(typ)))
		}
	}
	return depth
}
