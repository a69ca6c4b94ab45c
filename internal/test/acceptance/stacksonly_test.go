package acceptance_test

import (
	"encoding/binary"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// openStacksOnly opens a dump without any of the runtime's data.
func openStacksOnly(t *testing.T, raw []byte, o sosgo.Options) (*sosgo.Dump, *sosgo.View) {
	t.Helper()
	o.NoLocalFiles = true
	d, err := sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	require.True(t, v.StacksOnly())
	_, err = v.Runtime()
	require.ErrorIs(t, err, target.ErrNotInDump)
	require.ErrorAs(t, err, new(*dac.StacksOnlyError))
	return d, v
}

// TestGameServers: a crash reporter's minidumps of a process with a CLR have the runtime's version,
// a stack for each thread, and a signature for each place of death. Data that the dump can't have
// are refused with the reason, without a warning about other data.
func TestGameServers(t *testing.T) {
	signatures := map[string]string{}
	for name, top := range map[string]string{"1": "libcoreclr.so+0x372f38", "2": "swiftlys2.so+0x414452", "5": "libcoreclr.so+0x373050"} {
		raw := testcase.Foreign(t, "game-server__"+name+".dmp")
		d, v := openStacksOnly(t, raw, sosgo.Options{})
		require.Len(t, d.Runtimes(), 1)
		assert.Equal(t, "10.0.0", d.Runtimes()[0].Version())
		assert.Equal(t, "build id 8a4a22884b211673a2fbc3dd10f4e6a1897d29a9", d.Runtimes()[0].Identity.String())
		s, err := summary.Summary(t.Context(), v.Process, summary.Options{})
		require.NoError(t, err)
		assert.Empty(t, s.Noted())
		assert.Equal(t, top, s.Top)
		assert.NotContains(t, signatures, s.Signature)
		signatures[s.Signature] = name

		list, err := v.Threads()
		require.NoError(t, err)
		assert.Greater(t, len(list), 60)
		generated := 0
		for i := range list {
			frames := 0
			for f := range v.NativeWalker().Walk(t.Context(), nil, list[i].OS.Registers, stackwalk.WalkOptions{}) {
				frames++
				assert.True(t, frames == 1 || f.Trust < unwind.TrustUnwind, "without module files all but the first frame is a guess")
				if f.Generated {
					generated++
				}
			}
			assert.Greater(t, frames, 1, "thread %x", list[i].ID())
		}
		assert.Greater(t, generated, 10)
		for line, code := range map[string]int{"info": 0, "crashinfo": 0, "clrstack": 0, "clrstack -all": 0, "threads": 0, "modules": 0,
			"eeversion": 0, "doctor": 0, "runtimes": 0, "stacks": 0, "dumpheap -stat": cli.ExitNotInDump, "clrthreads": cli.ExitNotInDump,
			"dumpstack": cli.ExitNotInDump, "parallelstacks": cli.ExitNotInDump, "waits": cli.ExitNotInDump} {
			got := runLines(t.Context(), raw, 1, line)
			assert.Equal(t, code, got.code, line)
			if code != 0 {
				assert.Contains(t, got.stderr, "the dump holds stacks and none of the data of .NET 10.0.0 (libcoreclr.so)", line)
				assert.Contains(t, got.stderr, "dump of kind heap or full", line)
			} else if line != "eeversion" {
				assert.Empty(t, got.stderr, line)
			}
		}
		doctor := runArgs(t.Context(), raw, "-d", "dump", "doctor")
		assert.Contains(t, doctor.stdout, "the catalogue does not have this build; its layout for the version is a candidate")
	}
}

// TestStacksOnly compares the stacks of a dump with only stacks with the whole dump's. With module
// files, each frame that was not found by a scan is right, precompiled methods have names, and few
// frames are lost. Without module files each frame is marked.
func TestStacksOnly(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-stacks-full"), func(t *testing.T, whole *testdump.Dump) int {
		type place struct{ ip, sp target.Addr }
		truth := map[place][]string{} // without and with the frame's type arguments
		wv, err := whole.View("")
		require.NoError(t, err)
		list, err := wv.Threads()
		require.NoError(t, err)
		w, err := wv.Walker()
		require.NoError(t, err)
		for i := range list {
			if list[i].OS == nil {
				continue
			}
			for f := range w.Walk(t.Context(), list[i].Managed, list[i].OS.Registers, stackwalk.WalkOptions{Native: true}) {
				if f.Kind == stackwalk.FrameExplicit {
					continue
				}
				name, _ := f.Name()
				names := []string{name}
				if f.Kind == stackwalk.FrameManaged {
					md, err := f.Method()
					require.NoError(t, err)
					shared, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
					require.NoError(t, err)
					names = append(names, shared)
				}
				truth[place{f.IP, f.SP}] = names
			}
		}
		raw := testdump.StacksOnly(whole.Dump)
		d, v := openStacksOnly(t, raw, whole.Options())
		symbols := d.Symbols()
		frames, generated, named, instances := 0, 0, 0, 0
		for _, th := range d.Target().Threads() {
			for f := range v.NativeWalker().Walk(t.Context(), nil, th.Registers, stackwalk.WalkOptions{}) {
				frames++
				if f.Trust == unwind.TrustScan {
					continue
				}
				names, ok := truth[place{f.IP, f.SP}]
				assert.True(t, ok, "thread %x: %v is no frame: ip %v, sp %v", th.ID, f.Trust, f.IP, f.SP)
				if f.Generated {
					generated++
				} else if s, ok := symbols.At(f.IP); ok && strings.HasSuffix(s.Module.Path, ".dll") && s.Name != "" {
					named++
					assert.Contains(t, names, s.Name)
					if strings.Contains(s.Name, "[[") {
						instances++
					}
				}
			}
		}
		t.Logf("%d of %d frames, %d generated, %d precompiled by name, %d of them instances", frames, len(truth), generated, named, instances)
		assert.Greater(t, frames, len(truth)*9/10)
		assert.Greater(t, generated, 200)
		assert.Greater(t, named, 50)

		_, alone := openStacksOnly(t, raw, sosgo.Options{})
		for _, th := range d.Target().Threads() {
			n := 0
			for f := range alone.NativeWalker().Walk(t.Context(), nil, th.Registers, stackwalk.WalkOptions{}) {
				n++
				assert.True(t, n == 1 || f.Trust < unwind.TrustUnwind)
			}
			assert.Positive(t, n)
		}
		return frames
	})
}

// TestReturnAddressProof: return addresses on stacks prove the file of an assembly, and disprove
// another build's.
func TestReturnAddressProof(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-stacks-full"), func(t *testing.T, whole *testdump.Dump) int {
		raw := testdump.StacksOnly(whole.Dump)
		const name = "System.Private.CoreLib.dll"
		for folder, proved := range map[string]bool{whole.Case.Modules: true, filepath.Join(filepath.Dir(whole.Case.Modules), "net9-linux"): false} {
			if _, err := filepath.Glob(folder); err != nil {
				t.Skip(err)
			}
			_, v := openStacksOnly(t, raw, sosgo.Options{Modules: []string{folder}})
			found := false
			for _, f := range doctor.Of(v.Process, doctor.Options{}).Used {
				if strings.HasSuffix(f.Path, name) {
					found = true
					assert.Contains(t, f.Proof, "return addresses on stacks follow a call")
				}
			}
			assert.Equal(t, proved, found, folder)
		}
		return 2
	})
}

// TestForeignRuntimes: a process with a runtime of another family is recognized, and what can be
// read of it is read.
func TestForeignRuntimes(t *testing.T) {
	for path, want := range map[string]string{
		`C:\Windows\Microsoft.NET\Framework64\v4.0.30319\clr.dll`: "the process runs the .NET Framework 4 (clr.dll)",
		`C:\game\MonoBleedingEdge\mono-2.0-bdwgc.dll`:             "the process runs Unity's Mono",
		`C:\game\KSP_Data\Mono\mono.dll`:                          "the process runs Unity's Mono (mono.dll), which sosgo does not read",
		`C:\game\GameAssembly.dll`:                                "the process runs code that Unity's IL2CPP compiled (GameAssembly.dll), which sosgo does not read",
		`C:\Windows\System32\ntdll.dll`:                           "no .NET runtime found among 1 modules",
	} {
		m := synth.NewMinidump()
		m.SystemInfo(9)
		list := []synth.MinidumpModule{{Base: 0x7ff600000000, Size: 0x1000, Path: path}}
		if strings.Contains(path, "game") { // headers of a program are not in a normal minidump, and nothing shows that it is no single file
			list = append(list, synth.MinidumpModule{Base: 0x7ff700000000, Size: 0x1000, Path: `C:\game\game.exe`})
		}
		m.Modules(list...)
		got := runLines(t.Context(), m.Bytes(), 1, "dumpheap -stat")
		assert.Equal(t, cli.ExitUnsupported, got.code, path)
		assert.Contains(t, got.stderr, want)
	}
}

// TestNarrowProcesses: dumps of 32-bit processes are rejected as such. For a Windows process,
// questions that need no CLR are answered.
func TestNarrowProcesses(t *testing.T) {
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpX86)
	m.Modules(synth.MinidumpModule{Base: 0x10000000, Size: 0x1000, Path: `C:\dotnet\shared\Microsoft.NETCore.App\10.0.0\coreclr.dll`, Version: [4]uint16{10, 0, 1, 1}})
	got := runLines(t.Context(), m.Bytes(), 1, "dumpheap -stat")
	assert.Equal(t, cli.ExitUnsupported, got.code)
	assert.Contains(t, got.stderr, "32-bit")
	got = runLines(t.Context(), m.Bytes(), 1, "modules")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, "coreclr.dll")

	arm := (&synth.ELFCore{Machine: 40, Segments: []synth.ELFSegment{{Addr: 0x10000, Data: make([]byte, 64), Flags: 4}}}).Bytes()
	arm[4] = 1 // ELFCLASS32
	got = runLines(t.Context(), arm, 1, "modules")
	assert.Equal(t, cli.ExitOpen, got.code)
	assert.Contains(t, got.stderr, "ELF core of a 32-bit process (arm)")
	assert.NotContains(t, got.stderr, "not a dump")
}

// TestModulesGrouped: a file that is mapped hundreds of times is one line.
func TestModulesGrouped(t *testing.T) {
	m := synth.NewMinidump()
	m.SystemInfo(9)
	list := []synth.MinidumpModule{{Base: 0x10000, Size: 0x1000, Path: "/lib/one.so"}}
	for i := range uint64(300) {
		list = append(list, synth.MinidumpModule{Base: 0x7000_0000 + i<<16, Size: 0x1000, Path: "/memfd:doublemapper (deleted)"})
	}
	m.Modules(list...)
	got := runLines(t.Context(), m.Bytes(), 1, "modules")
	assert.Equal(t, 3, strings.Count(got.stdout, "\n"), got.stdout)
	assert.Contains(t, got.stdout, "0000000070000000 0012c000 /memfd:doublemapper (deleted) (300 mappings up to 00000000712b0000, with their total size)")
}

// TestPrecompiledNames compares an image's names of precompiled code with the runtime's names of
// prepared methods: at the start of every fifth function, and before its end.
func TestPrecompiledNames(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-stacks-full"), func(t *testing.T, whole *testdump.Dump) int {
		rt, err := whole.Runtime()
		require.NoError(t, err)
		r := dac.CodeOf(rt)
		compared, instances, funclets, foreign := 0, 0, 0, 0
		for _, m := range whole.Target().Modules() {
			img, err := image.OpenMemory(rt.Memory(), &m)
			if err != nil {
				continue
			}
			p, err := dac.OpenPrecompiled(img, m.Base)
			if err != nil {
				continue
			}
			h, err := img.ReadyToRun()
			require.NoError(t, err)
			at, _ := h.Section(102)
			table, err := img.BytesRVA(at.RVA, int(at.Size))
			require.NoError(t, err)
			const stride = 12
			for ; len(table) > 0; table = table[min(5*stride, len(table)):] {
				for _, ip := range []target.Addr{m.Base + target.Addr(binary.LittleEndian.Uint32(table)), m.Base + target.Addr(binary.LittleEndian.Uint32(table[4:])) - 1} {
					info, err := r.MethodAt(ip)
					if err != nil {
						continue // the process has not prepared the method
					}
					want, err := r.MethodName(info.Method, dac.MethodFull)
					require.NoError(t, err)
					name, start := p.At(ip)
					if name == "" {
						foreign++
						continue
					}
					compared++
					assert.Equal(t, want, name, "%s, function at %v", m.Path, ip)
					assert.Equal(t, info.Start, start, want)
					if strings.Contains(want, "[[") {
						instances++
					}
					if info.Funclet {
						funclets++
					}
				}
			}
		}
		t.Logf("%d names are equal, %d of instances, %d of funclets; %d are of other images", compared, instances, funclets, foreign)
		assert.Greater(t, instances, 30)
		assert.Greater(t, funclets, 20)
		return compared
	})
}

// TestWindowsWithoutRecordOrFiles: in a Windows dump without an exception stream the current thread
// is the one that died. Answers without module files say what would help.
func TestWindowsWithoutRecordOrFiles(t *testing.T) {
	testdump.Corpus(t, testcase.Named("win-net10-ae-null-withheap"), func(t *testing.T, d *testdump.Dump) int {
		raw := slices.Clone(mustRaw(t, d))
		le := binary.LittleEndian
		const exceptionStream, unused = 6, 0x7777
		directory := raw[le.Uint32(raw[12:]):]
		for i := range le.Uint32(raw[8:]) {
			if entry := directory[12*i:]; le.Uint32(entry) == exceptionStream {
				le.PutUint32(entry, unused)
			}
		}
		got := runLines(t.Context(), raw, 1, "threads")
		assert.Regexp(t, `(?m)^\*\d+ .*"crashing worker"`, got.stdout)
		got = runLines(t.Context(), raw, 1, "clrma")
		crashed := regexp.MustCompile(`OSThreadId: (\w+)`).FindStringSubmatch(got.stdout)
		require.NotNil(t, crashed)
		assert.Contains(t, runLines(t.Context(), raw, 1, "crashinfo").stdout, "0x"+crashed[1]+" crashing worker")
		for _, line := range []string{"requests", "waits", "tasks"} {
			got := runLines(t.Context(), raw, 1, line)
			assert.Contains(t, got.stderr, "--modules DIR", line)
			assert.NotContains(t, got.stdout, "[proved]", line)
			assert.NotContains(t, got.stdout, "No such request", line)
		}
		return 1
	})
}
