package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// tested are the subjects of TestDamage: one of each container, system and GC, with and without a
// heap, and without memory. The sample has every second one.
var tested = []string{"net10-zoo", "net8-zoo", "win-net10-zoo-triage", "net10-crash-null-triage.zst", "crash report", "stacks alone"}

// TestDamage examines six dumps, or a sample of three, with each kind of damage. CI examines 500
// damaged dumps; docs/robustness.md describes a run of 5,000.
func TestDamage(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	if len(all) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	sampled(t)
	for _, name := range testcase.Sample(t, tested, 2) {
		t.Run(name, func(t *testing.T) {
			if !slices.ContainsFunc(all, func(s source) bool { return s.name == name }) && name == "stacks alone" {
				t.Attr(testcase.AttrNoCorpus, "true")
				t.Skip("there are no dumps of other programs")
			}
			e := newExaminer(t, all, name)
			if name == "net10-zoo" {
				everyCommandIsRun(t, e)
			}
			for n := range kinds {
				require.NoError(t, e.examine(uint64(n)))
			}
			for _, f := range e.tally.Findings {
				t.Error(f)
			}
			require.Equal(t, len(kinds), e.tally.Cases)
		})
	}
}

// sampled reduces what other parts of a test repeat, unless the tests are complete: numbers of
// workers, and openings of undamaged dumps.
func sampled(t *testing.T) {
	counts, lines := jobCounts, linesPerOpening
	t.Cleanup(func() { jobCounts, linesPerOpening = counts, lines })
	jobCounts = testcase.Sample(t, jobCounts, 2)
	if !testcase.Complete() {
		linesPerOpening *= 8
	}
}

// newExaminer returns the examiner of one subject.
func newExaminer(t testing.TB, all []source, name string) *examiner {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	e := &examiner{seed: 1, tally: newTally(), say: func(string, ...any) {}}
	e.dog = watch(patience, func(what, stacks string) { panic(what + "\n" + stacks) })
	for i := range all {
		if all[i].name == name {
			s, err := all[i].load(tmp, e)
			require.NoError(t, err)
			e.s = s
			return e
		}
	}
	t.Fatalf("there is no subject %s", name)
	return nil
}

// everyCommandIsRun checks that each command has lines and each line is run.
func everyCommandIsRun(t *testing.T, e *examiner) {
	t.Helper()
	has := map[string]bool{}
	for _, l := range e.s.lines {
		has[l.command] = true
	}
	for _, c := range commands.All() {
		if c.NeedsDump && !c.Serves && !has[c.Name] {
			t.Errorf("no line of %s", c.Name)
		}
	}
	run := map[string]bool{}
	for n := range uint64(len(e.s.lines)/linesPerCase + 1) {
		for _, l := range e.chosen(newRandom(1, n), n) {
			run[l.text] = true
		}
	}
	for _, l := range e.s.lines {
		if !run[l.text] {
			t.Errorf("%s has no turn", l.text)
		}
	}
}

// TestSameCase: a seed and a number identify a case exactly, and damage is undone.
func TestSameCase(t *testing.T) {
	all, err := sources()
	require.NoError(t, err)
	if len(all) == 0 {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	sampled(t)
	a, b := newExaminer(t, all, "win-net10-zoo-triage"), newExaminer(t, all, "win-net10-zoo-triage")
	require.NotEmpty(t, a.s.lines)
	sound := append([]byte(nil), a.s.raw...)
	for n := range uint64(3 * len(kinds)) {
		k := kinds[n%uint64(len(kinds))]
		var damaged [2][]byte
		for i, e := range []*examiner{a, b} {
			random := newRandom(e.seed, n)
			mend, raw, _, err := e.damage(random, k, e.chosen(random, n), n)
			require.NoError(t, err)
			damaged[i] = append([]byte(nil), raw...)
			mend()
		}
		require.Equal(t, damaged[0], damaged[1], "case %d", n)
	}
	require.Equal(t, sound, a.s.raw)
}
