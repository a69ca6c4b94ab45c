// Package testdump opens real dumps for tests: the canned dumps in testdata/dumps, and a corpus of
// larger ones if there is one. Each is opened once per test binary, by the first test that needs
// it. Package testcase finds the files. Start reading at Open and Each.
package testdump

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// A Dump is an open dump and the facts about it.
type Dump struct {
	*sosgo.Dump
	*testcase.Case
}

// Frozen is the generation of objects in the frozen heap.
const Frozen = testcase.Frozen

// Address parses an address of the oracle. It returns 0 for anything else.
func Address(v any) target.Addr { return testcase.Address(v) }

// Options returns the options for tests: they use only files that belong to the dump.
func (d *Dump) Options() sosgo.Options { return options(d.Case) }

func options(c *testcase.Case) sosgo.Options {
	// All dumps of the corpus stay open, and their mappings do not fit into 32 bits.
	o := sosgo.Options{NoLocalFiles: true, NoMmap: strconv.IntSize == 32 && !testing.Short()}
	if c.Modules != "" {
		o.Modules = []string{c.Modules}
	}
	return o
}

// Each calls f for each canned dump and, without -short, for each case of the
// corpus.
func Each(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	Canned(t, f)
	eachOfCorpus(t, f)
}

// eachOfCorpus calls f for each case of the corpus, without -short.
func eachOfCorpus(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	if testing.Short() {
		return
	}
	cases, err := testcase.CorpusCases()
	if err != nil {
		t.Fatal(err)
	}
	run(t, cases, f)
}

// Canned calls f for each canned dump in its own subtest.
func Canned(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	run(t, canned(t), f)
}

// kinds are canned dumps of different containers, processors, collectors and amounts of memory.
var kinds = testcase.Named("net10-zoo", "net8-zoo", "net10-crash-null-triage", "win-net10-zoo", "net10-arm64")

// Kinds is Canned for one dump of each kind, or Canned if the tests are testcase.Complete.
func Kinds(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	cases := canned(t)
	if !testcase.Complete() {
		some := slices.DeleteFunc(slices.Clone(cases), func(c *testcase.Case) bool { return !kinds(c) })
		t.Logf("a sample: %d of %d dumps; SOSGO_COMPLETE=1 tries all", len(some), len(cases))
		cases = some
	}
	run(t, cases, f)
}

// KindsAndCorpus is Each for one canned dump of each kind, or Each if the tests are
// testcase.Complete.
func KindsAndCorpus(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	Kinds(t, f)
	eachOfCorpus(t, f)
}

func canned(t testing.TB) []*testcase.Case {
	t.Helper()
	cases, err := testcase.CannedCases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	return cases
}

// Corpus is testcase.Corpus with opened dumps.
func Corpus(t *testing.T, want testcase.Filter, f func(t *testing.T, d *Dump) int) {
	t.Helper()
	testcase.Corpus(t, want, func(t *testing.T, c *testcase.Case) int { return f(t, open(t, c)) })
}

// Both calls f for a canned dump and, without -short, for the cases of the corpus that want
// selects. The result of f is as in Corpus.
func Both(t *testing.T, name string, want testcase.Filter, f func(t *testing.T, d *Dump) int) {
	t.Helper()
	cases := []*testcase.Case{testcase.Canned(t, name)}
	if !testing.Short() {
		all, err := testcase.CorpusCases()
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, slices.DeleteFunc(slices.Clone(all), func(c *testcase.Case) bool { return !want(c) })...)
	}
	run(t, cases, func(t *testing.T, d *Dump) { testcase.Compared(t, f(t, d)) })
}

// Web calls f for the canned dumps of web servers and, without -short, for those in the corpus. The
// result of f is as in Corpus.
func Web(t *testing.T, f func(t *testing.T, d *Dump) int) {
	t.Helper()
	cases, err := testcase.CannedWeb()
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		all, err := testcase.CorpusCases()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if testcase.Named("web-*")(c) {
				cases = append(cases, c)
			}
		}
	}
	if len(cases) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	run(t, cases, func(t *testing.T, d *Dump) { testcase.Compared(t, f(t, d)) })
}

// OpenWeb is Open for the canned dumps of web servers.
func OpenWeb(t testing.TB, name string) *Dump {
	t.Helper()
	cases, err := testcase.CannedWeb()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(cases, func(c *testcase.Case) bool { return c.Name == name })
	if i < 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	return open(t, cases[i])
}

// Native calls f for the canned dumps of NativeAOT programs.
func Native(t *testing.T, f func(t *testing.T, d *Dump)) {
	t.Helper()
	cases, err := testcase.CannedNative()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range canned(t) {
		if c.Manifest.NativeAOT() {
			cases = append(cases, c)
		}
	}
	run(t, cases, f)
}

// CorpusRuntimes is Corpus for the cases with a supported runtime, which excludes NativeAOT.
func CorpusRuntimes(t *testing.T, f func(t *testing.T, d *Dump) int) {
	t.Helper()
	Corpus(t, (*testcase.Case).HasRuntime, f)
}

// OpenCase returns the named case of the corpus.
func OpenCase(t testing.TB, name string) *Dump {
	t.Helper()
	return open(t, testcase.Open(t, name))
}

// Open returns the named canned dump. It skips the test if the canned dumps are not available.
func Open(t testing.TB, name string) *Dump {
	t.Helper()
	return open(t, testcase.Canned(t, name))
}

func run(t *testing.T, cases []*testcase.Case, f func(t *testing.T, d *Dump)) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Attr(testcase.AttrCase, c.Name)
			f(t, open(t, c))
		})
	}
}

// dumps maps each case to a function that opens it once.
var dumps sync.Map // *testcase.Case → func() (*Dump, error)

func open(t testing.TB, c *testcase.Case) *Dump {
	t.Helper()
	once, _ := dumps.LoadOrStore(c, sync.OnceValues(func() (*Dump, error) {
		if err := c.Unpack(); err != nil {
			return nil, err
		}
		plain := c.Plain()
		d, err := sosgo.Open(plain, options(c))
		if err == nil && plain != c.Path {
			d.File().Path, d.File().Compressed = c.Path, "zstd"
		}
		return &Dump{d, c}, err
	}))
	d, err := once.(func() (*Dump, error))()
	if err != nil {
		t.Fatal(err)
	}
	return d
}
