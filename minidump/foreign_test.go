package minidump_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// crash adds an exception stream with the given flags.
func crash(m *synth.Minidump, thread, code, flags uint32, address uint64, parameters []uint64, context []byte) {
	rva := m.Place(context)
	m.Stream(6, synth.Fields(thread, uint32(0), code, flags, uint64(0), address, uint32(len(parameters)), uint32(0), parameters,
		make([]uint64, 15-len(parameters)), uint32(len(context)), rva))
}

// breakpad returns a dump of a Linux process in Breakpad's form, without an exception.
func breakpad() *synth.Minidump {
	m := synth.NewMinidump()
	m.ForeignSystem(synth.MinidumpAMD64, synth.MinidumpLinux, "Linux 6.1.0-18-amd64 #1 SMP x86_64")
	m.Modules(
		synth.MinidumpModule{Base: 0x400000, Size: 0x3000, Path: "/opt/app/app", CodeView: synth.Fields([]byte("LEpB"), []byte("0123456789abcdefghij"))},
		synth.MinidumpModule{Base: 0x7f0000000000, Size: 0x2000, Path: "/lib/libc.so.6", CodeView: synth.CodeViewRSDS([16]byte{1, 2, 3, 4, 5, 6, 7, 8}, 0, "libc.so.6")},
		synth.MinidumpModule{Base: 0x7f0000010000, Size: 0x1000, Path: "/lib/libold.so", CodeView: synth.CodeViewRSDS([16]byte{}, 0, "libold.so")},
	)
	m.Threads(synth.MinidumpThread{ID: 4711, StackStart: 0x7ffc00000000, StackSize: 0x1000, Context: synth.AMD64Context(0x10000f, regs, 0x400100, 0x246)})
	m.Memory(synth.MinidumpRange{Addr: 0x7ffc00000000, Data: make([]byte, 0x1000)})
	m.Stream(0x47670003, []byte("processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\n\nprocessor\t: 1\nmodel name\t: Fast CPU @ 3 GHz\n"))
	m.Stream(0x47670004, []byte("Name:\tapp\nTgid:\t4711\nPid:\t4712\nVmPeak:\t   2048 kB\nVmRSS:\t 1024 kB\nThreads:\t1\n"))
	m.Stream(0x47670005, []byte("DISTRIB_ID=Debian\nDISTRIB_DESCRIPTION=\"Debian GNU/Linux 12\"\n"))
	m.Stream(0x47670006, []byte("./app\x00--port\x0080\x00"))
	m.Stream(0x47670007, []byte("HOME=/root\x00A=b\x00"))
	m.Stream(0x47670008, synth.Fields([]uint64{3, 0x400040, 9, 0x400100, 0, 0}))
	m.Stream(0x47670009, []byte("00400000-00401000 r-xp 00000000 08:01 1   /opt/app/app\n00402000-00403000 rw-p 00001000 08:01 1   /opt/app/app\n"+
		"7f0000000000-7f0000002000 r--p 00000000 08:01 2  /lib/libc.so.6\n7ffbfffff000-7ffc00001000 rw-p 00000000 00:00 0  [stack]\n"))
	names := []uint32{m.PlaceString(""), m.PlaceString("/lib/libc.so.6")}
	maps := m.Place(synth.Fields(uint64(0), names[0], uint32(0), uint64(0x402e00), uint64(0x7f0000000000), names[1], uint32(0), uint64(0x7f0000001000)))
	m.Stream(0x4767000a, synth.Fields(uint32(1), maps, uint32(2), uint32(0), uint64(0x7f1), uint64(0x7f2), uint64(0x402e00)))
	return m
}

func TestBreakpadOfLinux(t *testing.T) {
	f := open(t, breakpad().Bytes())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, target.Platform{OS: target.OSLinux, Arch: target.ArchAMD64, OSVersion: "Linux 6.1.0-18-amd64 #1 SMP x86_64",
		Distribution: "Debian GNU/Linux 12", CPUs: 2, CPU: "Fast CPU @ 3 GHz"}, f.Platform())
	p := f.Process()
	assert.EqualValues(t, 4711, p.ID)
	assert.Equal(t, "./app --port 80", p.Command)
	assert.Equal(t, "minidump of a Linux process (Breakpad)", p.Container)
	assert.Equal(t, []target.Counter{{Name: "VmPeak", Bytes: 2 << 20}, {Name: "VmRSS", Bytes: 1 << 20}}, p.Counters)
	assert.Nil(t, p.Times)
	assert.True(t, p.Created.IsZero())
	assert.False(t, p.DumpTime.IsZero())
	assert.Equal(t, []string{"HOME=/root", "A=b"}, f.Environment())
	assert.Equal(t, []minidump.AuxEntry{{Tag: 3, Value: 0x400040}, {Tag: 9, Value: 0x400100}}, f.Auxv())
	assert.Equal(t, []minidump.LinkMap{{Dynamic: 0x402e00}, {Base: 0x7f0000000000, Dynamic: 0x7f0000001000, Path: "/lib/libc.so.6"}}, f.LinkMaps())

	mods := f.Modules()
	require.Len(t, mods, 3)
	assert.Equal(t, "0123456789abcdefghij", string(mods[0].BuildID))
	assert.False(t, mods[0].BuildIDCut)
	assert.Equal(t, []target.Mapping{{Start: 0x400000, End: 0x401000}, {Start: 0x402000, End: 0x403000, Offset: 0x1000}}, mods[0].Mappings)
	assert.Equal(t, "01020304050607080000000000000000", fmt.Sprintf("%x", mods[1].BuildID))
	assert.True(t, mods[1].BuildIDCut)
	assert.Nil(t, mods[1].PDB)
	assert.Nil(t, mods[2].BuildID, "a GUID of zeros is none")
	assert.Zero(t, mods[0].SizeOfImage, "that is of PE images")
	assert.EqualValues(t, 0x3000, mods[0].Size)

	var kinds []string
	for r := range f.Regions() {
		kinds = append(kinds, string(r.Kind)+" "+r.Prot.String()+" "+r.Path)
	}
	assert.Equal(t, []string{"image r-x /opt/app/app", "image rw- /opt/app/app", "image r-- /lib/libc.so.6", "stack rw- ", "stack rw- "}, kinds)
	_, ok := f.Exception()
	assert.False(t, ok)
}

// TestSignals: Breakpad and Crashpad store a signal of Linux in an exception record.
func TestSignals(t *testing.T) {
	const sender = 1000<<32 | 77
	for _, c := range []struct {
		name        string
		code, flags uint32
		address     uint64
		parameters  []uint64
		crashpad    bool
		words       string
		want        target.Signal
		hasAddress  bool
	}{
		{name: "fault", code: 11, flags: 1, address: 0x45, words: "SIGSEGV/SEGV_MAPERR", want: target.Signal{Number: 11, Known: true, Code: 1, Address: 0x45}, hasAddress: true},
		{name: "fault at 0", code: 11, flags: 2, words: "SIGSEGV/SEGV_ACCERR", want: target.Signal{Number: 11, Known: true, Code: 2}, hasAddress: true},
		{name: "fault without si_code", code: 11, address: 0x45, words: "SIGSEGV", want: target.Signal{Number: 11, Address: 0x45}, hasAddress: true},
		{name: "abort", code: 6, flags: 0xfffffffa, address: sender, words: "SIGABRT/SI_TKILL", want: target.Signal{Number: 6, Known: true, Code: -6, PID: 77, UID: 1000}},
		{name: "abort without si_code", code: 6, address: sender, words: "SIGABRT", want: target.Signal{Number: 6}},
		{name: "kernel", code: 11, flags: 0x80, words: "SIGSEGV/SI_KERNEL", want: target.Signal{Number: 11, Known: true, Code: 0x80}},
		{name: "abort, Crashpad", code: 6, flags: 0xfffffffa, parameters: []uint64{78, 1001, 0}, crashpad: true, words: "SIGABRT/SI_TKILL",
			want: target.Signal{Number: 6, Known: true, Code: -6, PID: 78, UID: 1001}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := breakpad()
			crash(m, 4711, c.code, c.flags, c.address, c.parameters, synth.AMD64Context(0x10000f, regs, 0x400100, 0x246))
			if c.crashpad {
				m.Crashpad(nil, 0, nil, nil, nil)
			}
			e, ok := open(t, m.Bytes()).Exception()
			require.True(t, ok)
			assert.Equal(t, c.words, e.Words)
			require.NotNil(t, e.Signal)
			assert.Equal(t, c.want, *e.Signal)
			assert.Equal(t, c.hasAddress, e.HasAddress)
			assert.Equal(t, c.want.Address, e.Address)
			assert.False(t, e.Requested)
			assert.True(t, e.Registers.Known())
		})
	}
}

// TestRequestedDumps: no fault had happened in these processes.
func TestRequestedDumps(t *testing.T) {
	for platform, code := range map[uint32]uint32{2: 0x517a7ed, synth.MinidumpLinux: 0xffffffff, synth.MinidumpAndroid: 0xffffffff, synth.MinidumpMacOS: 0x43507378} {
		m := synth.NewMinidump()
		m.ForeignSystem(synth.MinidumpAMD64, platform, "")
		m.Modules()
		m.Threads(synth.MinidumpThread{ID: 1, Context: synth.AMD64Context(0x10000f, regs, 0x400100, 0x246)})
		crash(m, 1, code, 0, 0x1234, nil, nil)
		f := open(t, m.Bytes())
		e, ok := f.Exception()
		require.True(t, ok)
		assert.True(t, e.Requested, "platform %#x", platform)
		assert.Equal(t, "dump requested", e.Words)
		assert.False(t, e.HasAddress)
		assert.Nil(t, e.Signal)
	}
}

func TestMachExceptions(t *testing.T) {
	for _, c := range []struct {
		code, flags uint32
		words       string
	}{
		{1, 1, "EXC_BAD_ACCESS/KERN_INVALID_ADDRESS"}, {1, 2, "EXC_BAD_ACCESS/KERN_PROTECTION_FAILURE"}, {6, 1, "EXC_BREAKPOINT/code 0x1"},
		{5, 0x10003, "EXC_SOFTWARE/EXC_SOFT_SIGNAL"}, {10, 0, "EXC_CRASH/code 0x0"}, {0x77, 2, "Mach exception 0x77/code 0x2"},
	} {
		m := synth.NewMinidump()
		m.ForeignSystem(synth.MinidumpAMD64, synth.MinidumpMacOS, "21G72")
		m.Modules(synth.MinidumpModule{Base: 0x100000000, Size: 0x1000, Path: "/App", CodeView: synth.CodeViewRSDS(guid, 0, "App")})
		m.Threads(synth.MinidumpThread{ID: 1, Context: synth.AMD64Context(0x10000f, regs, 0x400100, 0x246)})
		crash(m, 1, c.code, c.flags, 0x10, nil, nil)
		f := open(t, m.Bytes())
		e, ok := f.Exception()
		require.True(t, ok)
		assert.Equal(t, c.words, e.Words)
		assert.Nil(t, e.Signal)
		assert.Equal(t, "minidump of a macOS process", f.Container())
		assert.Equal(t, "21G72", f.Platform().OSVersion)
		assert.Equal(t, "12345678020104030506070809"+"0a0b0c", fmt.Sprintf("%x", f.Modules()[0].BuildID), "the UUID")
		assert.False(t, f.Modules()[0].BuildIDCut)
	}
}

func TestCrashpad(t *testing.T) {
	m := breakpad()
	m.Crashpad([]synth.MinidumpNote{{Key: "prod", Value: "Äpp"}}, 1, []string{"abort called"}, []synth.MinidumpNote{{Key: "k", Value: "v"}},
		[]synth.MinidumpNote{{Key: "object", Value: "text"}})
	f := open(t, m.Bytes())
	assert.Empty(t, f.Warnings())
	c, ok := f.Crashpad()
	require.True(t, ok)
	assert.Equal(t, target.GUID{1}, c.Report)
	assert.Equal(t, []target.Annotation{{Key: "prod", Value: "Äpp"}, {Module: "/lib/libc.so.6", Value: "abort called"},
		{Module: "/lib/libc.so.6", Key: "k", Value: "v"}, {Module: "/lib/libc.so.6", Key: "object", Value: "text"}}, c.Annotations)
	ids := f.Process().Annotations[:2]
	assert.Equal(t, []target.Annotation{{Key: "Crashpad report id", Value: "00000001-0000-0000-0000-000000000000"},
		{Key: "Crashpad client id", Value: "00000002-0000-0000-0000-000000000000"}}, ids)
	assert.Equal(t, c.Annotations, f.Process().Annotations[2:])
	assert.Equal(t, "minidump of a Linux process (Crashpad)", f.Container())
	assert.Equal(t, "04030201060508070000000000000000", fmt.Sprintf("%x", f.Modules()[1].BuildID), "Crashpad writes a UUID")
}

// TestWithoutMemory: a dump may have only modules, threads and the exception.
func TestWithoutMemory(t *testing.T) {
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpX86)
	m.Modules(synth.MinidumpModule{Base: 0x400000, Size: 0x1000, Path: `C:\a.exe`})
	m.Threads(synth.MinidumpThread{ID: 5, Context: context386(0x10007)})
	crash(m, 5, 0xc0000005, 0, 0x401000, []uint64{0, 0}, context386(0x10007))
	f := open(t, m.Bytes())
	require.Len(t, f.Warnings(), 1)
	assert.ErrorIs(t, f.Warnings()[0], target.ErrNotInDump)
	require.Len(t, f.Threads(), 1)
	ip, ok := f.Threads()[0].Registers.IP()
	assert.True(t, ok)
	assert.EqualValues(t, 0x401000, ip)
	assert.Len(t, f.Modules(), 1)
	e, ok := f.Exception()
	require.True(t, ok)
	assert.True(t, e.Registers.Known())
	_, err := f.ReadMemory(make([]byte, 1), 0x400000)
	assert.ErrorIs(t, err, target.ErrNotInDump)
	for r := range f.Regions() {
		t.Errorf("region %+v", r)
	}
}

// context386 returns a CONTEXT of x86 at 0x401000.
func context386(flags uint32) []byte {
	return synth.Fields(flags, make([]byte, 0xb8-4), uint32(0x401000), uint32(0x23), uint32(0x246), uint32(0x12ff00), uint32(0x2b))
}

func TestFunctionTables(t *testing.T) {
	m := synth.NewMinidump()
	process(m)
	m.Memory64(memory()...)
	entries := synth.Fields([]uint32{0, 0x10, 0x100, 0x10, 0x20, 0x108})
	m.Stream(13, synth.Fields(uint32(24), uint32(32), uint32(8), uint32(12), uint32(2), uint32(4), uint32(0),
		uint64(0x7f0000), uint64(0x7f1000), uint64(0x7f0000), uint32(2), uint32(4), make([]byte, 8), entries, make([]byte, 4),
		uint64(0x8f0000), uint64(0x8f1000), uint64(0x8f0000), uint32(0), uint32(0), make([]byte, 8)))
	f := open(t, m.Bytes())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, []minidump.FunctionTable{
		{Code: target.Range{Start: 0x7f0000, End: 0x7f1000}, Base: 0x7f0000, Functions: 2, Entries: entries},
		{Code: target.Range{Start: 0x8f0000, End: 0x8f1000}, Base: 0x8f0000, Entries: []byte{}},
	}, f.FunctionTables())
}

// TestContents counts the other contents of a dump.
func TestContents(t *testing.T) {
	m := synth.NewMinidump()
	process(m)
	m.Memory64(memory()...)
	assert.Equal(t, []target.Content{{Name: "handles", Count: 2}, {Name: "unloaded modules", Count: 1},
		{Name: "regions of memory that are described", Count: 4}}, open(t, m.Bytes()).Contents())
	assert.Equal(t, []target.Content{{Name: "regions of memory that are described", Count: 4}, {Name: "environment variables", Count: 2},
		{Name: "objects of the dynamic linker", Count: 2}}, open(t, breakpad().Bytes()).Contents())
}

func TestMemoryCounters(t *testing.T) {
	m := synth.NewMinidump()
	process(m)
	m.Memory64(memory()...)
	m.Stream(22, synth.Fields(uint16(2), uint16(5), uint32(99), []uint64{1000, 900, 3, 4, 5, 6, 700, 800, 11, 12, 600, 1, 1, 1, 1, 1, 1, 1}))
	m.Stream(21, synth.Fields(uint16(1), uint16(2), uint32(0), uint32(4096), uint32(1000), make([]byte, 100), []uint64{10, 20, 30, 40}, make([]byte, 344)))
	f := open(t, m.Bytes())
	assert.Empty(t, f.Warnings())
	p := f.Process()
	got := map[string]uint64{}
	for _, c := range p.Counters {
		got[c.Name] = c.Bytes
	}
	assert.Equal(t, map[string]uint64{"working set": 900, "peak working set": 1000, "paged pool": 4, "nonpaged pool": 6, "committed": 700, "peak committed": 800,
		"private": 600, "system: physical memory": 4096000, "system: available": 40960, "system: committed": 81920,
		"system: commit limit": 122880, "system: peak committed": 163840}, got)
	assert.Equal(t, &target.Times{User: 5 * time.Second, Kernel: 7 * time.Second}, p.Times)
}

func TestAssertion(t *testing.T) {
	m := synth.NewMinidump()
	process(m)
	m.Memory64(memory()...)
	text := func(s string) []byte {
		b := make([]byte, 256)
		for i, c := range s {
			b[2*i] = byte(c)
		}
		return b
	}
	m.Stream(0x47670002, synth.Fields(text("p != null"), text("print"), text("a.c"), uint32(12), uint32(1)))
	assert.Contains(t, open(t, m.Bytes()).Process().Comment, "the C runtime was given an invalid parameter: p != null, in print (a.c:12)")
}

// everything returns a Linux dump with all streams of Breakpad and Crashpad, function tables and
// memory counters.
func everything() *synth.Minidump {
	m := breakpad()
	m.Crashpad([]synth.MinidumpNote{{Key: "a", Value: "b"}}, 0, []string{"line"}, []synth.MinidumpNote{{Key: "c", Value: "d"}}, []synth.MinidumpNote{{Key: "e", Value: "f"}})
	m.Stream(13, synth.Fields(uint32(24), uint32(32), uint32(0), uint32(12), uint32(1), uint32(0),
		uint64(0x7f0000), uint64(0x7f1000), uint64(0x7f0000), uint32(1), uint32(0), make([]byte, 12)))
	m.Stream(21, make([]byte, 492))
	m.Stream(22, append([]byte{2, 0, 15, 0}, make([]byte, 148)...))
	m.Stream(0x47670002, make([]byte, 776))
	return m
}

// TestDamagedStreams cuts each stream at each length, and sets each of its words to the maximum and
// to an offset near the end. Nothing panics, and every warning wraps a known error.
func TestDamagedStreams(t *testing.T) {
	whole := everything().Bytes()
	f := open(t, whole)
	require.Empty(t, f.Warnings())
	check := func(b []byte, what string, args ...any) {
		f, err := minidump.Open(target.BytesSource(b))
		if err != nil {
			assert.ErrorIs(t, err, target.ErrCorrupt)
			return
		}
		touch(f)
		for _, w := range f.Warnings() {
			if !isKnown(w) {
				t.Errorf(what+": %v", append(args, w)...)
			}
		}
	}
	for i, s := range f.Streams() {
		entry := 32 + 12*i
		for n := range s.Size {
			b := slices.Clone(whole)
			copy(b[entry+4:], synth.Fields(n))
			check(b, "stream %v cut to %d bytes", s.Type, n)
		}
		for at := s.RVA; at+4 <= s.RVA+s.Size; at += 4 {
			for _, v := range []uint32{0xffffffff, uint32(len(whole)) - 3, 0x80000000} {
				b := slices.Clone(whole)
				copy(b[at:], synth.Fields(v))
				check(b, "stream %v with %#x at %d", s.Type, v, at-s.RVA)
			}
		}
	}
}

// TestForeignFiles checks the facts in corpus-foreign/README.md.
func TestForeignFiles(t *testing.T) {
	for _, c := range []struct {
		file, container string
		pid             uint32
		modules         int
		thread          uint32
		words           string
		address         target.Addr
		parameters      []uint64
		program         string
	}{
		{"swift-lldb__linux-x86_64.dmp", "minidump of a Linux process (Breakpad)", 29917, 10, 29917, "SIGSEGV", 0, nil, "./linux-x86_64"},
		{"rust-minidump__linux-mini.dmp", "minidump of a Linux process (Breakpad)", 1304, 8, 1304, "SIGSEGV", 0x45, nil, "./crash"},
		{"breakpad__write_av_non_canonical.dmp", "Windows minidump", 22856, 15, 4488, "0xc0000005", 0x7ff738721331, []uint64{0, 0xffffffffffffffff}, "crash.exe"},
		{"rust-minidump__invalid-parameter.dmp", "Windows minidump", 6256, 31, 5896, "0xc000000d", 0, nil, "CrashTest.exe"},
	} {
		t.Run(c.file, func(t *testing.T) {
			f := open(t, testcase.Foreign(t, c.file))
			assert.Empty(t, f.Warnings())
			p := f.Process()
			assert.Equal(t, c.pid, p.ID)
			assert.Equal(t, c.container, p.Container)
			assert.True(t, strings.HasSuffix(p.Command, c.program), p.Command)
			assert.False(t, p.DumpTime.IsZero())
			assert.NotEmpty(t, p.Counters)
			assert.Len(t, f.Modules(), c.modules)
			e, ok := f.Exception()
			require.True(t, ok)
			assert.Equal(t, c.thread, e.ThreadID)
			assert.Equal(t, c.words, e.Words)
			assert.Equal(t, c.address, e.Address)
			assert.True(t, e.HasAddress)
			if c.parameters != nil {
				assert.Equal(t, c.parameters, e.Parameters)
			}
			identified := 0
			for _, m := range f.Modules() {
				assert.NotZero(t, m.Size, m.Path)
				if m.PDB != nil || m.BuildID != nil {
					identified++
				}
			}
			assert.NotZero(t, identified)
			known := 0
			for r := range f.Threads()[0].Registers.All {
				_ = r
				known++
			}
			assert.GreaterOrEqual(t, known, 17)
		})
	}
}
