package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// publicPackages calls f with each file of the public packages.
func publicPackages(t *testing.T, f func(dir string, file *ast.File, fset *token.FileSet)) {
	eachFile(t, publicFiles, f)
}

// libraryPackages calls f with each file of the public packages and of those behind them that an importer's call reaches.
func libraryPackages(t *testing.T, f func(dir string, file *ast.File, fset *token.FileSet)) {
	eachFile(t, publicFiles, f)
	eachFile(t, innerFiles, f)
}

func eachFile(t *testing.T, list func() ([]publicFile, error), f func(dir string, file *ast.File, fset *token.FileSet)) {
	files, err := list()
	require.NoError(t, err)
	require.Greater(t, len(files), 100)
	for _, p := range files {
		f(p.dir, p.file, p.fset)
	}
}

type publicFile struct {
	dir  string
	file *ast.File
	fset *token.FileSet
}

// publicFiles and innerFiles parse their files once for all tests.
var (
	publicFiles = sync.OnceValues(func() ([]publicFile, error) { return filesBelow(".") })
	innerFiles  = sync.OnceValues(func() ([]publicFile, error) {
		return filesBelow("internal/app", "internal/disasm", "internal/dump", "internal/export", "internal/files/symbolserver", "internal/heapdiff", "internal/image", "internal/stresslog", "internal/threads")
	})
)

// filesBelow parses the files of packages in folders, without tests, commands, and internal packages below the folders.
func filesBelow(folders ...string) (files []publicFile, err error) {
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if name := d.Name(); d.IsDir() && (name == "testdata" || name == "internal" || name == "cmd" || strings.HasPrefix(name, ".") && name != ".") {
				return fs.SkipDir
			}
			if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files = append(files, publicFile{path.Clean(filepath.ToSlash(filepath.Dir(p))), file, fset})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// TestNoInternalTypesInTheAPI: an importer can name every type in an exported declaration.
func TestNoInternalTypesInTheAPI(t *testing.T) {
	publicPackages(t, func(_ string, file *ast.File, fset *token.FileSet) {
		internal := map[string]bool{}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if strings.HasPrefix(imported, modulePath+"/internal/") {
				name := path.Base(imported)
				if spec.Name != nil {
					name = spec.Name.Name
				}
				internal[name] = true
			}
		}
		if len(internal) == 0 {
			return
		}
		for _, decl := range file.Decls {
			for _, node := range exportedTypes(decl) {
				ast.Inspect(node, func(n ast.Node) bool {
					if sel, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := sel.X.(*ast.Ident); ok && internal[x.Name] {
							t.Errorf("%s: an exported declaration has the type %s.%s", fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
						}
					}
					return true
				})
			}
		}
	})
}

// exportedTypes returns the type expressions in a declaration that are visible to an importer: in
// signatures, exported fields, variables and named types.
func exportedTypes(decl ast.Decl) []ast.Node {
	var out []ast.Node
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv.List[0].Type)) {
			out = append(out, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				if s.Type != nil && s.Names[0].IsExported() {
					out = append(out, s.Type)
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() && !s.Assign.IsValid() { // an alias is the name by which importers know a type
					out = append(out, typeParts(s.Type)...)
				}
			}
		}
	}
	return out
}

func typeParts(e ast.Expr) []ast.Node {
	st, ok := e.(*ast.StructType)
	if !ok {
		return []ast.Node{e}
	}
	var out []ast.Node
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 || f.Names[0].IsExported() {
			out = append(out, f.Type)
		}
	}
	return out
}

func exportedReceiver(e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// wellKnown are methods that need no comment because they implement a well-known interface.
var wellKnown = []string{"String", "Error", "Unwrap", "MarshalText", "MarshalJSON"}

// TestEverythingExportedIsDocumented covers functions, types and methods.
func TestEverythingExportedIsDocumented(t *testing.T) {
	publicPackages(t, func(_ string, file *ast.File, fset *token.FileSet) {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv.List[0].Type) && !slices.Contains(wellKnown, d.Name.Name)) {
					assert.NotNil(t, d.Doc, "%s: %s", fset.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() {
						assert.True(t, d.Doc != nil || s.Doc != nil, "%s: %s", fset.Position(s.Pos()), s.Name.Name)
					}
				}
			}
		}
	})
}

// TestEveryPackageHasAnExample: an example runs, so it can't become outdated. It is in the
// package's folder, or in its ondumps.
func TestEveryPackageHasAnExample(t *testing.T) {
	dirs := map[string]bool{}
	publicPackages(t, func(dir string, _ *ast.File, _ *token.FileSet) { dirs[dir] = true })
	for dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		more, err := filepath.Glob(filepath.Join(dir, "ondumps", "*_test.go"))
		require.NoError(t, err)
		found := false
		for _, name := range append(files, more...) {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				found = found || ok && strings.HasPrefix(f.Name.Name, "Example")
			}
		}
		assert.True(t, found, "package %s has no Example", dir)
	}
}
