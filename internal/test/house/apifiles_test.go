package house_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const apiFolder = "api"

// TestAPI compares the exported identifiers of the public packages with the files of folder api, one line each. A
// changed line affects importers. -update writes the files.
func TestAPI(t *testing.T) {
	want := apiFiles(t)
	if *update {
		writeAPI(t, want)
	}
	have := map[string]string{}
	kept, err := filepath.Glob(filepath.Join(apiFolder, "*.txt"))
	require.NoError(t, err)
	for _, file := range kept {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		have[filepath.Base(file)] = string(text)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		for _, change := range changedLines(have[name], want[name]) {
			t.Errorf("%s/%s: %s", apiFolder, name, change)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s/%s: there is no such package", apiFolder, name)
		}
	}
	if t.Failed() {
		t.Log("if this is intended: go test ./internal/test/house -run TestAPI -update")
	}
}

func writeAPI(t *testing.T, files map[string]string) {
	require.NoError(t, os.RemoveAll(apiFolder))
	require.NoError(t, os.Mkdir(apiFolder, 0o755))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(apiFolder, name), []byte(text), 0o644))
	}
}

// changedLines returns the lines that only one text has: with - if only in have, with + if only in want.
func changedLines(have, want string) (changes []string) {
	missing := map[string]bool{}
	for line := range strings.Lines(have) {
		missing[line] = true
	}
	for line := range strings.Lines(want) {
		if !missing[line] {
			changes = append(changes, "+ "+strings.TrimSpace(line))
		}
		delete(missing, line)
	}
	for _, line := range slices.Sorted(maps.Keys(missing)) {
		changes = append(changes, "- "+strings.TrimSpace(line))
	}
	return changes
}

// apiFiles returns the text of each file of the folder api by name. x.y.txt is for package x/y.
func apiFiles(t *testing.T) map[string]string {
	out, imported := map[string]string{}, sources(t)
	for _, dir := range publicFolders(t) {
		pkg, err := imported.Import(path.Join(modulePath, dir))
		require.NoError(t, err)
		lines := apiLines(pkg)
		for _, line := range lines {
			assert.NotContains(t, line, "invalid type", "%s: the type is of another module", dir)
		}
		out[strings.ReplaceAll(packageName(dir), "/", ".")+".txt"] = strings.Join(lines, "\n") + "\n"
	}
	return out
}

// publicFolders returns the folders of the packages that importers see.
func publicFolders(t *testing.T) (folders []string) {
	publicPackages(t, func(dir string, _ *ast.File, _ *token.FileSet) {
		if top, _, _ := strings.Cut(dir, "/"); top != "docs" && top != "ui" {
			folders = append(folders, dir)
		}
	})
	slices.Sort(folders)
	return slices.Compact(folders)
}

// apiLines returns a line for each exported identifier of a package, sorted by name. Fields and methods follow their
// type.
func apiLines(pkg *types.Package) (lines []string) {
	q := func(other *types.Package) string {
		if other == pkg {
			return ""
		}
		return other.Name()
	}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.Const:
			lines = append(lines, types.ObjectString(object, q)+" = "+object.Val().ExactString())
		case *types.TypeName:
			lines = append(lines, typeLines(object, q)...)
		default:
			lines = append(lines, types.ObjectString(object, q))
		}
	}
	return lines
}

// typeLines returns the lines of a type, its fields and its methods.
func typeLines(object *types.TypeName, q types.Qualifier) []string {
	declaration := types.ObjectString(object, q)
	if object.IsAlias() {
		return []string{declaration}
	}
	head := strings.TrimSuffix(declaration, types.TypeString(object.Type().Underlying(), q))
	switch under := object.Type().Underlying().(type) {
	case *types.Struct:
		lines := append([]string{head + "struct"}, fieldLines(object.Name(), under, q)...)
		return append(lines, methodLines(object, q)...)
	case *types.Interface:
		if under.IsMethodSet() {
			declaration = head + "interface"
		}
	}
	return append([]string{declaration}, methodLines(object, q)...)
}

// fieldLines returns the exported fields of a struct. It lists fields of an embedded struct only if the embedded type
// is unexported.
func fieldLines(owner string, s *types.Struct, q types.Qualifier) (lines []string) {
	for field := range s.Fields() {
		embedded, _ := dereferenced(field.Type()).Underlying().(*types.Struct)
		switch {
		case field.Exported() && field.Embedded():
			lines = append(lines, fmt.Sprintf("field %s embeds %s", owner, types.TypeString(field.Type(), q)))
		case field.Exported():
			lines = append(lines, fmt.Sprintf("field %s.%s %s", owner, field.Name(), types.TypeString(field.Type(), q)))
		case field.Embedded() && embedded != nil:
			lines = append(lines, fieldLines(owner, embedded, q)...)
		}
	}
	slices.Sort(lines)
	return lines
}

// methodLines returns the exported methods of a type, except methods promoted from exported embedded types.
func methodLines(object *types.TypeName, q types.Qualifier) (lines []string) {
	typ := object.Type()
	values := types.NewMethodSet(typ)
	all := values
	if !types.IsInterface(typ) {
		all = types.NewMethodSet(types.NewPointer(typ))
	}
	for method := range all.Methods() {
		function := method.Obj()
		switch {
		case !function.Exported() && types.IsInterface(typ):
			lines = append(lines, fmt.Sprintf("method (%s) has unexported methods", object.Name()))
		case function.Exported() && !promotedInSight(method):
			receiver := object.Name()
			if values.Lookup(function.Pkg(), function.Name()) == nil {
				receiver = "*" + receiver
			}
			lines = append(lines, fmt.Sprintf("method (%s) %s%s", receiver, function.Name(), strings.TrimPrefix(types.TypeString(function.Type(), q), "func")))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// promotedInSight reports whether a method comes from an exported embedded field. The line of that field covers it.
func promotedInSight(method *types.Selection) bool {
	if len(method.Index()) == 1 {
		return false
	}
	s := dereferenced(method.Recv()).Underlying().(*types.Struct)
	return s.Field(method.Index()[0]).Exported()
}

func dereferenced(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// A sourceImporter reads declarations of this module and of the standard library from source, for Linux on x64, so
// that the result is the same everywhere. Packages of other modules are empty.
type sourceImporter struct {
	fset     *token.FileSet
	build    build.Context
	packages map[string]*types.Package
}

// sources returns one importer for all tests.
func sources(t *testing.T) *sourceImporter {
	s, err := sharedImporter()
	require.NoError(t, err)
	return s
}

var sharedImporter = sync.OnceValues(func() (*sourceImporter, error) {
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", false
	goroot, err := exec.CommandContext(context.Background(), "go", "env", "GOROOT").Output() // a binary built with -trimpath does not know it
	linux.GOROOT = strings.TrimSpace(string(goroot))
	return &sourceImporter{token.NewFileSet(), linux, map[string]*types.Package{"unsafe": types.Unsafe}}, err
})

func (s *sourceImporter) Import(imported string) (*types.Package, error) {
	if pkg, ok := s.packages[imported]; ok {
		return pkg, nil
	}
	files, err := s.files(imported)
	if err != nil {
		return nil, err
	}
	// Declarations of other modules are unknown here, so the checker reports errors. The compiler finds real ones.
	conf := types.Config{Importer: s, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	pkg, _ := conf.Check(imported, s.fset, files, nil)
	s.packages[imported] = pkg
	return pkg, nil
}

func (s *sourceImporter) files(imported string) (files []*ast.File, err error) {
	dir, ok := s.folder(imported)
	if !ok {
		return nil, nil
	}
	found, err := s.build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// folder returns where the sources of a package are, or false if it belongs to another module.
func (s *sourceImporter) folder(imported string) (string, bool) {
	if dir, ok := strings.CutPrefix(imported, modulePath); ok {
		return filepath.Join(".", filepath.FromSlash(dir)), true
	}
	for _, root := range []string{"src", "src/vendor"} {
		dir := filepath.Join(s.build.GOROOT, filepath.FromSlash(root), filepath.FromSlash(imported))
		if _, err := os.Stat(dir); err == nil {
			return dir, true
		}
	}
	return "", false
}

// TestAPILines checks the lines of each kind of declaration.
func TestAPILines(t *testing.T) {
	const source = `package p

import "context"

type hidden struct{ Promoted int }

func (hidden) Also(context.Context) error { return nil }

type Kind uint8

const (
	First Kind = iota
	Second
)

const Text, number = "a\nb", 1

var Failed, other = error(nil), 1

type Pair[K comparable, V any] struct {
	Key    K
	Value  *V
	secret int
	hidden
	Stated
}

type Stated struct{}

func (Stated) Elsewhere()                             {}
func (p *Pair[K, V]) Set(key K, rest ...V) (was bool) { return false }
func (p Pair[K, V]) unseen()                          {}

type Walker interface {
	error
	Walk(f func(n int) bool) (int, error)
	sealed()
}

type Number interface{ ~int | ~string }

type Alias = Pair[string, int]

func New[T Number](ctx context.Context, list map[string][]T) (*Pair[T, Kind], error) { return nil, nil }
`
	s := sources(t)
	file, err := parser.ParseFile(s.fset, "p.go", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	pkg, err := (&types.Config{Importer: s, IgnoreFuncBodies: true}).Check("p", s.fset, []*ast.File{file}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{
		"type Alias = Pair[string, int]",
		"var Failed error",
		"const First Kind = 0",
		"type Kind uint8",
		"func New[T Number](ctx context.Context, list map[string][]T) (*Pair[T, Kind], error)",
		"type Number interface{~int | ~string}",
		"type Pair[K comparable, V any] struct",
		"field Pair embeds Stated",
		"field Pair.Key K",
		"field Pair.Promoted int",
		"field Pair.Value *V",
		"method (*Pair) Set(key K, rest ...V) (was bool)",
		"method (Pair) Also(context.Context) error",
		"const Second Kind = 1",
		"type Stated struct",
		"method (Stated) Elsewhere()",
		`const Text untyped string = "a\nb"`,
		"type Walker interface",
		"method (Walker) Error() string",
		"method (Walker) Walk(f func(n int) bool) (int, error)",
		"method (Walker) has unexported methods",
	}, apiLines(pkg))
}
