package agreement

import (
	"cmp"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/floors"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

var (
	raise  = flag.Bool("raise", false, "write the floors that rose")
	corpus = flag.Bool("corpus", false, "compare the whole dumps of the corpus")
)

// TestCanned compares sosgo with SOS and the data-access library on every canned dump with their
// answers. No section may agree less than its floor, and every line that differs from SOS must have
// a cause.
func TestCanned(t *testing.T) {
	cases, err := testcase.CannedCases()
	require.NoError(t, err)
	web, err := testcase.CannedWeb()
	require.NoError(t, err)
	if len(cases) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	tested := 0
	for _, c := range testcase.Sample(t, slices.Concat(cases, web), 3) {
		a, err := ReadArchive(c.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err, c.Name)
		tested++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			t.Attr(testcase.AttrCase, c.Name)
			p := Open(c, 1, time.Minute)
			defer func() { assert.NoError(t, p.Close()) }()
			now, wrong := compareCase(t, p, c, a, causesOf(t))
			hold(t, filepath.Join(c.Dir, FloorsName), now, wrong)
		})
	}
	least := 5
	if testcase.Complete() {
		least = 17
	}
	require.GreaterOrEqual(t, tested, least)
}

// compareCase returns the agreement by section, and the wrong answers.
func compareCase(t *testing.T, p *Program, c *testcase.Case, facts Facts, causes *Causes) (now Floors, wrong map[string][]string) {
	now, wrong = Floors{}, map[string][]string{}
	scores, err := CompareFacts(p, c, facts, "", 10)
	require.NoError(t, err)
	for _, s := range scores {
		now["oracle/"+s.Section] = Count{s.Right, s.Asked}
		wrong["oracle/"+s.Section] = s.Wrong
	}
	files, err := facts.SOS()
	require.NoError(t, err)
	for _, r := range CompareAllSOS(p, files) {
		r.File = filepath.Join(cmp.Or(c.Manifest.Source, c.Name), "sos", r.File)
		name := "sos/" + r.Verb()
		now[name] = Count{now[name].Right + r.Same, now[name].All + r.Want}
		wrong[name] = append(wrong[name], r.Diff...)
		unknown, _ := causes.Unexplained(r)
		assert.Empty(t, unknown, "%s: lines of %q differ from SOS without a cause in causes.txt", r.File, r.Commands)
	}
	return now, wrong
}

// TestCorpus compares sosgo with both on the whole dumps of the corpus. No dump may agree less than its floor in
// .ci/floors, and every line that differs from SOS must have a cause.
func TestCorpus(t *testing.T) {
	if !*corpus {
		t.Skip("-corpus is not set")
	}
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	causes, now := causesOf(t), map[string]float64{}
	testcase.Corpus(t, nil, func(t *testing.T, c *testcase.Case) int {
		p := Open(c, 2, 2*time.Minute)
		defer func() { assert.NoError(t, p.Close()) }()
		sections, wrong := compareCase(t, p, c, Folder(c.Dir), causes)
		all := map[string]Count{}
		for name, n := range sections {
			tool, _, _ := strings.Cut(name, "/")
			all[tool] = Count{all[tool].Right + n.Right, all[tool].All + n.All}
			if n.Right < n.All {
				t.Logf("%s: %d of %d agree:\n%s", name, n.Right, n.All, strings.Join(wrong[name][:min(3, len(wrong[name]))], "\n"))
			}
		}
		for tool, n := range all {
			now[tool+" "+c.Name] = floors.Percent(n.Right, n.All)
		}
		return len(sections)
	})
	low, err := floors.Hold(filepath.Join(root, ".ci", "floors"), now, 0, *raise)
	require.NoError(t, err)
	assert.False(t, low, "a dump agrees less than before")
	for _, text := range causes.Unused() {
		t.Logf("no line has this cause any more: %s", text)
	}
}

func causesOf(t *testing.T) *Causes {
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs", "differences.md"))
	require.NoError(t, err)
	causes, err := ReadCauses(string(text))
	require.NoError(t, err)
	return causes
}

// hold compares the agreement with the floors in a file, or raises them.
func hold(t *testing.T, file string, now Floors, wrong map[string][]string) {
	floors, err := ReadFloors(file)
	require.NoError(t, err)
	if *raise {
		floors.Raise(now)
		require.NoError(t, floors.Write(file))
	}
	for name, floor := range floors {
		got := now[name]
		assert.Equal(t, floor.All, got.All, "%s: the number of facts changed", name)
		assert.GreaterOrEqual(t, got.Right, floor.Right, "%s: %d of %d agree, fewer than before:\n%s",
			name, got.Right, got.All, strings.Join(wrong[name][:min(30, len(wrong[name]))], "\n"))
	}
	for name := range now {
		assert.Contains(t, floors, name, "there is no floor: go test ./internal/test/agreement -raise")
	}
}

// TestWrongFacts changes facts of a dump: each change must reduce the right answers in its section.
func TestWrongFacts(t *testing.T) {
	c := testcase.Canned(t, "net10-zoo")
	a, err := ReadArchive(c.Dir)
	require.NoError(t, err)
	p := Open(c, 2, time.Minute)
	defer func() { assert.NoError(t, p.Close()) }()
	for _, change := range testcase.Sample(t, []struct{ section, file, old, new string }{
		{"objects", "objects", `"size":24,`, `"size":32,`},
		{"heapstat", "heapstat", `"count":1,`, `"count":2,`},
		{"segments", "segments", `"objects":["0x7`, `"objects":["0x6`},
		{"threads", "threads", `"Preemptive"`, `"Cooperative"`},
		{"values", "values", `"value":3}`, `"value":4}`},
		{"values", "values", `"value":1.5}`, `"value":1.6}`},
		{"values", "values", `"value":null}`, `"value":{"object":"0x10"}}`},
		{"types", "types", `"base":"0x7`, `"base":"0x6`},
		{"methods", "methods", `"code":"0xffffffffffffffff"`, `"code":"0x7f07a4ccf1c0"`},
		{"modules", "modules", `System.Private.CoreLib`, `System.Private.CoreLob`},
		{"exceptions", "exceptions", `"hresult":"0x8007000e"`, `"hresult":"0x8007000f"`},
		{"syncblocks", "syncblocks", `"thread":"0x5`, `"thread":"0x4`},
		{"stacks", "stacks", `"name":"Main"`, `"name":"Mein"`},
		{"strings", "objects", `"string":"System`, `"string":"Sistem`},
	}, 2) {
		rows, ok, err := a.Rows(change.file)
		require.NoError(t, err)
		require.True(t, ok)
		text := strings.Join(textsOf(rows), "\n")
		require.Contains(t, text, change.old, change.section)
		altered := NewArchive()
		altered.AddRows(change.file, rowsOf([]byte(strings.ReplaceAll(text, change.old, change.new))))
		scores, err := CompareFacts(p, c, altered, change.section, 1)
		require.NoError(t, err)
		require.Len(t, scores, 1, change.section)
		require.Less(t, scores[0].Right, scores[0].Asked, "%s: %s", change.section, change.new)
		require.NotEmpty(t, scores[0].Wrong)
	}
}

func textsOf(rows [][]byte) (out []string) {
	for _, r := range rows {
		out = append(out, string(r))
	}
	return out
}

func TestNormalise(t *testing.T) {
	require.Equal(t, []string{"0x7f00 abc12 0000 zz12345", "0 é00012345"},
		Normalise("Loading core dump: x\r\n  0x00007F00   000ABC12\t0000 zz12345\n\n WARNING: this\n00000000 é00012345 \u2028\n"))
	require.Equal(t, []string{"7f0000001000"}, Normalise("00007f00`00001000"))
}

func TestBlocks(t *testing.T) {
	words := func(s string) []string { return strings.Split(s, "") }
	require.Equal(t, []block{{0, 0, 1}, {2, 1, 3}}, blocks(words("axbcdy"), words("abcdz")))
	require.Empty(t, blocks(words("abc"), words("xyz")))
	require.Equal(t, []block{{0, 1, 2}}, blocks(words("abab")[:2], words("xabab")))

	c := &Comparison{}
	c.compare(words("axb"), words("ayb"))
	require.Equal(t, 2, c.Same)
	require.Equal(t, []string{"@@ -2,1 +2,1 @@", "-x", "+y"}, c.Diff)
}

func TestParseSOS(t *testing.T) {
	f := parseSOS("a.txt", "$ setthread 1\r\n$ DumpObj  x\nName: y\n")
	require.Equal(t, SOSFile{"a.txt", []string{"setthread 1", "DumpObj  x"}, "Name: y\n"}, f)
	require.Equal(t, "dumpobj", f.Verb())
	require.Equal(t, f, parseSOS("a.txt", f.String()))
}
