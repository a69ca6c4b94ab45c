// Package testcase finds dumps for tests: the canned dumps in testdata/dumps, and the corpus of
// larger ones, with their module files and the results of other tools (the oracle). It knows only
// files and memory (Overlay), so that the tests of every package can use it; package testdump opens
// the dumps. Start reading at Case.
//
// The corpus is the folder in SOSGO_CORPUS, or ../shared/corpus next to the module. Without it,
// tests that need it are skipped with one reason. With it, a test that gets no case, or compares
// nothing in a case, fails.
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

// A Case is a dump on disk and the facts about it.
type Case struct {
	Name     string
	Dir      string // its folder
	Path     string // the file; for the corpus, after Unpack, the unpacked one
	Modules  string // folder with module files; empty for canned dumps, which need none
	Canned   bool
	Manifest Manifest

	unpacked func() error
	plain    func() (string, error)
}

// HasHeap reports whether the dump contains the GC heap of a supported runtime.
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

// A Filter selects cases; nil selects all.
type Filter func(*Case) bool

// Named selects cases with names that match a pattern of path.Match.
func Named(patterns ...string) Filter {
	return func(c *Case) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, c.Name); return ok })
	}
}

// OnLinux selects cases of Linux processes.
func OnLinux(c *Case) bool { return c.Manifest.OS == "linux" }

// OnWindows selects cases of Windows processes.
func OnWindows(c *Case) bool { return c.Manifest.OS == "windows" }

// Attributes of tests in the output of "go test -json", read by internal/test/tools/health: the
// dump that a test uses, and whether the test was skipped because there is no corpus.
const (
	AttrCase     = "case"
	AttrNoCorpus = "no-corpus"
)

// Corpus calls f for each unpacked case of the corpus that want selects, in its own subtest. f
// returns how many facts it compared: a case without any fails, unless f skips it with a reason.
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

// NeedModules skips a case without module files.
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

// Canned returns the named canned dump. It skips the test if the canned dumps are not available.
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

// Open returns the named case of the corpus, unpacked.
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

// corpus lists the corpus. Without a corpus it skips the test.
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

// CorpusCases lists the corpus by name. It is empty without a corpus; a folder in SOSGO_CORPUS
// without cases is an error.
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

// corpusDir returns the folder of the corpus, or "".
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

// Shared returns the folder with the corpus, the tools and the programs. It skips the test if there
// is none.
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

// CannedCases lists testdata/dumps by name. It is empty if this module is a dependency, because the
// dumps are a separate module.
var CannedCases = sync.OnceValues(func() ([]*Case, error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	return casesIn(filepath.Join(root, "testdata", "dumps"), true)
})

// CannedWeb lists testdata/dumps/web like CannedCases: dumps of web servers. They are slices with
// only the memory for requests, pools and collections.
var CannedWeb = sync.OnceValues(func() ([]*Case, error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	return casesIn(filepath.Join(root, "testdata", "dumps", "web"), true)
})

// CannedNative lists testdata/dumps/nativeaot like CannedCases: crashes of NativeAOT programs of
// other versions.
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

// Plain returns the path of the unpacked file of a canned dump without a manifest, like Case.Plain.
// It returns any other path unchanged.
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

// casesIn lists the folders of dir with a manifest.
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

// ModuleRoot returns the folder of this module, searching upwards from the folder in which the test
// runs.
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
