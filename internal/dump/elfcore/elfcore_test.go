package elfcore_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

const page = 4096

// fill returns n bytes that are not zero.
func fill(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i%251 + 1)
	}
	return b
}

// regs returns distinct values in the kernel's order, with sp as the stack pointer of x86-64.
func regs(sp uint64) []uint64 {
	r := make([]uint64, 27)
	for i := range r {
		r[i] = 0x1000 + uint64(i)
	}
	r[19] = sp
	return r
}

// small returns a valid core with two threads, one library and one data file.
func small() *synth.ELFCore {
	lib := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x1800, 0x1800}, [4]uint64{0x1800, 0x2800, 0x400, 0x2000})
	return &synth.ELFCore{
		Notes: []synth.ELFNote{
			synth.ELFThread(100, 11, regs(0x7000_0000_2100)),
			synth.ELFProcess(99, "app", "app --flag "),
			synth.ELFSignal(11, 0, 1, 0xdead),
			synth.ELFAuxv(3, 0x5000_0000_0040, 9, 0x5000_0000_0100),
			synth.ELFFiles(page,
				synth.ELFFile{Start: 0x5000_0000_0000, End: 0x5000_0000_2000, Path: "/lib/liba.so.1"},
				synth.ELFFile{Start: 0x5000_0000_2000, End: 0x5000_0000_3000, Offset: 0x1000, Path: "/lib/liba.so.1"},
				synth.ELFFile{Start: 0x6000_0000_0000, End: 0x6000_0000_4000, Path: "/usr/lib/locale/C.utf8"},
			),
			synth.ELFFloat(bytes.Repeat([]byte{7}, 512)),
			{Owner: "LINUX", Type: 0x202, Desc: []byte{1, 2, 3}},
			synth.ELFThread(101, 11, regs(0x7100_0000_0000)),
		},
		Segments: []synth.ELFSegment{
			{Addr: 0x5000_0000_0000, Data: lib, Size: 0x2000, Flags: 5},
			{Addr: 0x5000_0000_2000, Data: fill(page), Size: 0x3000, Flags: 6},
			{Addr: 0x6000_0000_0000, Data: fill(page), Flags: 4},
			{Addr: 0x7000_0000_0000, Data: fill(4 * page), Flags: 6},
		},
	}
}

func open(t testing.TB, c *synth.ELFCore) *elfcore.File {
	t.Helper()
	f, err := elfcore.Open(target.BytesSource(c.Bytes()))
	require.NoError(t, err)
	return f
}

func TestProcess(t *testing.T) {
	f := open(t, small())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, target.Platform{OS: target.OSLinux, Arch: target.ArchAMD64}, f.Platform())
	assert.Equal(t, target.Process{ID: 99, Command: "app --flag", Container: "ELF core", Comment: "signal SIGSEGV/SEGV_MAPERR"}, f.Process())
	assert.Equal(t, []elfcore.AuxEntry{{Tag: 3, Value: 0x500000000040}, {Tag: 9, Value: 0x500000000100}}, f.Auxv())
	require.Len(t, f.Notes(), 8)
	n := f.Notes()[6]
	assert.Equal(t, "LINUX", n.Owner)
	assert.Equal(t, "NT_X86_XSTATE", n.Type.String())
	assert.Equal(t, []byte{1, 2, 3}, n.Data)
	assert.Equal(t, "NoteType(0x1234)", elfcore.NoteType(0x1234).String())
}

func TestThreads(t *testing.T) {
	f := open(t, small())
	threads := f.Threads()
	require.Len(t, threads, 2)
	th := threads[0]
	assert.EqualValues(t, 100, th.ID)
	assert.Equal(t, 11, th.Signal)
	assert.Equal(t, &target.Signal{Number: 11, Known: true, Code: 1, Address: 0xdead}, th.SignalInfo)
	assert.Equal(t, 1500*time.Millisecond, th.User)
	assert.Equal(t, 2250*time.Millisecond, th.Kernel)
	assert.Equal(t, target.Range{Start: 0x700000002000, End: 0x700000004000}, th.Stack)
	assert.Equal(t, bytes.Repeat([]byte{7}, 512), th.Registers.Float)

	order := strings.Fields("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs")
	got := 0
	for r, v := range th.Registers.All {
		want := 0x1000 + uint64(slices.Index(order, target.RegName(target.ArchAMD64, r)))
		if r == target.RSP {
			want = 0x700000002100
		}
		assert.Equal(t, want, v, target.RegName(target.ArchAMD64, r))
		got++
	}
	assert.Equal(t, len(order)-1, got)

	assert.Nil(t, threads[1].Registers.Float, "the note belongs to the thread before it")
	assert.Equal(t, target.Range{}, threads[1].Stack, "its stack is not in the core")
}

func TestThreadsARM64(t *testing.T) {
	r := make([]uint64, 34)
	for i := range r {
		r[i] = uint64(i) + 1
	}
	f := open(t, &synth.ELFCore{
		Machine: 183,
		Notes: []synth.ELFNote{synth.ELFThread(5, 0, r), synth.ELFFloat(append(bytes.Repeat([]byte{7}, 512), make([]byte, 16)...)),
			{Owner: "LINUX", Type: 0x406, Desc: synth.Fields(uint64(1)<<55-1<<39, uint64(1)<<54-1<<39)}, synth.ELFThread(6, 0, r),
			{Owner: "LINUX", Type: 0x406, Desc: make([]byte, 12)}},
		Segments: []synth.ELFSegment{{Addr: 0x1000, Data: fill(16)}},
	})
	assert.Equal(t, target.ArchARM64, f.Platform().Arch)
	th := f.Threads()[0]
	assert.Equal(t, bytes.Repeat([]byte{7}, 512), th.Registers.Float, "V0 to V31; the two words of status behind them are left out")
	assert.EqualValues(t, uint64(1)<<54-1<<39, th.Registers.Signature, "the bits of code")
	assert.Zero(t, f.Threads()[1].Registers.Signature)
	require.Len(t, f.Warnings(), 1)
	assert.ErrorContains(t, f.Warnings()[0], "NT_ARM_PAC_MASK is not used")
	for n, want := range map[target.Reg]uint64{target.ARM64X0: 1, target.ARM64X0 + 28: 29, target.ARM64FP: 30, target.ARM64LR: 31,
		target.ARM64SP: 32, target.ARM64PC: 33, target.ARM64CPSR: 34} {
		v, ok := th.Registers.Get(n)
		assert.True(t, ok)
		assert.Equal(t, want, v, target.RegName(target.ArchARM64, n))
	}
}

func TestMemory(t *testing.T) {
	f := open(t, small())
	v, err := target.Uint8(f, 0x500000002000)
	require.NoError(t, err)
	assert.EqualValues(t, 1, v)
	_, err = target.Uint8(f, 0x500000003000)
	assert.ErrorIs(t, err, target.ErrNotInDump, "the tail of p_memsz was left out, it is not zero")
}

func TestRegions(t *testing.T) {
	want := []target.Region{
		{Start: 0x500000000000, Size: 0x2000, Stored: 0x1000, Prot: target.ProtRead | target.ProtExec, Kind: "image", Path: "/lib/liba.so.1"},
		{Start: 0x500000002000, Size: 0x1000, Stored: 0x1000, Prot: target.ProtRead | target.ProtWrite, Kind: "image", Path: "/lib/liba.so.1", Offset: 0x1000},
		{Start: 0x500000003000, Size: 0x2000, Prot: target.ProtRead | target.ProtWrite, Kind: "private"},
		{Start: 0x600000000000, Size: 0x1000, Stored: 0x1000, Prot: target.ProtRead, Kind: "mapped", Path: "/usr/lib/locale/C.utf8"},
		{Start: 0x600000001000, Size: 0x3000, Kind: "mapped", Path: "/usr/lib/locale/C.utf8", Offset: 0x1000},
		{Start: 0x700000000000, Size: 0x4000, Stored: 0x4000, Prot: target.ProtRead | target.ProtWrite, Kind: "stack"},
	}
	assert.Equal(t, want, slices.Collect(open(t, small()).Regions()))
}

func TestStackOfPieces(t *testing.T) {
	f := open(t, &synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFThread(1, 0, regs(0x10_1800))},
		Segments: []synth.ELFSegment{
			{Addr: 0x10_0000, Size: page, Flags: 0},
			{Addr: 0x10_1000, Data: fill(page), Flags: 6},
			{Addr: 0x10_2000, Size: page, Flags: 6},
			{Addr: 0x10_3000, Data: fill(page), Flags: 6},
			{Addr: 0x10_4000, Data: fill(page), Flags: 4},
		},
	})
	assert.Equal(t, target.Range{Start: 0x101000, End: 0x104000}, f.Threads()[0].Stack)
	var kinds []target.RegionKind
	for r := range f.Regions() {
		kinds = append(kinds, r.Kind)
	}
	assert.Equal(t, []target.RegionKind{"private", "stack", "stack", "stack", "private"}, kinds)
}

func TestManySegments(t *testing.T) {
	c := &synth.ELFCore{ManySegments: true}
	const n = 70_000
	for i := range n {
		c.Segments = append(c.Segments, synth.ELFSegment{Addr: uint64(i+1) * 2 * page, Data: []byte{byte(i)}, Size: page})
	}
	f := open(t, c)
	v, err := target.Uint8(f, target.Addr(n*2*page))
	require.NoError(t, err)
	assert.EqualValues(t, byte((n-1)&0xff), v)
}

func TestException(t *testing.T) {
	thread := func(id uint32, signal int16) synth.ELFNote { return synth.ELFThread(id, signal, regs(0)) }
	first := synth.ELFProcess(1, "x", "")
	tests := []struct {
		name   string
		notes  []synth.ELFNote
		words  string // "" for no exception
		thread uint32
		addr   target.Addr
		info   *target.Signal // nil if only the number is known
	}{
		{name: "kernel", notes: []synth.ELFNote{thread(1, 11), synth.ELFSignal(11, 0, 2, 0xbad), thread(2, 11)}, words: "SIGSEGV/SEGV_ACCERR", thread: 1, addr: 0xbad, info: &target.Signal{Code: 2, Address: 0xbad}},
		{name: "non-canonical address", notes: []synth.ELFNote{thread(1, 11), synth.ELFSignal(11, 0, 0x80, 0)}, words: "SIGSEGV/SI_KERNEL", thread: 1, info: &target.Signal{Code: 0x80}},
		{name: "abort", notes: []synth.ELFNote{thread(1, 6), synth.ELFSignal(6, 0, -6, 5|7<<32)}, words: "SIGABRT/SI_TKILL", thread: 1, info: &target.Signal{Code: -6, PID: 5, UID: 7}},
		{name: "old kernel", notes: []synth.ELFNote{thread(1, 6), thread(2, 6)}, words: "SIGABRT", thread: 1},
		{name: "createdump", notes: []synth.ELFNote{first, thread(1, 0), thread(2, 6), synth.ELFSignal(6, 0, 0, 0), thread(3, 0)}, words: "SIGABRT", thread: 2},
		{name: "createdump without siginfo", notes: []synth.ELFNote{first, thread(1, 0), thread(2, 6), thread(3, 0)}, words: "SIGABRT", thread: 2},
		{name: "createdump 3.1, which gives it to all", notes: []synth.ELFNote{first, thread(1, 6), thread(2, 6)}},
		{name: "none", notes: []synth.ELFNote{thread(1, 0), thread(2, 0)}},
		{name: "gcore", notes: []synth.ELFNote{first, thread(1, 0), synth.ELFSignal(19, 0, 0x80, 0)}},
		{name: "address 0", notes: []synth.ELFNote{thread(1, 11), synth.ELFSignal(11, 0, 1, 0)}, words: "SIGSEGV/SEGV_MAPERR", thread: 1, info: &target.Signal{Code: 1}},
		{name: "sent", notes: []synth.ELFNote{thread(1, 11), synth.ELFSignal(11, 0, 0, 77|1000<<32)}, words: "SIGSEGV/SI_USER", thread: 1, info: &target.Signal{PID: 77, UID: 1000}},
		{name: "gdb, which stopped the others", notes: []synth.ELFNote{first, thread(1, 19), synth.ELFSignal(19, 0, -6, 5), thread(2, 11), synth.ELFSignal(11, 0, 1, 8),
			thread(3, 19), synth.ELFSignal(19, 0, -6, 5)}, words: "SIGSEGV/SEGV_MAPERR", thread: 2, addr: 8, info: &target.Signal{Code: 1, Address: 8}},
		{name: "ptrace's event", notes: []synth.ELFNote{first, thread(1, 5), synth.ELFSignal(5, 0, 0x8005, 0)}},
		{name: "signal without a thread", notes: []synth.ELFNote{synth.ELFSignal(4, 0, 1, 0x10)}, words: "SIGILL/ILL_ILLOPC", addr: 0x10, info: &target.Signal{Code: 1, Address: 0x10}},
		{name: "unknown", notes: []synth.ELFNote{thread(1, 0), synth.ELFSignal(60, 1, 9, 0)}, words: "SIGRTMIN+26/code 9", thread: 1, info: &target.Signal{Code: 9, Errno: 1}},
	}
	final := []string{"kernel", "non-canonical address", "address 0", "unknown"} // written by the kernel for a fault
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := open(t, &synth.ELFCore{Notes: tt.notes, Segments: []synth.ELFSegment{{Addr: 0x1000, Data: fill(8)}}})
			e, ok := f.Exception()
			require.Equal(t, tt.words != "", ok)
			assert.Equal(t, tt.words, e.Words)
			assert.Equal(t, tt.thread, e.ThreadID)
			assert.Equal(t, tt.addr, e.Address)
			assert.Empty(t, e.Parameters)
			if ok {
				want := target.Signal{Number: int32(e.Code)}
				if tt.info != nil {
					want, want.Number, want.Known = *tt.info, int32(e.Code), true
				}
				assert.Equal(t, want, *e.Signal)
				assert.Equal(t, e.Signal.Faulted(), e.HasAddress)
				assert.Equal(t, slices.Contains(final, tt.name), e.Final)
			}
			assert.Equal(t, tt.thread != 0, e.Registers.Known())
		})
	}
}

// TestKeptOut recognizes gdb's cores by registers that createdump does not write, and by an order of notes that is not the kernel's.
func TestKeptOut(t *testing.T) {
	const stack = 0x70000000
	first, more := synth.ELFProcess(1, "x", ""), synth.ELFNote{Owner: "LINUX", Type: 0x202, Desc: make([]byte, 576)} // NT_X86_XSTATE
	one, two := synth.ELFThread(1, 0, regs(stack+0x2000)), synth.ELFThread(2, 0, regs(stack+0x2000))
	for name, c := range map[string]struct {
		notes   []synth.ELFNote
		keptOut bool
	}{
		"gdb":        {[]synth.ELFNote{first, one, more, two, more}, true},
		"kernel":     {[]synth.ELFNote{one, first, more, two, more}, false},
		"createdump": {[]synth.ELFNote{first, one, two}, false},
	} {
		f := open(t, &synth.ELFCore{Notes: c.notes, Segments: []synth.ELFSegment{{Addr: stack, Data: fill(0x3000), Flags: 6}}})
		assert.True(t, f.Claims().ListsWritable(), name)
		assert.Equal(t, c.keptOut, f.Claims().KeepsOut(), name)
	}
}

func TestDiagInfo(t *testing.T) {
	data := func(version int32) []byte {
		var sig [16]byte
		copy(sig[:], "DIAGINFOHEADER")
		b := synth.Fields(sig, version, uint32(0x7ffd), uint64(0x1111), uint64(0x2222))
		return append(b, make([]byte, page-len(b))...)
	}
	for _, version := range []int32{1, 2} {
		f := open(t, &synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 0x7ffffff10000, Data: data(version), Flags: 4}}})
		assert.Equal(t, target.Addr(0x1111), f.Process().ExceptionRecord)
		for r := range f.Regions() {
			assert.Empty(t, r.Kind, "the page is not the process's")
		}
	}
}

// TestUnusable covers files that are not usable cores.
func TestUnusable(t *testing.T) {
	good := small().Bytes()
	changed := func(off int, b ...byte) []byte {
		out := bytes.Clone(good)
		copy(out[off:], b)
		return out
	}
	many := small()
	many.ManySegments, many.ClaimSegments = true, 4_000_000
	tooMany := small()
	tooMany.ManySegments, tooMany.ClaimSegments = true, 0xffffffff
	tests := []struct {
		name    string
		file    []byte
		want    error
		message string
	}{
		{"empty", nil, target.ErrCorrupt, "no ELF header"},
		{"text", []byte("hello, world, this is text"), target.ErrCorrupt, "no ELF header"},
		{"a program", changed(16, 2, 0), target.ErrUnsupported, "an ELF program or library, not a core"},
		{"big-endian", changed(5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4), target.ErrUnsupported, "big-endian"},
		{"32-bit", changed(4, 1), target.ErrUnsupported, "32-bit"},
		{"machine", changed(18, 8, 0), target.ErrUnsupported, "machine 8"},
		{"header cut", good[:40], target.ErrCorrupt, "ends inside the ELF header"},
		{"program header size", changed(54, 32, 0), target.ErrCorrupt, "32 bytes"},
		{"program headers behind the end", changed(32, 0, 0, 0, 0, 0, 0, 0, 0x7f), target.ErrCorrupt, "program headers can't be read"},
		{"program headers at 2^64-1", changed(32, 255, 255, 255, 255, 255, 255, 255, 255), target.ErrCorrupt, "program headers can't be read"},
		{"4M program headers", many.Bytes(), target.ErrCorrupt, "the file has room for"},
		{"4G program headers", tooMany.Bytes(), target.ErrCorrupt, "4294967295 program headers"},
		{"PN_XNUM without section", changed(56, 0xff, 0xff, 0, 0, 0, 0, 0, 0), target.ErrCorrupt, ""},
		{"PN_XNUM with section behind the end", changed(40, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 64, 0, 56, 0, 0xff, 0xff), target.ErrCorrupt, "section 0"},
		{"no memory", (&synth.ELFCore{}).Bytes(), target.ErrCorrupt, "no memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := elfcore.Open(target.BytesSource(tt.file))
			require.ErrorIs(t, err, tt.want)
			assert.Contains(t, err.Error(), tt.message)
			var fe *elfcore.FormatError
			assert.Equal(t, tt.want == target.ErrCorrupt, errors.As(err, &fe))
		})
	}
}

// TestContradictions covers cores with one fault: the rest is used, with a warning.
func TestContradictions(t *testing.T) {
	note := func(n synth.ELFNote) func(*synth.ELFCore) {
		return func(c *synth.ELFCore) { c.Notes = append(c.Notes, n) }
	}
	file := func(desc []byte) func(*synth.ELFCore) {
		return func(c *synth.ELFCore) { c.Notes[4] = synth.ELFNote{Owner: "CORE", Type: 0x46494c45, Desc: desc} }
	}
	tests := []struct {
		name    string
		change  func(*synth.ELFCore)
		message string
	}{
		{"memory behind the end", func(c *synth.ELFCore) { c.Segments[0].ClaimOffset = 1 << 40 }, "past the end"},
		{"memory at 2^64-1", func(c *synth.ELFCore) { c.Segments[0].ClaimOffset = 1<<64 - 1 }, "past the end"},
		{"memory longer than the file", func(c *synth.ELFCore) { c.Segments[3].ClaimFileSize, c.Segments[3].Size = 1<<50, 1<<50 }, "past the end"},
		{"more in the file than in memory", func(c *synth.ELFCore) { c.Segments[3].Size = page }, "larger in the file"},
		{"overlap", func(c *synth.ELFCore) { c.Segments[3].Addr = c.Segments[2].Addr + 16 }, "overlap"},
		{"wraps", func(c *synth.ELFCore) { c.Segments[3].Addr = 1<<64 - page }, "wrap"},
		{"short NT_PRSTATUS", note(synth.ELFNote{Owner: "CORE", Type: 1, Desc: make([]byte, 40)}), "NT_PRSTATUS"},
		{"NT_PRSTATUS cut among the registers", note(synth.ELFNote{Owner: "CORE", Type: 1, Desc: make([]byte, 200)}), "ends among the registers"},
		{"short NT_PRPSINFO", note(synth.ELFNote{Owner: "CORE", Type: 3, Desc: make([]byte, 60)}), "NT_PRPSINFO"},
		{"short NT_SIGINFO", func(c *synth.ELFCore) { c.Notes[2].Desc = make([]byte, 9) }, "NT_SIGINFO"},
		{"NT_FILE without header", file([]byte{1, 0, 0}), "NT_FILE"},
		{"NT_FILE count", file(synth.Fields(uint64(1<<60), uint64(page), make([]byte, 64))), "1152921504606846976 mappings"},
		{"NT_FILE count of names", file(synth.Fields(uint64(1), uint64(page), [3]uint64{0x1000, 0x2000, 0}, byte('x'))), "have no name"},
		{"NT_FILE page size 0", file(synth.Fields(uint64(1), uint64(0), make([]byte, 64))), "page size 0"},
		{"NT_FILE page size 5", file(synth.Fields(uint64(1), uint64(5), make([]byte, 64))), "page size 5"},
		{"NT_FILE offset", file(synth.Fields(uint64(1), uint64(page), [3]uint64{0x1000, 0x2000, 1 << 62}, []byte("a\x00"))), "1 mappings are impossible"},
		{"NT_FILE order", file(synth.Fields(uint64(1), uint64(page), [3]uint64{0x2000, 0x1000, 0}, []byte("a\x00"))), "1 mappings are impossible"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := small()
			tt.change(c)
			f := open(t, c)
			assert.GreaterOrEqual(t, len(f.Threads()), 2)
			require.NotEmpty(t, f.Warnings())
			var all []string
			for _, w := range f.Warnings() {
				assert.ErrorIs(t, w, target.ErrCorrupt)
				all = append(all, w.Error())
			}
			assert.Contains(t, strings.Join(all, "\n"), tt.message)
			touch(f)
		})
	}
}

// TestLyingNotes covers note headers that claim more bytes than there are.
func TestLyingNotes(t *testing.T) {
	b := small().Bytes()
	const noteOff = 64 + 5*56
	for _, field := range []int{0, 4} {
		lie := bytes.Clone(b)
		copy(lie[noteOff+field:], []byte{0xff, 0xff, 0xff, 0xff})
		f, err := elfcore.Open(target.BytesSource(lie))
		require.NoError(t, err)
		assert.Empty(t, f.Threads())
		require.NotEmpty(t, f.Warnings())
		assert.ErrorIs(t, f.Warnings()[0], target.ErrCorrupt)
		assert.ErrorIs(t, f.Warnings()[0], io.ErrUnexpectedEOF)
	}
}

// touch calls every method of a File.
func touch(f *elfcore.File) {
	f.Platform()
	f.Process()
	f.Exception()
	f.Auxv()
	f.Notes()
	for _, w := range f.Warnings() {
		_ = w.Error()
	}
	for _, m := range f.Modules() {
		f.Span(m.Base)
		m.Contains(m.Base)
	}
	for _, th := range f.Threads() {
		for range th.Registers.All {
		}
		f.Span(th.Stack.Start)
	}
	var p [64]byte
	for r := range f.Regions() {
		f.ReadMemory(p[:], r.Start)
		f.View(r.Start, 8)
	}
}

// lessMemory returns a Source that lends nothing.
func lessMemory(b []byte) target.Source {
	return target.ReaderAtSource(bytes.NewReader(b), int64(len(b)))
}

func TestTruncation(t *testing.T) {
	b := small().Bytes()
	whole, err := elfcore.Open(lessMemory(b))
	require.NoError(t, err)
	for n := range len(b) {
		if n > 2*page && n%97 != 0 {
			continue
		}
		f, err := elfcore.Open(lessMemory(b[:n]))
		if err != nil {
			require.ErrorIs(t, err, target.ErrCorrupt, "cut at %d", n)
			continue
		}
		require.NotEmpty(t, f.Warnings(), "cut at %d", n)
		require.LessOrEqual(t, len(f.Threads()), len(whole.Threads()))
		touch(f)
	}
}

func TestBitFlips(t *testing.T) {
	b := small().Bytes()
	for i := range (page + 512) * 8 { // the headers, the notes and the header of an image
		b[i/8] ^= 1 << (i % 8)
		if f, err := elfcore.Open(target.BytesSource(b)); err == nil {
			touch(f)
		}
		b[i/8] ^= 1 << (i % 8)
	}
}

func FuzzOpen(f *testing.F) {
	for _, c := range []*synth.ELFCore{small(), {ManySegments: true, Segments: small().Segments}, linked()} {
		f.Add(c.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, src := range []target.Source{target.BytesSource(b), lessMemory(b)} {
			c, err := elfcore.Open(src)
			if err != nil {
				if !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) {
					t.Fatal(err)
				}
				continue
			}
			touch(c)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	c := small()
	for i := range 10_000 {
		c.Segments = append(c.Segments, synth.ELFSegment{Addr: 0x10_0000_0000 + uint64(i)*2*page, Data: []byte{1}, Size: page, Flags: 6})
	}
	src := target.BytesSource(c.Bytes())
	for b.Loop() {
		if _, err := elfcore.Open(src); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTimes: the kernel stores the process's times in the first thread's note; that thread's own
// times are unknown.
func TestTimes(t *testing.T) {
	c := small()
	c.Notes[1] = synth.ELFProcess(100, "app", "app --flag ")
	f := open(t, c)
	assert.Equal(t, &target.Times{User: 1500 * time.Millisecond, Kernel: 2250 * time.Millisecond}, f.Process().Times)
	require.Len(t, f.Threads(), 2)
	assert.Zero(t, f.Threads()[0].User+f.Threads()[0].Kernel)
	assert.Equal(t, 1500*time.Millisecond, f.Threads()[1].User)
	assert.Equal(t, []bool{false, true}, []bool{f.Threads()[0].Timed, f.Threads()[1].Timed})

	assert.Nil(t, open(t, small()).Process().Times, "no thread has the number of the process")
}
