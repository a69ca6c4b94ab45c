package minidump_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// Addresses in the sample process.
const (
	tebAddr   = 0x7f_0000_0000
	pebAddr   = tebAddr + 0x1000
	stackAddr = 0x12_0000_f000
	stackBase = stackAddr + 0x1000
	heapAddr  = 0x1a2_0000_0000
	exeAddr   = 0x7ff6_0000_0000
	dllAddr   = 0x7ff8_1000_0000
)

// allGroups are the context flags CONTROL, INTEGER, SEGMENTS, FLOATING_POINT.
const allGroups = 0x10000f

var (
	guid = [16]byte{0x78, 0x56, 0x34, 0x12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	regs = [16]uint64{10, 11, 12, 13, stackAddr + 0x100, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}
)

// page returns memory that begins with fields.
func page(fields ...any) []byte {
	b := make([]byte, 0x100)
	copy(b, synth.Fields(fields...))
	return b
}

// memory returns the memory of the sample process: TEB, PEB, process parameters and command line,
// stack and heap.
func memory() []synth.MinidumpRange {
	return []synth.MinidumpRange{
		{Addr: tebAddr, Data: page(uint64(0), uint64(stackBase), uint64(stackAddr-0x1000), make([]byte, 0x48), uint64(pebAddr))},
		{Addr: pebAddr, Data: page(make([]byte, 0x20), uint64(pebAddr+0x1000))},
		{Addr: pebAddr + 0x1000, Data: page(make([]byte, 0x70), uint16(10), uint16(12), uint32(0), uint64(pebAddr+0x2000))},
		{Addr: pebAddr + 0x2000, Data: page([]uint16{'a', '.', 'e', 'x', 'e', 0})},
		{Addr: stackAddr, Data: bytes.Repeat([]byte{0x5a}, 0x1000)},
		{Addr: heapAddr, Data: page(uint64(0x1122334455667788))},
		{Addr: heapAddr + 0x800, Data: page(uint64(1))},
		{Addr: dllAddr + 0x1000, Data: page(uint64(2))},
	}
}

// process adds all streams except memory.
func process(m *synth.Minidump) {
	m.SystemInfo(synth.MinidumpAMD64)
	context := synth.AMD64Context(allGroups, regs, dllAddr+0x1234, 0x246)
	m.Threads(
		synth.MinidumpThread{ID: 0x10, TEB: tebAddr, StackStart: stackAddr + 0x100, StackSize: 0xf00, Context: context},
		synth.MinidumpThread{ID: 0x14, Suspended: 1, TEB: 0xdead0000, StackStart: 0x5000, StackSize: 0x1000, Context: context},
	)
	m.ThreadInfo(
		synth.MinidumpThreadInfo{ID: 0x10, Created: 133_443_936_000_000_001, Kernel: 30, User: 40, Start: exeAddr + 0x10},
		synth.MinidumpThreadInfo{ID: 0x99, Flags: 4},
	)
	m.ThreadName(0x14, "wörker")
	m.Modules(
		synth.MinidumpModule{Base: exeAddr, Size: 0x1000, Path: `C:\app\a.exe`, Time: 0x11, CheckSum: 0x22},
		synth.MinidumpModule{Base: dllAddr, Size: 0x4000, Path: `C:\app\coreclr.dll`, Version: [4]uint16{10, 0, 1426, 52326},
			CodeView: synth.CodeViewRSDS(guid, 1, "coreclr.pdb")},
	)
	m.UnloadedModule(0x6000, 0x2000, 7, 8, "gone.dll")
	m.Exception(0x10, 0xe0434352, dllAddr+0x1000, []uint64{0x80004003, 0, 0, 0, dllAddr}, context)
	m.MiscInfo(5, 4242, 1_699_999_000)
	m.Handles(
		synth.MinidumpHandle{Value: 4, Type: "Event", Attributes: 1, Access: 0x1f0003, Count: 2, Points: 3},
		synth.MinidumpHandle{Value: 8, Type: "File", Name: `\Device\Null`, Access: 0x12019f, Count: 1, Points: 1},
	)
	m.Comment("taken by hand")
	m.Stream(19, make([]byte, 16))
	m.MemoryInfo(
		synth.MinidumpInfo{Start: heapAddr - 0x10000, Size: 0x10000, State: 0x10000, Protect: 1},
		synth.MinidumpInfo{Start: heapAddr, Size: 0x1000, State: 0x1000, Protect: 4, Type: 0x20000},
		synth.MinidumpInfo{Start: heapAddr + 0x1000, Size: 0x1000, State: 0x2000, Type: 0x40000},
		synth.MinidumpInfo{Start: dllAddr, Size: 0x1100, State: 0x1000, Protect: 0x20, Type: 0x1000000},
	)
}

// sample returns a valid dump with every stream that the reader decodes.
func sample() []byte {
	m := synth.NewMinidump()
	process(m)
	m.Memory64(memory()...)
	return m.Bytes()
}

func open(t testing.TB, b []byte) *minidump.File {
	f, err := minidump.Open(target.BytesSource(b))
	require.NoError(t, err)
	return f
}

func TestSniff(t *testing.T) {
	assert.True(t, minidump.Sniff([]byte("MDMP\x93\xa7")))
	assert.False(t, minidump.Sniff([]byte("MDM")))
	assert.False(t, minidump.Sniff([]byte("\x7fELF")))
}

func TestProcess(t *testing.T) {
	f := open(t, sample())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, target.Platform{OS: target.OSWindows, Arch: target.ArchAMD64, OSVersion: "10.0.19045", CPUs: 2}, f.Platform())
	assert.Equal(t, target.Process{ID: 4242, Command: "a.exe", Created: time.Unix(1_699_999_000, 0).UTC(),
		DumpTime: time.Unix(1_700_000_000, 0).UTC(), Container: "Windows minidump", Comment: "taken by hand",
		Times: &target.Times{User: 5 * time.Second, Kernel: 7 * time.Second}}, f.Process())
	assert.Equal(t, uint64(2), f.Flags())
}

func TestProcessWithoutPEB(t *testing.T) {
	m := synth.NewMinidump()
	process(m)
	m.Memory(synth.MinidumpRange{Addr: heapAddr, Data: page()})
	assert.Equal(t, `C:\app\a.exe`, open(t, m.Bytes()).Process().Command)
}

func TestStreams(t *testing.T) {
	f := open(t, sample())
	var names []string
	for _, s := range f.Streams() {
		names = append(names, s.Name())
		b, err := f.StreamBytes(s)
		require.NoError(t, err)
		assert.Len(t, b, int(s.Size))
	}
	assert.Equal(t, []string{"SystemInfo", "ThreadList", "ThreadInfoList", "ThreadNames", "ModuleList", "UnloadedModuleList",
		"Exception", "MiscInfo", "HandleData", "CommentW", "Token", "MemoryInfoList", "Memory64List"}, names)
	assert.Equal(t, "StreamType(0x4d7a0004)", minidump.StreamType(0x4d7a0004).String())
	_, err := f.StreamBytes(minidump.Stream{RVA: 1 << 31, Size: 1 << 31})
	require.ErrorIs(t, err, target.ErrCorrupt)
}

func TestMiscInfoVersions(t *testing.T) {
	want := minidump.MiscInfo{ProcessID: 7, HasTimes: true, Created: time.Unix(100, 0).UTC(), User: 5 * time.Second, Kernel: 7 * time.Second}
	grow := []func(){
		func() {},
		func() { want.MaxMHz, want.CurrentMHz = 3000, 2000 },
		func() { want.IntegrityLevel, want.TimeZone, want.UTCOffset = 0x2000, "Mean Time", time.Hour },
		func() { want.Build, want.DebuggerBuild = "19041.1 (release)", "dbgcore" },
		func() { want.ProcessCookie = 0xc00c1e },
	}
	for i := range grow {
		grow[i]()
		m := synth.NewMinidump()
		m.MiscInfo(i+1, 7, 100)
		m.Memory(memory()...)
		assert.Equal(t, want, open(t, m.Bytes()).MiscInfo(), "version %d", i+1)
	}
}

func TestThreads(t *testing.T) {
	threads := open(t, sample()).Threads()
	require.Len(t, threads, 2)
	assert.False(t, open(t, sample()).ThreadsCut())
	a, b := threads[0], threads[1]
	assert.Equal(t, uint32(0x10), a.ID)
	assert.Equal(t, target.Addr(tebAddr), a.TEB)
	assert.Equal(t, target.Range{Start: stackAddr - 0x1000, End: stackBase}, a.Stack, "the TEB's limits")
	assert.Equal(t, time.Date(2023, 11, 14, 0, 0, 0, 100, time.UTC), a.Created)
	assert.Equal(t, 3*time.Microsecond, a.Kernel)
	assert.Equal(t, 4*time.Microsecond, a.User)
	assert.Equal(t, []bool{true, false}, []bool{a.Timed, b.Timed}, "the list has no entry for the second")
	assert.Equal(t, target.Addr(exeAddr+0x10), a.Start)
	assert.Equal(t, uint32(0x14), b.ID)
	assert.Equal(t, "wörker", b.Name)
	assert.Equal(t, uint32(1), b.Suspended)
	assert.Equal(t, target.Range{Start: 0x5000, End: 0x6000}, b.Stack, "the descriptor's range: the TEB is not in the dump")
	assert.True(t, b.Created.IsZero())

	infos := open(t, sample()).ThreadInfos()
	require.Len(t, infos, 2)
	assert.Equal(t, uint32(4), infos[1].DumpFlags)
}

// registersOf returns the known registers of a thread with the given context.
func registersOf(t *testing.T, arch uint16, context []byte) (map[string]uint64, target.Registers, []error) {
	m := synth.NewMinidump()
	m.SystemInfo(arch)
	m.Modules()
	m.Threads(synth.MinidumpThread{ID: 1, Context: context})
	m.Memory(memory()...)
	f := open(t, m.Bytes())
	require.Len(t, f.Threads(), 1)
	known := make(map[string]uint64)
	r := f.Threads()[0].Registers
	for n, v := range r.All {
		known[target.RegName(r.Arch, n)] = v
	}
	return known, r, f.Warnings()
}

func TestAMD64Registers(t *testing.T) {
	control := map[string]uint64{"rsp": regs[4], "rip": 0x1234, "eflags": 0x246, "cs": 0x33, "ss": 0x2e}
	integer := map[string]uint64{"rax": 10, "rcx": 11, "rdx": 12, "rbx": 13, "rbp": 15, "rsi": 16, "rdi": 17, "r8": 18,
		"r9": 19, "r10": 20, "r11": 21, "r12": 22, "r13": 23, "r14": 24, "r15": 25}
	segments := map[string]uint64{"ds": 0x2b, "es": 0x2c, "fs": 0x53, "gs": 0x2d}
	all := maps.Clone(control)
	maps.Copy(all, integer)
	maps.Copy(all, segments)
	for _, c := range []struct {
		name  string
		flags uint32
		want  map[string]uint64
		float bool
	}{
		{"none, which means all", 0x100000, all, true},
		{"control", 0x100001, control, false},
		{"integer", 0x100002, integer, false},
		{"segments", 0x100004, segments, false},
		{"float", 0x100008, map[string]uint64{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			known, r, warnings := registersOf(t, synth.MinidumpAMD64, synth.AMD64Context(c.flags, regs, 0x1234, 0x246))
			assert.Equal(t, c.want, known)
			assert.Empty(t, warnings)
			if !c.float {
				assert.Nil(t, r.Float)
				return
			}
			require.Len(t, r.Float, 512)
			for i, b := range r.Float {
				if int(b) != i%251 {
					t.Fatalf("byte %d of the floating-point area is %d", i, b)
				}
			}
		})
	}
	t.Run("xstate behind it", func(t *testing.T) {
		context := append(synth.AMD64Context(0x10005f, regs, 0x1234, 0x246), make([]byte, 832)...)
		known, _, warnings := registersOf(t, synth.MinidumpAMD64, context)
		assert.Len(t, known, len(control)+len(integer)+len(segments))
		assert.Empty(t, warnings)
	})
}

func TestARM64Registers(t *testing.T) {
	var x [33]uint64
	for i := range x {
		x[i] = 100 + uint64(i)
	}
	known, r, warnings := registersOf(t, synth.MinidumpARM64, synth.ARM64Context(0x400003, 0x60000000, x))
	assert.Empty(t, warnings)
	assert.Len(t, known, 34)
	assert.Equal(t, []uint64{100, 128, 129, 130, 131, 132, 0x60000000},
		[]uint64{known["x0"], known["x28"], known["fp"], known["lr"], known["sp"], known["pc"], known["cpsr"]})
	ip, ok := r.IP()
	assert.True(t, ok)
	assert.Equal(t, target.Addr(132), ip)
	assert.Nil(t, r.Float)
	known, _, _ = registersOf(t, synth.MinidumpARM64, synth.ARM64Context(0x400002, 0, x))
	assert.Len(t, known, 29)

	context := synth.ARM64Context(0x400007, 0, x)
	context[0x110], context[0x110+16*31+15] = 1, 2
	_, r, _ = registersOf(t, synth.MinidumpARM64, context)
	v, err := r.Vectors()
	require.NoError(t, err)
	assert.Equal(t, target.Wide{Low: 1}, v[0])
	assert.Equal(t, target.Wide{High: 2 << 56}, v[31])
}

func TestUnsupportedArchitecture(t *testing.T) {
	for _, arch := range []uint16{3, 0x8002, 0x8006, 0xffff} {
		known, _, warnings := registersOf(t, arch, make([]byte, 716))
		assert.Empty(t, known)
		require.Len(t, warnings, 1)
		assert.ErrorIs(t, warnings[0], target.ErrUnsupported)
		assert.ErrorContains(t, warnings[0], "unsupported architecture")
	}
}

func TestBadContexts(t *testing.T) {
	for name, context := range map[string][]byte{
		"empty":       nil,
		"short":       synth.AMD64Context(allGroups, regs, 1, 2)[:255],
		"other flags": synth.AMD64Context(0x10007, regs, 1, 2),
	} {
		t.Run(name, func(t *testing.T) {
			known, _, warnings := registersOf(t, synth.MinidumpAMD64, context)
			assert.Empty(t, known)
			require.Len(t, warnings, 1)
			assert.ErrorIs(t, warnings[0], target.ErrCorrupt)
		})
	}
}

// TestThreadInfoFlags: data that the writer could not get is not used.
func TestThreadInfoFlags(t *testing.T) {
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpAMD64)
	m.Modules()
	m.Threads(synth.MinidumpThread{ID: 1, TEB: tebAddr, Context: synth.AMD64Context(allGroups, regs, 1, 2)})
	m.ThreadInfo(synth.MinidumpThreadInfo{ID: 1, Flags: 0x38, Created: 1, Start: 5})
	m.Memory(memory()...)
	f := open(t, m.Bytes())
	th := f.Threads()[0]
	assert.False(t, th.Registers.Known())
	assert.Zero(t, th.TEB)
	assert.Zero(t, th.Start)
	assert.False(t, th.Timed)
	assert.Len(t, f.Warnings(), 1)
}

func TestStackChoice(t *testing.T) {
	named := target.Range{Start: 0x5000, End: 0x6000}
	for _, c := range []struct {
		name         string
		base, limit  uint64
		sp           uint64
		want         target.Range
		contradicted bool
	}{
		{"limits of the TEB", 0x9000, 0x4000, 0x5010, target.Range{Start: 0x4000, End: 0x9000}, false},
		{"limits the wrong way round", 0x4000, 0x9000, 0x5010, named, true},
		{"stack pointer elsewhere", 0x90000, 0x80000, 0x5010, named, true},
		{"stack pointer nowhere", 0x90000, 0x80000, 0x10, target.Range{Start: 0x80000, End: 0x90000}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := synth.NewMinidump()
			m.SystemInfo(synth.MinidumpAMD64)
			m.Modules()
			m.Threads(synth.MinidumpThread{ID: 1, TEB: tebAddr, StackStart: 0x5000, StackSize: 0x1000,
				Context: synth.AMD64Context(0x100001, [16]uint64{4: c.sp}, 0, 0)})
			m.Memory(synth.MinidumpRange{Addr: tebAddr, Data: page(uint64(0), c.base, c.limit)})
			f := open(t, m.Bytes())
			assert.Equal(t, c.want, f.Threads()[0].Stack)
			assert.Equal(t, c.contradicted, len(f.Warnings()) == 1, "%v", f.Warnings())
		})
	}
}

func TestModules(t *testing.T) {
	m := synth.NewMinidump()
	m.Modules(
		synth.MinidumpModule{Base: 0x9000, Size: 0x1000, Path: "b.dll", CodeView: []byte("NB10 of an old linker")},
		synth.MinidumpModule{Base: 0x1000, Size: 0x1000, CheckSum: 3, Time: 4, Path: "a.dll", Version: [4]uint16{1, 2, 3, 4},
			CodeView: synth.CodeViewRSDS(guid, 9, "a.pdb")})
	m.SystemInfo(synth.MinidumpAMD64)
	m.Threads()
	m.Memory(memory()...)
	f := open(t, m.Bytes())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, []target.Module{
		{Base: 0x1000, Size: 0x1000, SizeOfImage: 0x1000, Listed: true, Path: "a.dll", CheckSum: 3, TimeDateStamp: 4, Version: [4]uint16{1, 2, 3, 4},
			PDB: &target.PDBID{GUID: guid, Age: 9, Path: "a.pdb"}},
		{Base: 0x9000, Size: 0x1000, SizeOfImage: 0x1000, Listed: true, Path: "b.dll"},
	}, f.Modules())
	assert.Equal(t, "b.dll", f.Process().Command, "the first in the dump's order")

	assert.Equal(t, []minidump.UnloadedModule{{Base: 0x6000, Size: 0x2000, CheckSum: 7, TimeDateStamp: 8, Path: "gone.dll"}},
		open(t, sample()).UnloadedModules())
}

// TestImageSizes: a size in the list of modules that the image's own header contradicts is said.
func TestImageSizes(t *testing.T) {
	head := make([]byte, 0x200)
	copy(head, "MZ")
	head[0x3c] = 0x80
	copy(head[0x80:], "PE\x00\x00")
	head[0x80+24+56+1] = 0x20
	for size, warnings := range map[uint32]int{0x2000: 0, 0x1000: 1, 0: 1, math.MaxUint32: 1} {
		m := synth.NewMinidump()
		m.SystemInfo(synth.MinidumpAMD64)
		m.Threads()
		m.Modules(synth.MinidumpModule{Base: 0x1000, Size: size, Path: "a.dll"}, synth.MinidumpModule{Base: 0x200000000, Size: 0x2000, Path: "without a header"})
		m.Memory(synth.MinidumpRange{Addr: 0x1000, Data: head})
		f := open(t, m.Bytes())
		require.Len(t, f.Warnings(), warnings, "%#x: %v", size, f.Warnings())
		if warnings > 0 {
			assert.ErrorIs(t, f.Warnings()[0], target.ErrCorrupt)
			assert.ErrorContains(t, f.Warnings()[0], fmt.Sprintf(`"a.dll" at 0x1000 has %#x bytes in the list of modules, and 0x2000 in its own header`, size))
		}
	}
}

func TestOverlappingModules(t *testing.T) {
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpAMD64)
	m.Threads()
	m.Modules(synth.MinidumpModule{Base: 0x1000, Size: 0x2000}, synth.MinidumpModule{Base: 0x2000, Size: 0x2000})
	m.Memory(memory()...)
	f := open(t, m.Bytes())
	assert.Len(t, f.Modules(), 2)
	require.Len(t, f.Warnings(), 1)
	assert.ErrorContains(t, f.Warnings()[0], "overlap")
}

func TestException(t *testing.T) {
	f := open(t, sample())
	e, ok := f.Exception()
	require.True(t, ok)
	ip, _ := e.Registers.IP()
	assert.Equal(t, target.Addr(dllAddr+0x1234), ip)
	e.Registers = target.Registers{}
	assert.Equal(t, target.Exception{ThreadID: 0x10, Code: 0xe0434352, Flags: 1, Address: dllAddr + 0x1000, HasAddress: true, Record: synth.ExceptionRecord,
		Parameters: []uint64{0x80004003, 0, 0, 0, dllAddr}, Words: "0xe0434352"}, e)
}

func TestBothComments(t *testing.T) {
	m := synth.NewMinidump()
	m.Comment("wide")
	m.Stream(10, []byte("narrow\x00"))
	m.Memory(memory()...)
	assert.Equal(t, "narrow\nwide", open(t, m.Bytes()).Process().Comment)
}

// TestPlatforms covers the systems of minidumps that other writers than Windows produce.
func TestPlatforms(t *testing.T) {
	for id, want := range map[uint32]target.OS{2: target.OSWindows, 0x8101: target.OSDarwin, 0x8201: target.OSLinux, 7: target.OSUnknown} {
		m := synth.NewMinidump()
		pack := m.PlaceString("Service Pack 1")
		m.Stream(7, synth.Fields(uint16(5), make([]byte, 6), uint32(6), uint32(1), uint32(7601), id, pack, make([]byte, 28)))
		m.Memory(memory()...)
		p := open(t, m.Bytes()).Platform()
		assert.Equal(t, target.Platform{OS: want, Arch: target.ArchARM, OSVersion: "6.1.7601 Service Pack 1"}, p)
	}
}

// TestMissingStreams: a missing stream is reported as target.ErrNotInDump.
func TestMissingStreams(t *testing.T) {
	m := synth.NewMinidump()
	m.Memory(memory()...)
	f := open(t, m.Bytes())
	assert.Empty(t, f.Modules())
	assert.Empty(t, f.Threads())
	missing := 0
	for _, w := range f.Warnings() {
		if errors.Is(w, target.ErrNotInDump) {
			missing++
		}
	}
	assert.Equal(t, 3, missing, "system information, modules, threads: %v", f.Warnings())
}

func TestHandles(t *testing.T) {
	assert.Equal(t, []minidump.Handle{
		{Value: 4, Type: "Event", Attributes: 1, GrantedAccess: 0x1f0003, HandleCount: 2, PointerCount: 3},
		{Value: 8, Type: "File", Name: `\Device\Null`, GrantedAccess: 0x12019f, HandleCount: 1, PointerCount: 1},
	}, open(t, sample()).Handles())
}

func TestMemory(t *testing.T) {
	lists := map[string]func(*synth.Minidump, ...synth.MinidumpRange){
		"MemoryList": (*synth.Minidump).Memory, "Memory64List": (*synth.Minidump).Memory64}
	for name, add := range lists {
		t.Run(name, func(t *testing.T) {
			m := synth.NewMinidump()
			add(m, memory()...)
			f := open(t, m.Bytes())
			for _, r := range memory() {
				b, err := target.Bytes(f, target.Addr(r.Addr), len(r.Data))
				require.NoError(t, err)
				assert.Equal(t, r.Data, b)
			}
			assert.Len(t, f.Span(heapAddr+0x10), 0xf0)
			assert.Nil(t, f.Span(heapAddr+0x100))
			_, err := target.Uint64(f, heapAddr+0x100-4)
			require.ErrorIs(t, err, target.ErrNotInDump)
		})
	}
}

func TestRegions(t *testing.T) {
	const rw, rx = target.ProtRead | target.ProtWrite, target.ProtRead | target.ProtExec
	const dll = `C:\app\coreclr.dll`
	got := slices.Collect(open(t, sample()).Regions())
	assert.Equal(t, []target.Region{
		{Start: stackAddr, Size: 0x1000, Stored: 0x1000},
		{Start: tebAddr, Size: 0x100, Stored: 0x100},
		{Start: pebAddr, Size: 0x100, Stored: 0x100},
		{Start: pebAddr + 0x1000, Size: 0x100, Stored: 0x100},
		{Start: pebAddr + 0x2000, Size: 0x100, Stored: 0x100},
		{Start: heapAddr - 0x10000, Size: 0x10000, Kind: "free"},
		{Start: heapAddr, Size: 0x800, Stored: 0x100, Kind: "private", Prot: rw},
		{Start: heapAddr + 0x800, Size: 0x800, Stored: 0x100, Kind: "private", Prot: rw},
		{Start: heapAddr + 0x1000, Size: 0x1000, Kind: "mapped"},
		{Start: dllAddr, Size: 0x1000, Kind: "image", Prot: rx, Path: dll},
		{Start: dllAddr + 0x1000, Size: 0x100, Stored: 0x100, Kind: "image", Prot: rx, Path: dll},
	}, got)
	for range open(t, sample()).Regions() {
		break // must not continue after the consumer has stopped
	}
}

func TestRegionsWithoutInfos(t *testing.T) {
	m := synth.NewMinidump()
	m.Modules(synth.MinidumpModule{Base: 0x4f80, Size: 0x200, Path: "a.dll"}, synth.MinidumpModule{Base: 0x5180, Size: 0x20, Path: "b.dll"})
	m.Memory(synth.MinidumpRange{Addr: 0x5000, Data: page()}, synth.MinidumpRange{Addr: 0x5100, Data: page()},
		synth.MinidumpRange{Addr: 0x4f00, Data: page()})
	assert.Equal(t, []target.Region{
		{Start: 0x4f00, Size: 0x80, Stored: 0x80},
		{Start: 0x4f80, Size: 0x200, Stored: 0x200, Kind: "image", Path: "a.dll"},
		{Start: 0x5180, Size: 0x20, Stored: 0x20, Kind: "image", Path: "b.dll"},
		{Start: 0x51a0, Size: 0x60, Stored: 0x60},
	}, slices.Collect(open(t, m.Bytes()).Regions()))
}

// TestProtection covers the page protections of winnt.h, with and without the guard bit.
func TestProtection(t *testing.T) {
	for protect, want := range map[uint32]string{0: "---", 1: "---", 2: "r--", 4: "rw-", 8: "rw-", 0x10: "--x", 0x20: "r-x",
		0x40: "rwx", 0x80: "rwx", 0x104: "rw-"} {
		m := synth.NewMinidump()
		m.MemoryInfo(synth.MinidumpInfo{Start: 0x1000, Size: 0x100, State: 0x1000, Protect: protect, Type: 0x20000})
		m.Memory(synth.MinidumpRange{Addr: 0x1000, Data: page()})
		for r := range open(t, m.Bytes()).Regions() {
			assert.Equal(t, want, r.Prot.String(), "%#x", protect)
		}
	}
}

// TestPaddedLists has lists with elements aligned to eight bytes.
func TestPaddedLists(t *testing.T) {
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpAMD64)
	name, pad := m.PlaceString("a.dll"), uint32(0)
	m.Stream(3, synth.Fields(uint32(1), pad, uint32(77), make([]byte, 44)))
	m.Stream(4, synth.Fields(uint32(1), pad, uint64(0x1000), uint32(0x1000), uint64(0), name, make([]byte, 84)))
	data := m.Place(page(uint64(0xabcd)))
	m.Stream(5, synth.Fields(uint32(1), pad, uint64(0x7000), uint32(0x100), data))
	f := open(t, m.Bytes())
	require.Len(t, f.Threads(), 1)
	assert.Equal(t, uint32(77), f.Threads()[0].ID)
	require.Len(t, f.Modules(), 1)
	assert.Equal(t, "a.dll", f.Modules()[0].Path)
	v, err := target.Uint64(f, 0x7000)
	require.NoError(t, err)
	assert.Equal(t, uint64(0xabcd), v)
}

// TestSignExtended has a 32-bit dump in the form of older createdumps.
func TestSignExtended(t *testing.T) {
	const extended = 0xffffffff_80000000
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpX86)
	m.Modules(synth.MinidumpModule{Base: extended, Size: 0x1000, Path: "a.exe"})
	m.Threads(synth.MinidumpThread{ID: 1, TEB: extended + 0x1000, StackStart: extended + 0x2000, StackSize: 0x100})
	m.Memory(synth.MinidumpRange{Addr: extended + 0x1000, Data: page(uint32(0), uint32(0x80009000), uint32(0x80002000))})
	f := open(t, m.Bytes())
	assert.Equal(t, target.Addr(0x80000000), f.Modules()[0].Base)
	assert.Equal(t, target.Addr(0x80001000), f.Threads()[0].TEB)
	assert.Equal(t, target.Range{Start: 0x80002000, End: 0x80009000}, f.Threads()[0].Stack)
	assert.True(t, target.Available(f, 0x80001000, 0x100))
}

// TestDuplicates: the first of several streams of a type counts.
func TestDuplicates(t *testing.T) {
	m := synth.NewMinidump()
	process(m)
	m.Modules()
	m.Memory(memory()...)
	m.Memory()
	f := open(t, m.Bytes())
	assert.Len(t, f.Modules(), 2)
	require.Len(t, f.Warnings(), 2)
	for _, w := range f.Warnings() {
		assert.ErrorIs(t, w, target.ErrCorrupt)
		assert.ErrorContains(t, w, "the first counts")
	}
}

// A sparseSource is a file with a hole: head at offset 0, and tail at offset at.
type sparseSource struct {
	head, tail []byte
	at         int64
}

func (s sparseSource) Size() int64             { return s.at + int64(len(s.tail)) }
func (s sparseSource) Bytes(int64, int) []byte { return nil }

func (s sparseSource) ReadAt(p []byte, off int64) (int, error) {
	if off >= s.at {
		return bytes.NewReader(s.tail).ReadAt(p, off-s.at)
	}
	n, err := bytes.NewReader(s.head).ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		clear(p[n:])
		return len(p), nil
	}
	return n, err
}

// TestLargeFile has memory at an offset beyond 32 bits.
func TestLargeFile(t *testing.T) {
	const first, second = 3 << 30, 6 << 30 // bytes of the first range, offset of the second
	m := synth.NewMinidump()
	process(m)
	m.Stream(9, synth.Fields(uint64(2), uint64(second-first), uint64(heapAddr), uint64(first), uint64(0x1000), uint64(0x100)))
	f, err := minidump.Open(sparseSource{m.Bytes(), page(uint64(0xfeed)), second})
	require.NoError(t, err)
	v, err := target.Uint64(f, 0x1000)
	require.NoError(t, err)
	assert.Equal(t, uint64(0xfeed), v)
	assert.True(t, target.Available(f, heapAddr+first-8, 8))
	assert.False(t, target.Available(f, heapAddr+first-8, 16))
	assert.Len(t, f.Threads(), 2, "read through ReadAt")
	assert.Equal(t, uint64(first+0x100), minidump.StoredBytes(f))
}

// TestReaderAt: a source that lends nothing yields the same dump.
func TestReaderAt(t *testing.T) {
	b := sample()
	lent := open(t, b)
	read, err := minidump.Open(target.ReaderAtSource(bytes.NewReader(b), int64(len(b))))
	require.NoError(t, err)
	assert.Equal(t, lent.Threads(), read.Threads())
	assert.Equal(t, lent.Modules(), read.Modules())
	assert.Equal(t, lent.Process(), read.Process())
	assert.Equal(t, slices.Collect(lent.Regions()), slices.Collect(read.Regions()))
}

// TestReadFailure: an I/O error of the host is not reported as corruption.
func TestReadFailure(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := minidump.Open(target.ReaderAtSource(failingReader{broken}, 1000))
	require.ErrorIs(t, err, broken)
	assert.NotErrorIs(t, err, target.ErrCorrupt)
}

type failingReader struct{ err error }

func (r failingReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }

func TestConcurrentUse(t *testing.T) {
	f := open(t, sample())
	done := make(chan int)
	for range 8 {
		go func() { done <- touch(f) }()
	}
	first := <-done
	for range 7 {
		assert.Equal(t, first, <-done)
	}
}

// touch calls every accessor of f and returns a number that depends on the results.
func touch(f *minidump.File) int {
	n := len(f.Modules()) + len(f.Threads()) + len(f.ThreadInfos()) + len(f.MemoryInfos()) + len(f.Handles()) +
		len(f.UnloadedModules()) + len(f.Streams()) + len(f.Process().Comment) + len(f.Platform().OSVersion) +
		len(f.MiscInfo().Build) + len(f.Warnings())
	e, _ := f.Exception()
	n += len(e.Parameters)
	for _, s := range f.Streams() {
		b, _ := f.StreamBytes(s)
		n += len(b) + len(s.Name())
	}
	for _, th := range f.Threads() {
		if sp, ok := th.Registers.SP(); ok && target.Available(f, sp, 8) {
			n++
		}
	}
	var end target.Addr
	var stored uint64
	for r := range f.Regions() {
		if r.Start < end || r.Size == 0 || r.Stored > r.Size {
			panic("regions are not ascending and disjoint")
		}
		end, stored = r.Start+target.Addr(r.Size), stored+r.Stored
		if r.Stored > 0 && (!target.Available(f, r.Start, 1) || !target.Available(f, end-1, 1) != (r.Stored < r.Size)) {
			panic("a region's stored bytes are not those that can be read")
		}
		n++
	}
	if stored != minidump.StoredBytes(f) {
		panic("the regions don't account for every stored byte")
	}
	return n
}

func TestTruncation(t *testing.T) {
	m := synth.NewMinidump()
	m.Memory(memory()...) // first, so that most of the cut dumps open
	process(m)
	for _, b := range [][]byte{sample(), m.Bytes()} {
		opened := 0
		for n := range b {
			f, err := minidump.Open(target.BytesSource(b[:n]))
			if err != nil {
				if !errors.Is(err, target.ErrCorrupt) {
					t.Fatalf("cut to %d bytes: %v is not corruption", n, err)
				}
				continue
			}
			opened++
			touch(f)
			if len(f.Warnings()) == 0 && n < len(b)-1 {
				t.Fatalf("cut to %d of %d bytes: no warning", n, len(b))
			}
		}
		assert.NotZero(t, opened)
	}
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
