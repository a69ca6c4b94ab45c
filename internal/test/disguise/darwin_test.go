package disguise_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/test/disguise"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// darwinDumps are the dumps to convert: with regions and segments of the heap, a crash, waiting
// threads, and a single-file app on ARM64.
var darwinDumps = []string{"net10-zoo", "net10-arm64", "net10-crash-nested", "net10-stacks"}

// onDarwin are answers that differ for a core of macOS, and why.
var onDarwin = map[string]string{
	"DescribeRuntimes": "the names of the files",
	"Images":           "the names of the files, and the assemblies, which no list has",
	"Summary":          "the file, the system and the name of the process",
	"GC":               "the name of the library",
	"Memory":           "a Mach-O core lists what it stores, and an ELF core also the memory that it leaves out",
	"Process":          "the path of the program; an ELF core has its name alone",
}

// TestDarwinAnswers compares the answers for macOS cores with those for the original Linux dumps.
func TestDarwinAnswers(t *testing.T) {
	for _, name := range testcase.Sample(t, darwinDumps, 2) {
		t.Run(name, func(t *testing.T) {
			c := testdump.Open(t, name)
			d := disguise.OpenDarwin(t, c.Plain(), c.Options(), nil)
			require.Equal(t, "Mach-O core", d.Target().Process().Container)
			require.Equal(t, target.OSDarwin, d.Target().Platform().OS)
			require.Empty(t, d.Target().Warnings())
			but := maps.Clone(onDarwin)
			if _, ok := c.Target().Exception(); ok {
				for _, name := range []string{"Crash", "OSThreads", "Triage"} {
					but[name] = "no signal is recorded"
				}
			}
			compare(t, c.Dump, d, but)
		})
	}
}

// TestDarwinEleven compares the answers for macOS cores with a runtime in the form of .NET 11 with
// those for the original Linux dumps of .NET 10.
func TestDarwinEleven(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net10-crash-nested"} {
		t.Run(name, func(t *testing.T) {
			c := testdump.Open(t, name)
			file := filepath.Join(t.TempDir(), "core")
			require.NoError(t, os.WriteFile(file, disguise.DarwinCore(t, c.Plain()).Bytes(), 0o600))
			d := disguise.Open(t, file, c.Options())
			require.Equal(t, target.OSDarwin, d.Target().Platform().OS)
			rt, err := d.Runtime()
			require.NoError(t, err)
			require.Contains(t, strings.Join(rt.LayoutSources(), "\n"), "supplement11")
			but := maps.Clone(onDarwin)
			maps.Copy(but, different)
			if _, ok := c.Target().Exception(); ok {
				for _, name := range []string{"Crash", "OSThreads", "Triage"} {
					but[name] = "no signal is recorded"
				}
			}
			compare(t, c.Dump, d, but)
		})
	}
}

// TestDarwinRuntime finds the runtime by the symbols of its Mach-O image, and its own contract
// descriptor.
func TestDarwinRuntime(t *testing.T) {
	for _, name := range darwinDumps {
		c := testdump.Open(t, name)
		d := disguise.OpenDarwin(t, c.Plain(), c.Options(), nil)
		rt, err := d.Runtime()
		require.NoError(t, err)
		require.Contains(t, rt.LayoutSources()[0], "contract descriptor in the dump", name)
		require.Contains(t, strings.Join(rt.LayoutSources(), "\n"), "of another system", name)
		want, err := c.Runtime()
		require.NoError(t, err)
		assert.Equal(t, want.Instance().Version(), rt.Instance().Version())
		assert.Equal(t, want.Instance().SingleFile, rt.Instance().SingleFile)
		for _, p := range rt.Probes() {
			assert.Equal(t, dac.ProbePassed, p.Result, "%s: %s", p.Name, p.Detail)
		}
	}
}

// TestDarwinFacts compares the heap with the dumped programs' facts about their objects.
func TestDarwinFacts(t *testing.T) {
	compared := 0
	for _, name := range darwinDumps {
		c := testdump.Open(t, name)
		d := disguise.OpenDarwin(t, c.Plain(), c.Options(), nil)
		h, err := d.Heap()
		require.NoError(t, err)
		for _, f := range c.Manifest.Objects() {
			o, err := h.ObjectAt(f.Addr)
			require.NoError(t, err, f.Name)
			got, err := h.Runtime().TypeName(o.Type.Addr, dac.NameManaged)
			require.NoError(t, err)
			assert.Equal(t, testdump.ManagedName(f.Type), got, f.Name)
			compared++
		}
		for _, f := range c.Manifest.Types() {
			got, err := h.Runtime().TypeName(f.Addr, dac.NameManaged)
			require.NoError(t, err)
			assert.Equal(t, testdump.ManagedName(f.Name), got)
			compared++
		}
	}
	assert.Greater(t, compared, 100)
}

// TestDarwinStacks compares the managed frames of all threads. Native frames between them are not
// compared: they have no unwind data in a Mach-O image, and Linux libraries have no frame pointers,
// which the ABI of macOS requires.
func TestDarwinStacks(t *testing.T) {
	frames := 0
	for _, name := range darwinDumps {
		c := testdump.Open(t, name)
		want := managedFrames(t, c.Dump)
		got := managedFrames(t, disguise.OpenDarwin(t, c.Plain(), c.Options(), nil))
		assert.Equal(t, want, got, name)
		frames += len(want)
	}
	assert.Greater(t, frames, 100)
}

// managedFrames lists the managed frames of all threads.
func managedFrames(t *testing.T, d *sosgo.Dump) []string {
	threads, err := d.Threads()
	require.NoError(t, err)
	var out []string
	for i := range threads {
		if threads[i].Managed == nil {
			continue
		}
		for f := range d.Default().Walk(t.Context(), &threads[i], stackwalk.WalkOptions{}) {
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			md, err := f.Method()
			require.NoError(t, err)
			method, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
			require.NoError(t, err)
			out = append(out, fmt.Sprintf("%x %v %v %s", threads[i].ID(), f.IP, f.SP, method))
		}
	}
	return out
}

// without returns a change that removes segments.
func without(taken func(addr uint64) bool) func(*synth.MachOCore) {
	return func(core *synth.MachOCore) {
		core.Segments = slices.DeleteFunc(core.Segments, func(s synth.MachOSegment) bool { return taken(s.Addr) })
	}
}

// TestDarwinWithoutList opens the process without the dynamic linker's list: images are found by
// their headers.
func TestDarwinWithoutList(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	d := disguise.OpenDarwin(t, c.Plain(), c.Options(), without(func(a uint64) bool { return a>>40 == 0x5f || a == 0x7fffffff10000000 }))
	rt, err := d.Runtime()
	require.NoError(t, err)
	require.Equal(t, "10.0.1426.52326", rt.Instance().Version())
	threads, err := rt.Threads()
	require.NoError(t, err)
	assert.Len(t, threads, 5)
}

// TestDarwinWithoutIDs opens cores in the kernel's form, without thread ids: each managed thread is
// found by a stack pointer on its stack, so that its frames are the same.
func TestDarwinWithoutIDs(t *testing.T) {
	for _, name := range darwinDumps {
		c := testdump.Open(t, name)
		whole := disguise.OpenDarwin(t, c.Plain(), c.Options(), nil)
		d := disguise.OpenDarwin(t, c.Plain(), c.Options(), without(func(a uint64) bool { return a == 0x7fffffff00000000 }))
		require.Len(t, d.Target().Warnings(), 1)
		require.ErrorContains(t, d.Target().Warnings()[0], "does not record the ids of threads")
		ids := map[uint32]uint32{0: 0} // by the number in place of the id
		for i, th := range d.Target().Threads() {
			require.True(t, th.Numbered)
			require.Equal(t, uint32(i+1), th.ID)
			ids[th.ID] = whole.Target().Threads()[i].ID
		}
		rt, err := d.Runtime()
		require.NoError(t, err, name)
		threads, err := rt.Threads()
		require.NoError(t, err)
		plain, err := whole.Runtime()
		require.NoError(t, err)
		want, err := plain.Threads()
		require.NoError(t, err)
		require.Len(t, threads, len(want))
		matched := 0
		for i := range threads {
			if threads[i].ByStack {
				assert.Equal(t, want[i].OSID, ids[threads[i].OSID], "%s: thread %d", name, threads[i].ManagedID)
				matched++
			}
		}
		assert.Positive(t, matched, name)
		for _, p := range rt.Probes() {
			assert.Equal(t, dac.ProbePassed, p.Result, "%s: %s", p.Name, p.Detail)
			if p.Name == "ThreadStore" {
				assert.Contains(t, p.Detail, "by their stacks")
			}
		}
		// The lines of a thread begin with its id.
		frames := func(d *sosgo.Dump) []string {
			out := managedFrames(t, d)
			for i := range out {
				_, out[i], _ = strings.Cut(out[i], " ")
			}
			slices.Sort(out)
			return out
		}
		assert.Equal(t, frames(whole), frames(d), name)
	}
}

// TestDarwinDamage cuts the core and changes its load commands: opening may fail, and no answer
// panics.
func TestDarwinDamage(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	raw := disguise.DarwinCore(t, c.Plain()).Bytes()
	refused, answered := 0, 0
	try := func(b []byte) {
		d, err := sosgo.OpenReaderAt(target.BytesSource(b), int64(len(b)), c.Options())
		if err != nil {
			refused++
			return
		}
		defer d.Close()
		v, err := d.View("")
		if err != nil {
			return
		}
		if _, err := crash.Describe(t.Context(), v.Process, crash.Options{}); err == nil {
			answered++
		}
		_, _ = stacks.OSThreads(t.Context(), v.Process)
		_, _ = locks.Locks(t.Context(), v.Process, locks.Options{})
	}
	n := 16
	if testing.Short() {
		n = 6
	}
	for i := range n {
		try(raw[:len(raw)*i/n])
		at := 32 + i*29147/n
		old := raw[at]
		raw[at] ^= 0x10
		try(raw)
		raw[at] = old
	}
	assert.Positive(t, refused)
	assert.Positive(t, answered)
}

// TestDarwinWanted checks that the runtime names the assemblies, which the core does not list,
// where their files would help.
func TestDarwinWanted(t *testing.T) {
	c := testdump.Open(t, "net10-zoo")
	v, err := disguise.OpenDarwin(t, c.Plain(), c.Options(), nil).View("")
	require.NoError(t, err)
	named := 0
	for _, f := range doctor.Of(v.Process, doctor.Options{}).Files {
		assert.NotEmpty(t, f.Path, f.Why)
		if strings.HasSuffix(f.Path, ".dll") {
			named++
		}
	}
	assert.Positive(t, named)
}
