package machocore_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/dump/machocore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

const (
	page    = 4096
	program = 0x1_0000_0000
	library = 0x1_0200_0000
	linker  = 0x2_0000_0000
	stack   = 0x7000_0000_0000
	arm64   = 0x0100000c

	threadInfo = 0x7fffffff00000000
	diagInfo   = 0x7fffffff10000000
)

// fill returns n bytes that are not zero.
func fill(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i%251 + 1)
	}
	return b
}

// regs returns distinct values in the order of x86_thread_state64.
func regs(sp uint64) (r [21]uint64) {
	for i := range r {
		r[i] = 0x1000 + uint64(i)
	}
	r[7] = sp
	return r
}

// header returns the first page of an image.
func header(m *synth.MachOImage) []byte {
	b := make([]byte, page)
	copy(b, m.Header())
	return b
}

func programHeader(cpu uint32) []byte {
	return header(&synth.MachOImage{CPU: cpu, Type: 2, UUID: [16]byte{1}, Segments: []synth.MachOSegment{
		{Name: "__PAGEZERO", Size: program},
		{Name: "__TEXT", Addr: program, Size: 2 * page, FileSize: 2 * page, Prot: 5},
		{Name: "__DATA", Addr: program + 2*page, Size: 2 * page, Offset: 2 * page, FileSize: page, Prot: 3},
		{Name: "__LINKEDIT", Addr: program + 4*page, Size: page, Offset: 3 * page, FileSize: 100, Prot: 1},
	}})
}

func libraryHeader(cpu, flags uint32) []byte {
	return header(&synth.MachOImage{CPU: cpu, Flags: flags, Name: "@rpath/liba.dylib", UUID: [16]byte{2}, Segments: []synth.MachOSegment{
		{Name: "__TEXT", Addr: 0x7ff8_0000_0000, Size: 3 * page, Offset: 0x5000, FileSize: 3 * page, Prot: 5},
		{Name: "__DATA", Addr: 0x7ff8_4000_0000, Size: page, Offset: 0x9000, FileSize: page, Prot: 3},
	}})
}

// images is the dynamic linker's list.
var images = []synth.MachOLoaded{{Base: program, Path: "/app/Program"}, {Base: library, Path: "/app/liba.dylib"}, {Base: 0x3_0000_0000, Path: "/usr/lib/libz.dylib"}}

// small returns a valid core in createdump's form: two threads, a program, a library of the shared
// cache, and the dynamic linker.
func small() *synth.MachOCore {
	dyld := synth.MachOLinker(0, linker, images...)
	return &synth.MachOCore{
		Threads: [][]byte{
			synth.MachOThread(synth.MachOAMD64(regs(stack+0x2100)), synth.MachOFloatAMD64(bytes.Repeat([]byte{7}, 512))),
			synth.MachOThread(synth.MachOAMD64(regs(stack+0x10_0000)), synth.MachOState{Kind: 6, Data: synth.Fields(uint16(14), uint16(1), uint32(6), uint64(0xdead))}),
		},
		Segments: []synth.MachOSegment{
			{Addr: program, Data: append(programHeader(0), fill(page)...), Prot: 5},
			{Addr: program + 2*page, Data: fill(page), Size: 2 * page, Prot: 3},
			{Addr: library, Data: libraryHeader(0, 0x80000000), Prot: 5},
			{Addr: linker, Data: dyld[:page], Prot: 5},
			{Addr: linker + page, Data: dyld[page:], Prot: 3},
			{Addr: stack, Data: fill(4 * page), Prot: 3},
			{Addr: stack + 4*page, Data: fill(page), Prot: 3},
			{Addr: stack + 0xff000, Data: fill(2 * page), Prot: 3},
			{Addr: threadInfo, Data: synth.MachOThreadInfo(99, [2]uint64{100, stack + 0x2100}, [2]uint64{101, stack + 0x10_0000}), Prot: 1},
			{Addr: diagInfo, Data: synth.MachODiagInfo(2, 0xabc0, library), Prot: 1},
		},
	}
}

// noted returns a core in lldb's form, with notes instead of createdump's pages.
func noted() *synth.MachOCore {
	c := small()
	c.CPU = arm64
	var r [33]uint64
	for i := range r {
		r[i] = 0x100 + uint64(i)
	}
	r[30], r[31] = 0x8123_0000_0000_1234, stack+0x100
	c.Threads = [][]byte{
		synth.MachOThread(synth.MachOARM64(r, 0x60000000), synth.MachOFloatARM64(fill(512)), synth.MachOState{Kind: 7, Data: synth.Fields(uint64(0xbeef), uint32(0x92000006), uint32(1))}),
		synth.MachOThread(synth.MachOState{Kind: 1, Data: synth.Fields(uint32(6), uint32(68), r, uint32(5), uint32(0))}),
	}
	c.Segments = []synth.MachOSegment{
		{Addr: program, Data: programHeader(arm64), Prot: 5},
		{Addr: library, Data: libraryHeader(arm64, 0), Prot: 5},
		{Addr: stack, Data: fill(page), Prot: 3},
	}
	c.Notes = []synth.MachONote{
		synth.Note("addrable bits", synth.Fields(uint32(4), uint32(47), uint32(55), uint32(0))),
		synth.Note("process metadata", []byte(`{"threads":[{"thread_id":7001},{"thread_id":7002}]}`)),
		{Owner: "all image infos", Data: func(off uint64) []byte {
			return synth.MachOImages(off, synth.MachOLoaded{Base: program, Path: "/app/Program", UUID: [16]byte{1}},
				synth.MachOLoaded{Base: 0x3_0000_0000, Path: "/usr/lib/libz.dylib", UUID: [16]byte{3}})
		}},
		synth.Note("main bin spec", synth.Fields(uint32(1), uint32(2), uint64(program), [16]byte{1}, uint32(14), uint32(0))),
		synth.Note("something", []byte{1, 2, 3}),
	}
	return c
}

func open(t *testing.T, c *synth.MachOCore) *machocore.File {
	t.Helper()
	f, err := machocore.Open(target.BytesSource(c.Bytes()))
	require.NoError(t, err)
	return f
}

func TestOpen(t *testing.T) {
	f := open(t, small())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, target.Platform{OS: target.OSDarwin, Arch: target.ArchAMD64}, f.Platform())
	assert.Equal(t, target.Process{ID: 99, Command: "/app/Program", Container: "Mach-O core", ExceptionRecord: 0xabc0}, f.Process())
	assert.Zero(t, f.Cut())
	_, ok := f.Exception()
	assert.False(t, ok)

	threads := f.Threads()
	require.Len(t, threads, 2)
	assert.Equal(t, []uint32{100, 101}, []uint32{threads[0].ID, threads[1].ID})
	for reg, want := range map[target.Reg]uint64{target.RAX: 0x1000, target.RBX: 0x1001, target.RCX: 0x1002, target.RDX: 0x1003, target.RDI: 0x1004,
		target.RSI: 0x1005, target.RBP: 0x1006, target.RSP: stack + 0x2100, target.R8: 0x1008, target.R15: 0x100f, target.RIP: 0x1010, target.EFLAGS: 0x1011,
		target.CS: 0x1012, target.FS: 0x1013, target.GS: 0x1014} {
		got, known := threads[0].Registers.Get(reg)
		assert.True(t, known)
		assert.Equal(t, want, got, target.RegName(target.ArchAMD64, reg))
	}
	assert.Equal(t, bytes.Repeat([]byte{7}, 512), threads[0].Registers.Float)
	assert.Nil(t, threads[1].Registers.Float)
	assert.Equal(t, target.Range{Start: stack + 0x2000, End: stack + 5*page}, threads[0].Stack)
	assert.Equal(t, target.Range{Start: stack + 0x10_0000, End: stack + 0x10_1000}, threads[1].Stack)
	assert.Equal(t, []machocore.Fault{{}, {Known: true, Address: 0xdead, Trap: 14, Code: 6}}, f.Faults())
}

func TestModules(t *testing.T) {
	f := open(t, small())
	want := []target.Module{
		{Base: program, Size: 5 * page, Path: "/app/Program", BuildID: append([]byte{1}, make([]byte, 15)...), Listed: true, Mappings: []target.Mapping{
			{Start: program, End: program + 2*page}, {Start: program + 2*page, End: program + 3*page, Offset: 2 * page},
			{Start: program + 4*page, End: program + 4*page + 100, Offset: 3 * page}}},
		// An image in the shared cache owns only its code.
		{Base: library, Size: 3 * page, Path: "/app/liba.dylib", BuildID: append([]byte{2}, make([]byte, 15)...), Listed: true},
		{Base: linker, Size: 4 * page, Path: "/usr/lib/dyld", BuildID: append([]byte{0xd}, make([]byte, 15)...), Listed: true, Mappings: []target.Mapping{
			{Start: linker, End: linker + page}, {Start: linker + page, End: linker + 4*page, Offset: page}}},
		{Base: 0x3_0000_0000, Size: page, Path: "/usr/lib/libz.dylib", Listed: true}, // the header is not in the dump
	}
	assert.Equal(t, want, f.Modules())
}

// TestDynamicLinkerInside finds the dynamic linker in the middle of a segment.
func TestDynamicLinkerInside(t *testing.T) {
	c := small()
	dyld := synth.MachOLinker(0, linker, images...)
	c.Segments[3] = synth.MachOSegment{Addr: linker - page, Data: append(fill(page), dyld[:page]...), Prot: 5}
	assert.Len(t, open(t, c).Modules(), 4)
}

// TestScannedModules covers a core without a list of images: headers at the start of segments, a
// program in a note, and PE images.
func TestScannedModules(t *testing.T) {
	c := small()
	pe := append(synth.PEImage(0x5000, 0x400), make([]byte, page)...)[:page]
	c.Segments = append([]synth.MachOSegment{c.Segments[0], c.Segments[1], c.Segments[2]}, synth.MachOSegment{Addr: 0x4_0000_0000, Data: pe, Prot: 1},
		synth.MachOSegment{Addr: 0x4_0000_2000, Data: pe, Prot: 5}, synth.MachOSegment{Addr: 0x4_0000_8000, Data: append(fill(page), programHeader(0)...), Prot: 1})
	c.Notes = []synth.MachONote{synth.Note("main bin spec", synth.Fields(uint32(2), uint32(2), uint64(0x4_0000_9000), ^uint64(0), [16]byte{}, uint32(12), uint32(0)))}
	f := open(t, c)
	var got []target.Addr
	for _, m := range f.Modules() {
		got = append(got, m.Base)
		assert.False(t, m.Listed)
	}
	assert.Equal(t, []target.Addr{program, library, 0x4_0000_0000, 0x4_0000_9000}, got)
	assert.Equal(t, "@rpath/liba.dylib", f.Modules()[1].Path)
	assert.Equal(t, uint32(0x5000), f.Modules()[2].SizeOfImage)
	require.Len(t, f.Warnings(), 1)
	assert.ErrorContains(t, f.Warnings()[0], "the ids of threads")
	assert.Equal(t, []uint32{1, 2}, []uint32{f.Threads()[0].ID, f.Threads()[1].ID})
}

func TestNotes(t *testing.T) {
	f := open(t, noted())
	assert.Empty(t, f.Warnings())
	assert.Equal(t, target.ArchARM64, f.Platform().Arch)
	threads := f.Threads()
	require.Len(t, threads, 2)
	for i := range threads {
		r := &threads[i].Registers
		for reg, want := range map[target.Reg]uint64{target.ARM64X0: 0x100, target.ARM64FP: 0x11d, target.ARM64SP: stack + 0x100, target.ARM64PC: 0x120} {
			got, known := r.Get(reg)
			assert.True(t, known)
			assert.Equal(t, want, got)
		}
		lr, _ := r.Get(target.ARM64LR)
		assert.Equal(t, target.Addr(0x1234), r.Code(lr), "a signed return address")
		assert.Equal(t, uint32(7001+i), threads[i].ID)
	}
	assert.Equal(t, fill(512), threads[0].Registers.Float)
	assert.Equal(t, []machocore.Fault{{Known: true, Address: 0xbeef, Trap: 1, Code: 0x92000006}, {}}, f.Faults())
	modules := f.Modules()
	require.Len(t, modules, 2)
	assert.Equal(t, "/app/Program", modules[0].Path)
	assert.Equal(t, []byte{3}, modules[1].BuildID[:1])
	assert.Equal(t, "/app/Program", f.Process().Command)
	require.Len(t, f.Notes(), 5)
	assert.Equal(t, "something", f.Notes()[4].Owner)
	assert.Equal(t, []byte{1, 2, 3}, f.Notes()[4].Data)

	c := noted()
	c.Notes = c.Notes[1:]
	assert.Equal(t, uint64(0xffff_8000_0000_0000), open(t, c).Threads()[0].Registers.Signature, "the width that the system has")
}

// TestMemory distinguishes memory that was left out from memory that the process did not have.
func TestMemory(t *testing.T) {
	f := open(t, small())
	b, ok := f.View(stack+16, 4)
	require.True(t, ok)
	assert.Equal(t, fill(32)[16:20], b)
	for a, want := range map[target.Addr]error{
		program + 3*page: target.ErrNotInDump, // in the segment
		0x9000_0000_0000: target.ErrCorrupt,
		0x10:             target.ErrCorrupt,
		threadInfo - 8:   target.ErrCorrupt,
	} {
		_, err := f.ReadMemory(make([]byte, 8), a)
		assert.ErrorIs(t, err, want, "%x", uint64(a))
	}
	var kinds []target.RegionKind
	for r := range f.Regions() {
		kinds = append(kinds, r.Kind)
	}
	assert.Equal(t, []target.RegionKind{"image", "image", "image", "image", "image", "stack", "stack", "stack", "", ""}, kinds)
	assert.Equal(t, "rw-", slices.Collect(f.Regions())[1].Prot.String())
}

func TestRefused(t *testing.T) {
	good := small().Bytes()
	changed := func(off int, bytes ...byte) []byte {
		b := slices.Clone(good)
		copy(b[off:], bytes)
		return b
	}
	for _, tt := range []struct {
		name    string
		file    []byte
		want    error
		message string
	}{
		{"empty", nil, target.ErrCorrupt, "no sense"},
		{"cut header", good[:20], target.ErrCorrupt, "ends inside the header"},
		{"program", changed(12, 2), target.ErrUnsupported, "program or library"},
		{"other processor", changed(4, 18, 0, 0, 1), target.ErrUnsupported, "processor 0x1000012"},
		{"4G commands", changed(16, 255, 255, 255, 255), target.ErrCorrupt, "4294967295 load commands"},
		{"more commands than room", (&synth.MachOCore{Segments: small().Segments, ClaimCommands: 1 << 20}).Bytes(), target.ErrCorrupt, "load commands"},
		{"no memory", (&synth.MachOCore{Threads: small().Threads}).Bytes(), target.ErrCorrupt, "no memory"},
		{"commands that make no sense", (&synth.MachOCore{Threads: [][]byte{synth.Fields(uint32(9), uint32(4))}, Segments: small().Segments}).Bytes(), target.ErrCorrupt, "no memory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := machocore.Open(target.BytesSource(tt.file))
			require.ErrorIs(t, err, tt.want)
			assert.ErrorContains(t, err, tt.message)
			var fe *machocore.FormatError
			assert.Equal(t, tt.want == target.ErrCorrupt, errors.As(err, &fe))
		})
	}
	_, err := machocore.OpenLimited(target.BytesSource(good), target.Limits{Ranges: 3})
	require.ErrorIs(t, err, target.ErrLimit)
	f, err := machocore.OpenLimited(target.BytesSource(noted().Bytes()), target.Limits{Threads: 1, Notes: 2})
	require.NoError(t, err)
	assert.Len(t, f.Threads(), 1)
	assert.Len(t, f.Notes(), 2)
	assert.Len(t, f.Warnings(), 3) // including the missing ids
}

// TestContradictions covers cores with one fault: the rest is used, with a warning.
func TestContradictions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		core    *synth.MachOCore
		change  func(*synth.MachOCore)
		message string
	}{
		{"memory behind the end", small(), func(c *synth.MachOCore) { c.Segments[1].Offset, c.Segments[1].FileSize = 1<<40, page }, "past the end"},
		{"memory at 2^64-1", small(), func(c *synth.MachOCore) { c.Segments[1].Offset, c.Segments[1].FileSize = 1<<64-1, page }, "past the end"},
		{"code without a dynamic linker and without end", small(), func(c *synth.MachOCore) {
			c.Segments[3] = synth.MachOSegment{Addr: 1 << 46, Offset: page, FileSize: 1 << 60, Size: 1 << 60, Prot: 5}
		}, "past the end"},
		{"more in the file than in memory", small(), func(c *synth.MachOCore) { c.Segments[1].Offset, c.Segments[1].FileSize = page, 1<<50 }, "larger in the file"},
		{"overlap", small(), func(c *synth.MachOCore) { c.Segments[1].Addr = program + 16 }, "overlap"},
		{"wraps", small(), func(c *synth.MachOCore) { c.Segments[5].Addr = 1<<64 - page }, "wrap"},
		{"state of 4G words", small(), func(c *synth.MachOCore) { copy(c.Threads[1][12:], []byte{255, 255, 255, 255}) }, "the state of a thread is cut"},
		{"half a state", small(), func(c *synth.MachOCore) { c.Threads[1] = synth.Fields(uint32(4), uint32(12), uint32(4)) }, "end early"},
		{"command of 4 bytes", small(), func(c *synth.MachOCore) { c.Last, c.ClaimCommands = synth.Fields(uint32(9), uint32(4)), 13 }, "from here on are missing"},
		{"command of 2G", small(), func(c *synth.MachOCore) { c.Last, c.ClaimCommands = synth.Fields(uint32(9), uint32(1<<31)), 13 }, "from here on are missing"},
		{"short segment", small(), func(c *synth.MachOCore) {
			c.Threads = append(c.Threads, synth.Fields(uint32(0x19), uint32(16), uint64(0)))
		}, "a segment is not used"},
		{"short note", small(), func(c *synth.MachOCore) {
			c.Threads = append(c.Threads, synth.Fields(uint32(0x31), uint32(16), uint64(0)))
		}, "a note is not used"},
		{"thread ids of a billion", small(), func(c *synth.MachOCore) { copy(c.Segments[8].Data[20:], []byte{0, 0, 0, 64}) }, "ends after 2"},
		{"one thread id", small(), func(c *synth.MachOCore) {
			c.Segments[8].Data = synth.MachOThreadInfo(99, [2]uint64{1, stack + 0x10_0000})
		}, "the ids of 1 of 2 threads"},
		{"4G images", small(), func(c *synth.MachOCore) { copy(c.Segments[4].Data[0x104:], []byte{255, 255, 255, 255}) }, "lists 4294967295 images"},
		{"list that ends", small(), func(c *synth.MachOCore) { copy(c.Segments[4].Data[0x104:], []byte{255, 255, 0, 0}) }, "ends after"},
		{"note longer than the file", noted(), func(c *synth.MachOCore) { c.Notes[4].ClaimSize = 1 << 50 }, "bytes of the note"},
		{"metadata that is none", noted(), func(c *synth.MachOCore) { c.Notes[1] = synth.Note("process metadata", []byte("{")) }, "process metadata"},
		{"4G noted images", noted(), func(c *synth.MachOCore) {
			c.Notes[2] = synth.Note("all image infos", synth.Fields(uint32(1), ^uint32(0), uint64(0), uint32(48), uint32(0)))
		}, "4294967295 entries"},
		{"noted images behind the end", noted(), func(c *synth.MachOCore) {
			c.Notes[2] = synth.Note("all image infos", synth.Fields(uint32(1), uint32(3), uint64(1<<60), uint32(48), uint32(0)))
		}, "ends after 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.change(tt.core)
			f := open(t, tt.core)
			require.NotEmpty(t, f.Warnings())
			var all []string
			for _, w := range f.Warnings() {
				all = append(all, w.Error())
			}
			assert.Contains(t, strings.Join(all, "\n"), tt.message)
			seen := map[uint32]bool{}
			for _, th := range f.Threads() {
				assert.False(t, seen[th.ID], "two threads of one id")
				seen[th.ID] = true
			}
			touch(f)
		})
	}
}

// TestManyWarnings limits the warnings of one core.
func TestManyWarnings(t *testing.T) {
	c := small()
	for range 1000 {
		c.Threads = append(c.Threads, synth.Fields(uint32(0x31), uint32(16), uint64(0)))
	}
	assert.Len(t, open(t, c).Warnings(), 64)
}

// touch calls every method of a File.
func touch(f *machocore.File) {
	f.Platform()
	f.Process()
	f.Exception()
	f.Notes()
	f.Faults()
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
		_, _ = f.ReadMemory(p[:], r.Start)
		f.View(r.Start, 8)
	}
}

// lessMemory returns a Source that lends nothing.
func lessMemory(b []byte) target.Source {
	return target.ReaderAtSource(bytes.NewReader(b), int64(len(b)))
}

// TestLent compares a source that lends its bytes with one that does not.
func TestLent(t *testing.T) {
	for _, c := range []*synth.MachOCore{small(), noted()} {
		f, err := machocore.Open(lessMemory(c.Bytes()))
		require.NoError(t, err)
		want := open(t, c)
		assert.Equal(t, want.Modules(), f.Modules())
		assert.Equal(t, want.Threads(), f.Threads())
		assert.Equal(t, want.Notes(), f.Notes())
	}
}

func TestTruncation(t *testing.T) {
	for _, c := range []*synth.MachOCore{small(), noted()} {
		b := c.Bytes()
		whole := open(t, c)
		opened := 0
		for n := range len(b) {
			if n > 2*page && n%97 != 0 {
				continue
			}
			f, err := machocore.Open(lessMemory(b[:n]))
			if err != nil {
				require.ErrorIs(t, err, target.ErrCorrupt, "cut at %d", n)
				continue
			}
			opened++
			require.NotEmpty(t, f.Warnings(), "cut at %d", n)
			require.LessOrEqual(t, len(f.Threads()), len(whole.Threads()))
			touch(f)
		}
		require.Positive(t, opened)
	}
}

// TestCutCommands opens a core that ends inside its load commands. The complete commands are used.
func TestCutCommands(t *testing.T) {
	b := small().Bytes()
	f, err := machocore.Open(target.BytesSource(b[:len(b)-3*page]))
	require.NoError(t, err)
	assert.Positive(t, f.Cut())
	_, err = machocore.Open(target.BytesSource(b[:200]))
	require.ErrorIs(t, err, target.ErrCorrupt)
	require.ErrorContains(t, err, "no memory")
	c := small()
	c.ClaimSize = 1 << 30
	_, err = machocore.Open(target.BytesSource(c.Bytes()))
	require.NoError(t, err, "the commands are there, whatever their size is said to be")
	c.ClaimCommands = 1000
	f, err = machocore.Open(target.BytesSource(c.Bytes()))
	require.NoError(t, err)
	assert.ErrorContains(t, f.Warnings()[0], "from here on are missing")
}

func TestBitFlips(t *testing.T) {
	for _, c := range []*synth.MachOCore{small(), noted()} {
		b := c.Bytes()
		for i := 0; i < (page+512)*8; i += 5 { // the load commands and the header of an image
			b[i/8] ^= 1 << (i % 8)
			if f, err := machocore.Open(target.BytesSource(b)); err == nil {
				touch(f)
			} else if !errors.Is(err, target.ErrCorrupt) && !errors.Is(err, target.ErrUnsupported) {
				t.Fatal(err)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
}

// broken is a file that can't be read.
type broken struct{ size int64 }

func (b broken) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

func TestUnreadable(t *testing.T) {
	_, err := machocore.Open(target.ReaderAtSource(broken{1 << 20}, 1<<20))
	require.ErrorIs(t, err, target.ErrCorrupt)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func FuzzOpen(f *testing.F) {
	for _, c := range []*synth.MachOCore{small(), noted()} {
		f.Add(c.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, src := range []target.Source{target.BytesSource(b), lessMemory(b)} {
			c, err := machocore.Open(src)
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

// FuzzThread opens cores with arbitrary thread states, for both processors.
func FuzzThread(f *testing.F) {
	for _, c := range []*synth.MachOCore{small(), noted()} {
		for _, th := range c.Threads {
			f.Add(th[8:], c.CPU == arm64)
		}
	}
	f.Fuzz(func(t *testing.T, states []byte, onARM bool) {
		c := small()
		if onARM {
			c = noted()
		}
		c.Threads = append(c.Threads, append(synth.Fields(uint32(4), uint32(8+len(states))), states...))
		touch(open(t, c))
	})
}
