package acceptance_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Bare cores are slices of typical production dumps: they have no page of a file that the process
// did not write to. The cores with filter 0x33, of gdb and of the kernel, have the headers of ELF
// files; the core with 0x23 does not.
const (
	bareDumps  = "testdata/dumps/bare"
	bareFilter = "net10-zoo-gcore"
	bareKernel = "net10-zoo-kernel"
	barest     = "net10-zoo-g23"
)

func openBare(t *testing.T, name string, modules ...string) *sosgo.Dump {
	t.Helper()
	path := filepath.Join(bareDumps, name, name+".dmp.zst")
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true, Modules: modules})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d
}

func diagnose(t *testing.T, d *sosgo.Dump) *answer.Diagnosis {
	v, _ := d.View("") // without a runtime there is a diagnosis, too
	return doctor.Of(v.Process, doctor.Options{})
}

func wants(g *answer.Diagnosis, file string) bool {
	return slices.ContainsFunc(g.Files, func(f answer.WantedFile) bool { return target.BaseName(f.Path) == file })
}

// typeNames counts the types of the heap's objects with a name, and those with names that are not
// in the dump. Other errors fail the test.
func typeNames(t *testing.T, d *sosgo.Dump) (named []string, absent int) {
	rt, err := d.Runtime()
	require.NoError(t, err)
	h, err := d.Heap()
	require.NoError(t, err)
	seen := map[target.Addr]bool{}
	for obj, err := range h.Objects() {
		require.NoError(t, err)
		if seen[obj.Type.Addr] {
			continue
		}
		seen[obj.Type.Addr] = true
		name, err := rt.TypeName(obj.Type.Addr, dac.NameNative)
		if err != nil {
			assert.ErrorIs(t, err, target.ErrNotInDump)
			absent++
			continue
		}
		named = append(named, name)
	}
	return named, absent
}

// TestBareCore: without files the remaining data are reported as they are; with a proved file its
// names are added.
func TestBareCore(t *testing.T) {
	for _, name := range []string{bareFilter, bareKernel} {
		named, absent := typeNames(t, openBare(t, name))
		assert.Greater(t, absent, 100, name)
		assert.Less(t, len(named), 5, "what the runtime itself names")
		g := diagnose(t, openBare(t, name))
		assert.True(t, wants(g, "Debuggee.dll"), name)
		assert.Empty(t, g.Used, name)

		// Follow doctor's advice for the one file that is available.
		d := openBare(t, name, filepath.Join(bareDumps, "modules"))
		named, _ = typeNames(t, d)
		assert.Contains(t, named, "Debuggee.Zoo.Everything", name)
		g = diagnose(t, d)
		assert.False(t, wants(g, "Debuggee.dll"), name)
		require.Len(t, g.Used, 1, name)
		assert.Equal(t, "structure: 82 of 82 types and 63 of 63 tables of the metadata fit", g.Used[0].Proof, name)
	}

	// Even the runtime's library is unknown without its file.
	d := openBare(t, barest)
	_, err := d.Runtime()
	assert.ErrorIs(t, err, target.ErrNotInDump)
	assert.True(t, wants(diagnose(t, d), "libcoreclr.so"))
}

// TestBareCoreRefuses: another build of an assembly, in the place of the right one, is rejected
// with the difference.
func TestBareCoreRefuses(t *testing.T) {
	right, err := os.ReadFile(filepath.Join(bareDumps, "modules", "Debuggee.dll"))
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	for name, c := range map[string]struct {
		other []byte
		want  string
	}{
		"attributes of a type": {otherType(t, right), "of 82 types differ"},
		"a longer file":        {append(slices.Clone(right), make([]byte, 64<<10)...), "the process mapped a file of at most 61440 bytes"},
		"a shorter file":       {right[:len(right)/2], "Debuggee.dll"},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Debuggee.dll"), c.other, 0o600))
		d := openBare(t, bareFilter, dir)
		named, _ := typeNames(t, d)
		assert.NotContains(t, named, "Debuggee.Zoo.Everything", name)
		g := diagnose(t, d)
		require.Len(t, g.Used, 1, name)
		assert.Empty(t, g.Used[0].File)
		require.Len(t, g.Used[0].Refused, 1)
		assert.Contains(t, g.Used[0].Refused[0], c.want, name)
	}
}

// otherType returns the file with a changed attribute of one type.
func otherType(t *testing.T, file []byte) []byte {
	img, err := image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	blob, err := img.Metadata()
	require.NoError(t, err)
	off, ok := img.FileOffset(blob.RVA)
	require.True(t, ok)
	md, err := metadata.Parse(blob.Data)
	require.NoError(t, err)
	token, ok := md.FindTypeDef("Debuggee.Zoo.Everything")
	require.True(t, ok)
	before, err := md.TypeDef(token.Row())
	require.NoError(t, err)
	out := slices.Clone(file)
	for i := int(off); i < int(off)+len(blob.Data); i++ {
		out[i] ^= 1
		if md, err := metadata.Parse(out[off : int(off)+len(blob.Data)]); err == nil {
			row, err := md.TypeDef(token.Row())
			if err == nil && row.Flags != before.Flags && row.Name == before.Name {
				return out
			}
		}
		out[i] ^= 1
	}
	t.Fatal("no byte is that attribute")
	return nil
}

// followAdvice copies files that doctor requests from set to dir until it requests no more. It
// returns their number.
func followAdvice(t *testing.T, set, dir string, doctor func() *answer.Diagnosis) int {
	t.Helper()
	n := 0
	for rounds := 0; ; rounds++ {
		g := doctor()
		if len(g.Files) == 0 {
			return n
		}
		require.Less(t, rounds, 4, "the advice does not end: %v", g.Files)
		for _, f := range g.Files {
			b, err := os.ReadFile(filepath.Join(set, target.BaseName(f.Path)))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, target.BaseName(f.Path)), b, 0o600))
			n++
		}
	}
}

// TestAdviceOfSmallDumps follows doctor's advice exactly for mini and triage dumps of both systems.
// With the requested files, names and precompiled code are complete, and more frames have a method.
// Data that are in no file are reported.
func TestAdviceOfSmallDumps(t *testing.T) {
	small := func(c *testcase.Case) bool {
		return (c.Manifest.Kind == "normal" || c.Manifest.Kind == "triage") && c.HasRuntime()
	}
	testcase.Corpus(t, small, func(t *testing.T, c *testcase.Case) int {
		dir := t.TempDir()
		open := func() *sosgo.Dump {
			d, err := sosgo.Open(c.Plain(), sosgo.Options{Offline: true, Modules: []string{dir}})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, d.Close()) })
			return d
		}
		before := open()
		g := diagnose(t, before)
		require.Equal(t, answer.PartHeap, g.Parts[0].Part)
		assert.NotEqual(t, answer.PartWhole, g.Parts[0].State)
		assert.Contains(t, g.Parts[0].Advice, "a dump of kind heap or full")

		n := followAdvice(t, c.Modules, dir, func() *answer.Diagnosis { return diagnose(t, open()) })
		after := open()
		for _, p := range diagnose(t, after).Parts {
			if p.Part == answer.PartMetadata && strings.Contains(p.Detail, "Reflection.Emit") {
				assert.Empty(t, p.Advice, "the runtime has no known place for it: no dump helps")
				assert.Equal(t, "net8-stacks-triage", c.Name, "it alone has a module of Reflection.Emit")
				assert.Contains(t, p.Detail, "18 of 19 modules")
			} else if p.Part == answer.PartMetadata || p.Part == answer.PartCode {
				assert.Equal(t, answer.PartWhole, p.State, "%s: %s", p.Part, p.Detail)
			}
		}
		named, nameless := framesNamed(t, before)
		more, less := framesNamed(t, after)
		assert.NotZero(t, more)
		assert.GreaterOrEqual(t, more, named)
		assert.LessOrEqual(t, less, nameless)
		assert.Zero(t, less, "frames without a method")
		return n
	})
}

// framesNamed counts the managed frames of all threads with a method's name, and those without one
// or with an error of the walk.
func framesNamed(t *testing.T, d *sosgo.Dump) (named, nameless int) {
	threads, err := d.Threads()
	require.NoError(t, err)
	for _, thread := range threads {
		for f := range d.MergedWalk(t.Context(), thread.ID(), stackwalk.WalkOptions{}) {
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			if err == nil {
				_, err = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
			}
			if err != nil || f.Err != nil {
				nameless++
			} else {
				named++
			}
		}
	}
	return named, nameless
}

// TestBareCoreWhole follows doctor's advice exactly with the corpus's module files: everything has
// a name, as in a full dump. All files of another version are rejected.
func TestBareCoreWhole(t *testing.T) {
	set := testcase.ModuleSet(t, "net10-linux")
	for name, proofs := range map[string]map[string]int{
		bareFilter: {"structure": 12},
		bareKernel: {"structure": 1, "time stamp and size": 8}, // the process wrote to their header pages
		barest:     {"structure": 12},
	} {
		t.Attr(testcase.AttrCase, name)
		dir := t.TempDir()
		followAdvice(t, set, dir, func() *answer.Diagnosis { return diagnose(t, openBare(t, name, dir)) })
		d := openBare(t, name, dir)
		named, absent := typeNames(t, d)
		assert.Zero(t, absent)
		assert.Greater(t, len(named), 150)
		g := diagnose(t, d)
		for _, p := range g.Parts {
			if p.Part == answer.PartStacks {
				continue // the slice has those that the commands walked
			}
			assert.Equal(t, answer.PartWhole, p.State, "%s of %s: %s", p.Part, name, p.Detail)
		}
		got := map[string]int{}
		for _, f := range g.Used {
			kind, _, _ := strings.Cut(f.Proof, ": ")
			got[kind]++
			assert.Empty(t, f.Refused)
		}
		assert.Equal(t, proofs, got, name)

		d = openBare(t, name, testcase.ModuleSet(t, "net9-linux"))
		if _, err := d.Runtime(); err != nil {
			assert.True(t, errors.Is(err, target.ErrNotInDump) && name == barest, err)
		}
		for _, f := range diagnose(t, d).Used {
			assert.Empty(t, f.File, "a file of another version stands for %s", f.Path)
			assert.NotEmpty(t, f.Refused)
		}
	}
}
