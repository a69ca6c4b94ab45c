// Package testdump opens real dumps for tests: the canned ones of
// testdata/dumps, and a corpus of larger ones where there is one. Each is
// opened once a test binary, and by the first test that wants it.
package testdump

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo"
)

// A Dump is an open dump with what is known about it.
type Dump struct {
	*sosgo.Dump
	Case
}

// A Case is a dump on disk.
type Case struct {
	Name     string
	Dir      string // its folder
	Path     string // its file, perhaps compressed
	Modules  string // folder with module files; empty for canned dumps, which need none
	Canned   bool
	Manifest Manifest
}

// Options are how tests open the case: from nothing but what belongs to it.
func (c *Case) Options() sosgo.Options {
	o := sosgo.Options{NoLocalFiles: true}
	if c.Modules != "" {
		o.Modules = []string{c.Modules}
	}
	return o
}

// HasHeap reports whether the dump was written with the GC heap, of a runtime
// that this reads.
func (c *Case) HasHeap() bool {
	return (c.Manifest.Kind == "full" || c.Manifest.Kind == "withheap") && c.HasRuntime()
}

// HasRuntime reports whether the process had a runtime with metadata:
// NativeAOT has none.
func (c *Case) HasRuntime() bool { return !c.Manifest.NativeAOT() }

// Each calls f for each canned dump and, without -short, for each case of the
// corpus.
func Each(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	Canned(t, f)
	if !testing.Short() {
		corpus, err := corpusCases()
		if err != nil {
			t.Fatal(err)
		}
		run(t, corpus, f)
	}
}

// Canned calls f for each canned dump, each in a subtest of its own.
func Canned(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	cases, err := cannedCases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	run(t, cases, f)
}

// Corpus calls f for each case of the corpus that SOSGO_CORPUS names, or that
// stands beside the module; the test is skipped where there is none, and with
// -short.
func Corpus(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	cases, err := corpusCases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 || testing.Short() {
		t.Skip("no corpus: set SOSGO_CORPUS to a folder of unpacked cases")
	}
	run(t, cases, f)
}

// Open returns the canned dump of that name. The test is skipped where the
// canned dumps are not at hand.
func Open(t testing.TB, name string) *Dump {
	t.Helper()
	cases, err := cannedCases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	i := slices.IndexFunc(cases, func(c *opener) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no canned dump %s", name)
	}
	return cases[i].must(t)
}

func run(t *testing.T, cases []*opener, f func(t *testing.T, d *Dump)) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { f(t, c.must(t)) })
	}
}

// An opener opens its case once.
type opener struct {
	Case
	open func() (*Dump, error)
}

func newOpener(c Case) *opener {
	return &opener{c, sync.OnceValues(func() (*Dump, error) {
		if err := c.unpack(); err != nil {
			return nil, err
		}
		d, err := sosgo.Open(c.Path, c.Options())
		return &Dump{d, c}, err
	})}
}

func (o *opener) must(t testing.TB) *Dump {
	t.Helper()
	d, err := o.open()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// cannedCases lists testdata/dumps.
var cannedCases = sync.OnceValues(func() ([]*opener, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return casesIn(filepath.Join(root, "testdata", "dumps"), true)
})

// casesIn lists the folders of dir that have a manifest.
func casesIn(dir string, canned bool) ([]*opener, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
	if err != nil {
		return nil, err
	}
	var out []*opener
	for _, file := range files {
		m, err := readManifest(file)
		if err != nil {
			return nil, err
		}
		c := Case{Name: m.Name, Dir: filepath.Dir(file), Canned: canned, Manifest: m}
		c.Path = filepath.Join(c.Dir, m.Dump)
		if m.Modules != "" {
			c.Modules = filepath.Join(c.Dir, m.Modules)
		}
		out = append(out, newOpener(c))
	}
	return out, nil
}

// Raw returns the unpacked file of the case.
func (c *Case) Raw() ([]byte, error) {
	b, err := os.ReadFile(c.Path)
	if err != nil || filepath.Ext(c.Path) != ".zst" {
		return b, err
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(b, nil)
}

// moduleRoot is the folder of this module, found from the folder in which the
// test runs.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "sosgo.go")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the test does not run inside the module")
		}
		dir = parent
	}
}
