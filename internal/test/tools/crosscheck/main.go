// Command crosscheck type-checks this module's packages for other systems and processors.
//
//	crosscheck linux/386 freebsd/amd64 js/wasm:. …
//
// A target checks all packages, or the packages after a colon. It fails where the compiler would,
// for example on a missing file, or on a number that does not fit the target's int. It generates no
// code and takes a twentieth of the compiler's time, because other modules and the standard library
// are read without function bodies.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	failed := false
	for _, arg := range os.Args[1:] {
		n, err := check(arg)
		if err != nil {
			fmt.Fprintf(os.Stderr, "crosscheck: %s: %v\n", arg, err)
			failed = true
			continue
		}
		fmt.Printf("%s: %d packages\n", arg, n)
	}
	if failed || len(os.Args) == 1 {
		os.Exit(1)
	}
}

// check checks the packages of a target and returns their number, not counting other modules.
func check(arg string) (int, error) {
	target, pattern, chosen := strings.Cut(arg, ":")
	if !chosen {
		pattern = "./..."
	}
	system, processor, ok := strings.Cut(target, "/")
	sizes := types.SizesFor("gc", processor)
	if !ok || sizes == nil {
		return 0, errors.New("the target is not OS/ARCH")
	}
	packages, err := list(system, processor, pattern)
	if err != nil {
		return 0, err
	}
	c := checker{sizes: sizes, files: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}}
	n := 0
	for _, p := range packages { // in order of their imports
		if p.ImportPath == "unsafe" {
			continue
		}
		if err := c.check(p); err != nil {
			return n, err
		}
		if p.isOwn() {
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("%s has no packages of this module", pattern)
	}
	return n, nil
}

// A pkg is a package in the output of go list.
type pkg struct {
	ImportPath, Dir string
	GoFiles, SFiles []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

// isOwn reports whether the package belongs to the main module.
func (p *pkg) isOwn() bool { return p.Module != nil && p.Module.Main }

// list lists the packages that a pattern matches on a target and all their imports.
func list(system, processor, pattern string) ([]*pkg, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,Module", pattern)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []*pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := d.Decode(p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

// A checker checks the packages of one target.
type checker struct {
	sizes types.Sizes
	files *token.FileSet
	done  map[string]*types.Package
}

// check checks a package after its imports.
func (c *checker) check(p *pkg) error {
	var files []*ast.File
	var errs []error
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
		if p.isOwn() && len(p.SFiles) == 0 {
			errs = append(errs, c.bodiless(f)...)
		}
	}
	conf := types.Config{Sizes: c.sizes, Importer: importer{c.done, p.ImportMap}, IgnoreFuncBodies: !p.isOwn(),
		Error: func(err error) { errs = append(errs, err) }}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	c.done[p.ImportPath], _ = conf.Check(p.ImportPath, c.files, files, nil) // conf.Error collects the errors
	return errors.Join(errs...)
}

// bodiless returns an error for each function without a body in a file: go/types assumes that it is
// in assembly.
func (c *checker) bodiless(f *ast.File) (errs []error) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body == nil {
			errs = append(errs, fmt.Errorf("%s: missing function body", c.files.Position(d.Pos())))
		}
	}
	return errs
}

// An importer finds packages that were checked. vendor maps the import paths of packages that the
// standard library vendors.
type importer struct {
	done   map[string]*types.Package
	vendor map[string]string
}

// Import implements types.Importer.
func (i importer) Import(path string) (*types.Package, error) {
	if to := i.vendor[path]; to != "" {
		path = to
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s", path)
}
