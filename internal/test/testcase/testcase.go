// Package testcase is the one place where tests find dumps on disk: the canned
// ones of testdata/dumps, and the corpus of larger ones, with the module files
// that belong to them and what other tools said about them (the oracle).
//
// The corpus is the folder that SOSGO_CORPUS names, or ../shared/corpus beside
// the module, packed or not. Where there is none, tests that want it are
// skipped with one reason. Where there is one, a test that gets no case from
// it, or compares nothing in a case, fails.
//
// It knows files and memory (an Overlay) alone and nothing of how dumps are read,
// so that the tests of every package can use it; package testdump opens them.
package testcase

import (
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A Case is a dump on disk with what is known about it.
type Case struct {
	Name     string
	Dir      string // its folder
	Path     string // its file; of the corpus, once Unpack ran, the plain one
	Modules  string // folder with module files; empty for canned dumps, which need none
	Canned   bool
	Manifest Manifest

	unpacked func() error
	plain    func() (string, error)
}

// HasHeap reports whether the dump was written with the GC heap, of a runtime
// that this reads.
func (c *Case) HasHeap() bool {
	return (c.Manifest.Kind == "full" || c.Manifest.Kind == "withheap") && c.HasRuntime()
}

// HasRuntime reports whether the process had a CLR, which has metadata. NativeAOT has no metadata.
func (c *Case) HasRuntime() bool { return !c.Manifest.NativeAOT() }

// Raw returns the unpacked bytes of the dump.
func (c *Case) Raw() ([]byte, error) {
	b, err := os.ReadFile(c.Plain())
	if err != nil || !bytes.HasPrefix(b, zstdMagic) {
		return b, err
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(b, nil)
}

// A Filter picks cases; nil picks all.
type Filter func(*Case) bool

// Named picks the cases whose name matches one of the patterns of path.Match.
func Named(patterns ...string) Filter {
	return func(c *Case) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, c.Name); return ok })
	}
}

// OnLinux picks the cases of Linux processes.
func OnLinux(c *Case) bool { return c.Manifest.OS == "linux" }

// OnWindows picks the cases of Windows processes.
func OnWindows(c *Case) bool { return c.Manifest.OS == "windows" }

// Attributes of tests in the output of "go test -json", read by internal/test/tools/health:
// the dump that a test looks at, and whether the test was skipped for lack of a corpus.
const (
	AttrCase     = "case"
	AttrNoCorpus = "no-corpus"
)

// Corpus calls f for each case of the corpus that want picks, unpacked, in a
// subtest of its own. The number that f returns is how much it compared: a
// case in which nothing was compared fails, unless f skips it and says why.
func Corpus(t *testing.T, want Filter, f func(t *testing.T, c *Case) int) {
	t.Helper()
	cases := corpus(t)
	found := false
	for _, c := range cases {
		if want != nil && !want(c) {
			continue
		}
		found = true
		t.Run(c.Name, func(t *testing.T) {
			t.Attr(AttrCase, c.Name)
			c.mustUnpack(t)
			Compared(t, f(t, c))
		})
	}
	if !found {
		t.Fatal("the corpus has no case for this test")
	}
}

// NeedModules skips a case that has no module files.
func NeedModules(t testing.TB, c *Case) {
	t.Helper()
	if c.Modules == "" {
		t.Skip("the case has no module files")
	}
}

// Compared fails the test if nothing was compared.
func Compared(t testing.TB, n int) {
	t.Helper()
	if n == 0 && !t.Failed() {
		t.Error("nothing was compared: a case without anything to compare is to be skipped, with the reason")
	}
}

// Canned returns the canned dump of that name. The test is skipped where the canned dumps are not at hand.
func Canned(t testing.TB, name string) *Case {
	t.Helper()
	cases, err := CannedCases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	i := slices.IndexFunc(cases, func(c *Case) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no canned dump %s", name)
	}
	return cases[i]
}

// Open returns the case of the corpus of that name, unpacked.
func Open(t testing.TB, name string) *Case {
	t.Helper()
	cases := corpus(t)
	i := slices.IndexFunc(cases, func(c *Case) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("the corpus has no case %s", name)
	}
	t.Attr(AttrCase, name)
	cases[i].mustUnpack(t)
	return cases[i]
}

// corpus lists the corpus for a test that is nothing without it.
func corpus(t testing.TB) []*Case {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: the corpus is left out")
	}
	cases, err := CorpusCases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Attr(AttrNoCorpus, "true")
		t.Skip("no corpus: there is no ../shared/corpus beside the module, and SOSGO_CORPUS names none")
	}
	return cases
}

// CorpusCases lists the corpus, by name. There are none where there is no
// corpus; a folder without cases that SOSGO_CORPUS names is an error.
var CorpusCases = sync.OnceValues(func() ([]*Case, error) {
	dir, err := corpusDir()
	if err != nil || dir == "" {
		return nil, err
	}
	cases, err := casesIn(dir, false)
	if err == nil && len(cases) == 0 {
		err = errors.New(dir + " has no cases")
	}
	return cases, err
})

// corpusDir returns the folder of the corpus, or empty.
func corpusDir() (string, error) {
	if dir := os.Getenv("SOSGO_CORPUS"); dir != "" {
		return dir, nil
	}
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		return "", nil
	}
	return dir, nil
}

// Shared returns the folder that has the corpus, the tools and the programs. The test is skipped if there is none.
func Shared(t testing.TB) string {
	t.Helper()
	dir, err := corpusDir()
	if err != nil {
		t.Fatal(err)
	}
	if dir == "" {
		t.Attr(AttrNoCorpus, "true")
		t.Skip("no corpus")
	}
	return filepath.Dir(dir)
}

// CannedCases lists testdata/dumps, by name. There are none where this module
// is a dependency: they are a module of their own.
var CannedCases = sync.OnceValues(func() ([]*Case, error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	return casesIn(filepath.Join(root, "testdata", "dumps"), true)
})

// CannedWeb lists testdata/dumps/web, as CannedCases does: dumps of web servers, which are too large to answer everything, and
// have what requests, pools and collections are told by.
var CannedWeb = sync.OnceValues(func() ([]*Case, error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	return casesIn(filepath.Join(root, "testdata", "dumps", "web"), true)
})

// CannedNative lists testdata/dumps/nativeaot, as CannedCases does: crashes of NativeAOT programs of other versions.
var CannedNative = sync.OnceValues(func() ([]*Case, error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	return casesIn(filepath.Join(root, "testdata", "dumps", "nativeaot"), true)
})

// Load returns the case in a folder of the corpus.
func Load(dir string) (*Case, error) { return load(filepath.Join(dir, "manifest.json"), false) }

// LoadCanned returns the canned dump in a folder.
func LoadCanned(dir string) (*Case, error) { return load(filepath.Join(dir, "manifest.json"), true) }

// load returns the case of a manifest file.
func load(file string, canned bool) (*Case, error) {
	m, err := readManifest(file)
	if err != nil {
		return nil, err
	}
	c := &Case{Name: m.Name, Dir: filepath.Dir(file), Canned: canned, Manifest: m}
	c.Path = filepath.Join(c.Dir, m.Dump)
	if m.Modules != "" {
		c.Modules = filepath.Join(c.Dir, m.Modules)
	}
	c.unpacked = sync.OnceValue(c.unpack)
	c.plain = sync.OnceValues(c.unpackCanned)
	return c, nil
}

// Plain returns where a canned dump is unpacked that has no manifest, as Case.Plain does, and any other path as it is.
func Plain(path string) string {
	if !strings.HasSuffix(path, ".dmp.zst") {
		return path
	}
	return CannedFile(path).Plain()
}

// CannedFile returns the canned dump in a file without a manifest.
func CannedFile(path string) *Case {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	c := &Case{Name: name, Dir: filepath.Dir(path), Path: path, Canned: true}
	c.plain = sync.OnceValues(c.unpackCanned)
	return c
}

// casesIn lists the folders of dir that have a manifest.
func casesIn(dir string, canned bool) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
	if err != nil {
		return nil, err
	}
	var out []*Case
	for _, file := range files {
		c, err := load(file, canned)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// ModuleRoot returns the folder of this module, found from the folder in which the
// test runs.
func ModuleRoot() (string, error) {
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
