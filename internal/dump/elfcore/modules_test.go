package elfcore_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// describe formats modules as "base+size path xMAPPINGS".
func describe(modules []target.Module) []string {
	var out []string
	for _, m := range modules {
		out = append(out, fmt.Sprintf("%x+%x %s x%d", uint64(m.Base), m.Size, m.Path, len(m.Mappings)))
	}
	return out
}

// TestModules covers the rules for NT_FILE. The core holds every page of the mappings in seg.
func TestModules(t *testing.T) {
	type file struct {
		Start, End, Offset uint64
		Path               string
	}
	seg := func(addr uint64, data []byte) synth.ELFSegment {
		return synth.ELFSegment{Addr: addr, Data: data, Flags: 5}
	}
	// Two segments, the second shifted by a page, with a .bss up to 0x5800.
	lib := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x2000, 0x2000}, [4]uint64{0x2000, 0x3000, 0x1000, 0x2800})
	// Two segments in one page of the file.
	tiny := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x700, 0x700}, [4]uint64{0x700, 0x1700, 0x200, 0x200})
	fixed := synth.ELFImage(2, 0, [4]uint64{0, 0x400000, 0x1000, 0x1000}, [4]uint64{0x1000, 0x601000, 0x1000, 0x1000})
	dll := synth.PEImage(0x40200, 0x400)
	tests := []struct {
		name  string
		files []file
		segs  []synth.ELFSegment
		aux   []uint64
		want  []string
	}{
		{
			name:  "ELF with .bss",
			files: []file{{0x10000, 0x12000, 0, "/a.so"}, {0x13000, 0x14000, 0x2000, "/a.so"}},
			segs:  []synth.ELFSegment{seg(0x10000, lib)},
			want:  []string{"10000+5800 /a.so x2"},
		},
		{
			name:  "only the writable segment, which shares the first page of the file, is in the core",
			files: []file{{0x400000, 0x401000, 0, "/a.out"}, {0x600000, 0x601000, 0, "/a.out"}, {0x601000, 0x602000, 0x1000, "/a.out"}},
			segs:  []synth.ELFSegment{seg(0x600000, synth.ELFImage(2, 0, [4]uint64{0, 0x400000, 0x7ac, 0x7ac}, [4]uint64{0xe10, 0x600e10, 0x218, 0x1220}))},
			want:  []string{"400000+202030 /a.out x3"},
		},
		{
			name: "no header: the second segment begins in the page in which the first ends, behind a gap",
			files: []file{{0x10000, 0x14000, 0, "/l.so"}, {0x14000, 0x20000, 0x4000, "/l.so"}, {0x20000, 0x21000, 0x3000, "/l.so"}, {0x21000, 0x23000, 0x4000, "/l.so"},
				{0x30000, 0x31000, 0x1000, "/l.so"}},
			want: []string{"10000+13000 /l.so x4", "2f000+2000 /l.so x1"},
		},
		{
			name: "the same ELF twice, side by side",
			files: []file{{0x10000, 0x12000, 0, "/a.so"}, {0x13000, 0x14000, 0x2000, "/a.so"},
				{0x16000, 0x18000, 0, "/a.so"}, {0x19000, 0x1a000, 0x2000, "/a.so"}},
			segs: []synth.ELFSegment{seg(0x10000, lib), seg(0x16000, lib)},
			want: []string{"10000+5800 /a.so x2", "16000+5800 /a.so x2"},
		},
		{
			name:  "ELF whose segments share the first page",
			files: []file{{0x10000, 0x11000, 0, "/t.so"}, {0x11000, 0x12000, 0, "/t.so"}},
			segs:  []synth.ELFSegment{seg(0x10000, tiny)},
			want:  []string{"10000+2000 /t.so x2"},
		},
		{
			name:  "ELF as it lies on disk, then loaded",
			files: []file{{0x10000, 0x13000, 0, "/a.so"}, {0x14000, 0x16000, 0, "/a.so"}, {0x17000, 0x18000, 0x2000, "/a.so"}},
			segs:  []synth.ELFSegment{seg(0x10000, lib), seg(0x14000, lib)},
			want:  []string{"10000+3000 /a.so x1", "14000+5800 /a.so x2"},
		},
		{
			name:  "program at a fixed address",
			files: []file{{0x400000, 0x401000, 0, "/app"}, {0x601000, 0x602000, 0x1000, "/app"}},
			segs:  []synth.ELFSegment{seg(0x400000, fixed)},
			want:  []string{"400000+202000 /app x2"},
		},
		{
			name: "assembly on disk and section by section, which repeats the first page",
			files: []file{{0x100000, 0x130000, 0, "/a.dll"},
				{0x200000, 0x201000, 0, "/a.dll"}, {0x210000, 0x220000, 0, "/a.dll"}, {0x23f000, 0x240000, 0x2f000, "/a.dll"}},
			segs: []synth.ELFSegment{seg(0x100000, dll), seg(0x200000, dll), seg(0x210000, dll)},
			want: []string{"100000+30000 /a.dll x1", "200000+40000 /a.dll x3"},
		},
		{
			name: "the same without a header in the dump",
			files: []file{{0x100000, 0x130000, 0, "/a.dll"},
				{0x200000, 0x201000, 0, "/a.dll"}, {0x210000, 0x220000, 0, "/a.dll"}, {0x23f000, 0x240000, 0x2f000, "/a.dll"}},
			want: []string{"100000+30000 /a.dll x1", "200000+40000 /a.dll x3"},
		},
		{
			name: "a small assembly of .NET Core 3.1 without a header in the dump: three sections begin in its first page",
			files: []file{{0x100000, 0x105000, 0, "/a.dll"},
				{0x200000, 0x201000, 0, "/a.dll"}, {0x210000, 0x211000, 0, "/a.dll"}, {0x220000, 0x222000, 0, "/a.dll"}, {0x232000, 0x233000, 0x2000, "/a.dll"}},
			want: []string{"100000+5000 /a.dll x1", "200000+33000 /a.dll x4"},
		},
		{
			name:  "the same with sections of one page",
			files: []file{{0x200000, 0x201000, 0, "/a.dll"}, {0x210000, 0x211000, 0, "/a.dll"}, {0x220000, 0x221000, 0, "/a.dll"}, {0x230000, 0x231000, 0, "/a.dll"}},
			want:  []string{"200000+31000 /a.dll x4"},
		},
		{
			name:  "two files on disk side by side without a header in the dump",
			files: []file{{0x100000, 0x102000, 0, "/a.dll"}, {0x102000, 0x104000, 0, "/a.dll"}},
			want:  []string{"100000+2000 /a.dll x1", "102000+2000 /a.dll x1"},
		},
		{
			name: "another file between the sections",
			files: []file{{0x200000, 0x201000, 0, "/a.dll"}, {0x205000, 0x206000, 0x1000, "/memfd:x (deleted)"},
				{0x210000, 0x220000, 0, "/a.dll"}},
			segs: []synth.ELFSegment{seg(0x200000, dll)},
			want: []string{"200000+20000 /a.dll x2"},
		},
		{
			name:  "start of the file not mapped",
			files: []file{{0x104000, 0x105000, 0x4000, "/a.so"}},
			want:  []string{"100000+5000 /a.so x1"},
		},
		{
			name:  "start of the file not mapped, something else there",
			files: []file{{0x100000, 0x102000, 0, "/data"}, {0x104000, 0x105000, 0x4000, "/a.so"}},
			want:  []string{"104000+1000 /a.so x1"},
		},
		{
			name:  "offset larger than the address",
			files: []file{{0x1000, 0x2000, 0x4000, "/a.so"}},
			want:  []string{"1000+1000 /a.so x1"},
		},
		{
			name: "data and names",
			files: []file{
				{0x10000, 0x11000, 0, "/usr/lib/locale/locale-archive"}, {0x20000, 0x21000, 0, "/icudt.dat"},
				{0x30000, 0x31000, 0, "/dev/shm/x"}, {0x40000, 0x41000, 0, "/lib/libb.so.1.2 (deleted)"},
				{0x50000, 0x51000, 0, "/not.so.really"}, {0x60000, 0x61000, 0, "/B.DLL"}, {0x70000, 0x71000, 0, "/c.exe"},
				{0x80000, 0x81000, 0, "/text.so"}, {0x90000, 0x91000, 0, "/memfd:image (deleted)"}, {0xa0000, 0xa1000, 0, "/program"},
			},
			segs: []synth.ELFSegment{seg(0x80000, []byte("some text")), seg(0x90000, lib)},
			aux:  []uint64{3, 0xa0040},
			want: []string{"40000+1000 /lib/libb.so.1.2 (deleted) x1", "60000+1000 /B.DLL x1", "70000+1000 /c.exe x1",
				"90000+5800 /memfd:image (deleted) x1", "a0000+1000 /program x1"},
		},
		{
			name:  "header that claims what another module has",
			files: []file{{0x10000, 0x12000, 0, "/a.so"}, {0x13000, 0x14000, 0, "/b.so"}},
			segs:  []synth.ELFSegment{seg(0x10000, lib), seg(0x13000, lib)},
			want:  []string{"10000+3000 /a.so x1", "13000+5800 /b.so x1"},
		},
		{
			name:  "MZ and nothing else",
			files: []file{{0x10000, 0x12000, 0, "/a.bin"}},
			segs:  []synth.ELFSegment{seg(0x10000, append([]byte("MZ"), fill(512)...))},
			want:  []string{"10000+2000 /a.bin x1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var files []synth.ELFFile
			for _, f := range tt.files {
				files = append(files, synth.ELFFile(f))
			}
			for _, unit := range []uint64{page, 1} {
				c := &synth.ELFCore{
					Notes:    []synth.ELFNote{synth.ELFAuxv(tt.aux...), synth.ELFFiles(unit, files...)},
					Segments: append([]synth.ELFSegment{{Addr: 0x7fff_0000_0000, Data: fill(8), Flags: 6}}, tt.segs...),
				}
				assert.Equal(t, tt.want, describe(open(t, c).Modules()))
			}
		})
	}
}

func TestModulesInOnePlace(t *testing.T) {
	file := synth.ELFFile{Start: 0x10000, End: 0x12000, Path: "/a.so"}
	other := file
	other.Path = "/b.so"
	f := open(t, &synth.ELFCore{
		Notes:    []synth.ELFNote{synth.ELFFiles(page, file, other)},
		Segments: []synth.ELFSegment{{Addr: 0x7fff_0000_0000, Data: fill(8)}},
	})
	assert.Equal(t, []string{"10000+2000 /a.so x1"}, describe(f.Modules()))
	if assert.Len(t, f.Warnings(), 1) {
		assert.ErrorIs(t, f.Warnings()[0], target.ErrCorrupt)
	}
}

// TestHostileSize has many mappings of one image with many segments: the work must not exceed the
// size of the file.
func TestHostileSize(t *testing.T) {
	loads := make([][4]uint64, 70)
	for i := range loads {
		loads[i] = [4]uint64{0, 0, 0x1000, 0x1000}
	}
	image := append(synth.ELFImage(3, 0, loads[:70]...), fill(page)...)
	files := make([]synth.ELFFile, 50_000)
	c := &synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 0x10000, Data: image}}}
	for i := range files {
		files[i] = synth.ELFFile{Start: 0x10000, End: 0x11000, Path: string(rune('a' + i%26))}
		c.Notes = append(c.Notes, synth.ELFThread(uint32(i), 0, regs(0x20000)))
		c.Segments = append(c.Segments, synth.ELFSegment{Addr: 0x20000 + uint64(i), Data: []byte{1}, Size: 1 << 20, Flags: 6})
	}
	c.Notes = append(c.Notes, synth.ELFFiles(page, files...))
	b := c.Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f, err := elfcore.Open(target.BytesSource(b))
	require.NoError(t, err)
	assert.Less(t, time.Since(start), 5*time.Second)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20*len(b)), "allocation is in proportion to the file (%d bytes)", len(b))
	assert.Len(t, f.Modules(), 1)
}

// TestDamagedHeader checks that a library stays a module if its first page is damaged, and that a data file is no module.
func TestDamagedHeader(t *testing.T) {
	c := &synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFFiles(page, synth.ELFFile{Start: 0x10000, End: 0x11000, Path: "/a.so"},
			synth.ELFFile{Start: 0x11000, End: 0x12000, Offset: page, Path: "/a.so"}, synth.ELFFile{Start: 0x20000, End: 0x21000, Path: "/text.so"})},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Data: fill(page), Flags: 4}, {Addr: 0x11000, Data: fill(page), Flags: 5}, {Addr: 0x20000, Data: fill(page), Flags: 4}},
	}
	f := open(t, c)
	assert.Equal(t, []string{"10000+2000 /a.so x2"}, describe(f.Modules()))
	require.Len(t, f.Warnings(), 1)
	assert.ErrorIs(t, f.Warnings()[0], target.ErrCorrupt)
	assert.ErrorContains(t, f.Warnings()[0], "/a.so at 0000000000010000")

	flat := &synth.ELFCore{Notes: []synth.ELFNote{synth.ELFFiles(page, synth.ELFFile{Start: 0x10000, End: 0x12000, Path: "/a.dll"})},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Data: fill(2 * page), Flags: 4}}}
	f = open(t, flat)
	assert.Equal(t, []string{"10000+2000 /a.dll x1"}, describe(f.Modules()), "an assembly is often one mapping")
	assert.Len(t, f.Warnings(), 1)
}

// TestImpossibleSizes checks that a module is never larger than its mappings and what can follow them, and that a damaged size is reported.
func TestImpossibleSizes(t *testing.T) {
	image := append(synth.ELFImage(3, 0, [4]uint64{0, 0, 0x1000, 94 << 40}), fill(page)...)
	for name, end := range map[string]uint64{"has a segment of impossible size": 0x11000, "overlaps that of": 0x7fff_ffff_f000} {
		files := []synth.ELFFile{{Start: 0x10000, End: end, Path: "/a.so"}, {Start: 0x20000, End: 0x21000, Path: "/b.so"}}
		b := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x1000, 0x1000})
		a := image
		if end > 0x20000 {
			a = b
		}
		f := open(t, &synth.ELFCore{Notes: []synth.ELFNote{synth.ELFFiles(page, files...)},
			Segments: []synth.ELFSegment{{Addr: 0x10000, Data: a, Flags: 5}, {Addr: 0x20000, Data: b, Flags: 5}}})
		require.Len(t, f.Modules(), 2, name)
		assert.LessOrEqual(t, f.Modules()[0].Size, uint64(0x10000), name)
		require.Len(t, f.Warnings(), 1, name)
		assert.ErrorIs(t, f.Warnings()[0], target.ErrCorrupt)
		assert.ErrorContains(t, f.Warnings()[0], name)
	}
}

func TestModuleIdentity(t *testing.T) {
	c := &synth.ELFCore{
		Notes:    []synth.ELFNote{synth.ELFFiles(page, synth.ELFFile{Start: 0x10000, End: 0x12000, Path: "/a.dll"})},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Data: synth.PEImage(0x40200, 0x400)}},
	}
	m := open(t, c).Modules()[0]
	assert.EqualValues(t, 0x5eed, m.TimeDateStamp)
	assert.EqualValues(t, 0x40200, m.SizeOfImage)
	assert.EqualValues(t, 0xc5, m.CheckSum)
}

// linked returns a core without NT_FILE: a program at a fixed address, the dynamic linker's list, a
// library in it, and an assembly outside of it.
func linked() *synth.ELFCore {
	const (
		app, lib, asm, data  = 0x400000, 0x7000_0000, 0x7100_0000, 0x5000_0000
		dynamic, debug, map1 = 0x601000, data, data + 0x100
		map2, name, libDyn   = data + 0x200, data + 0x300, lib + 0x3000
		names, execName, end = data + 0x400, data + 0x500, data + 0x600
	)
	area := make([]byte, end-data)
	put := func(at int, b []byte) { copy(area[at-data:], b) }
	put(debug, synth.Fields(uint64(1), uint64(map1)))
	put(map1, synth.Fields(uint64(0), uint64(names), uint64(dynamic), uint64(map2)))
	put(map2, synth.Fields(uint64(lib), uint64(name), uint64(libDyn), uint64(0)))
	put(name, []byte("/lib/libx.so\x00"))
	put(execName, []byte("./app\x00"))
	appImage := synth.ELFImage(2, dynamic, [4]uint64{0, app, 0x1000, 0x1000}, [4]uint64{0x1000, 0x601000, 0x1000, 0x1000})
	libImage := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x2000, 0x2000}, [4]uint64{0x2000, 0x3000, 0x1000, 0x2800})
	other := synth.ELFImage(3, 0x3000, [4]uint64{0, 0, 0x4000, 0x4000})
	return &synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFAuxv(3, app+64, 5, 4, 31, execName)},
		Segments: []synth.ELFSegment{
			{Addr: app, Data: appImage, Flags: 5},
			{Addr: 0x601000, Data: append(synth.Fields(uint64(21), uint64(debug), uint64(0), uint64(0)), make([]byte, page-32)...), Flags: 6},
			{Addr: data, Data: area, Flags: 6},
			{Addr: lib, Data: libImage, Flags: 5},
			{Addr: asm, Data: synth.PEImage(0x8000, 0x400), Flags: 4},
			{Addr: asm + 0x2000, Data: synth.PEImage(0x8000, 0x400), Flags: 5}, // its first section
			{Addr: 0x7200_0000, Data: append(other, "\x00soname\x00"...), Flags: 5},
			{Addr: 0x7200_3000, Data: synth.Fields(uint64(5), uint64(0x7200_1000), uint64(14), uint64(1), uint64(0), uint64(0)), Flags: 6},
		},
	}
}

func TestModulesWithoutNTFile(t *testing.T) {
	want := []string{
		"400000+202000 ./app x0",
		"70000000+5800 /lib/libx.so x0",
		"71000000+8000  x0",
		"72000000+4000 soname x0",
	}
	assert.Equal(t, want, describe(open(t, linked()).Modules()))
}

// TestHeadersBehindOtherMemory: the page of an image's headers may be the end of a segment that
// begins before it. The headers visible at the start of the image's first section are then not
// another image.
func TestHeadersBehindOtherMemory(t *testing.T) {
	image := func(rva, offset uint32) []byte {
		b := synth.PEImage(0x8000, 0x400)
		b[0x86], b[0x94] = 1, 112
		copy(b[0x80+24+112+8:], synth.Fields(uint32(0x1000), rva, uint32(0xe00), offset))
		return b
	}
	const base = 0x7100_0000
	for _, tc := range []struct {
		name        string
		rva, offset uint32
		below       []byte
		want        string
	}{
		{"its first section", 0x2200, 0x200, image(0x2200, 0x200), "71000000+8000  x0"},
		{"a section behind the first page", 0x2200, 0x1200, image(0x2200, 0x1200), "71002000+8000  x0"},
		{"something else below", 0x2200, 0x200, make([]byte, page), "71002000+8000  x0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := linked()
			c.Segments[4] = synth.ELFSegment{Addr: base - page, Data: append(make([]byte, page), tc.below...), Flags: 4}
			c.Segments[5] = synth.ELFSegment{Addr: base + 0x2000, Data: image(tc.rva, tc.offset), Flags: 5}
			got := describe(open(t, c).Modules())
			require.Len(t, got, 4)
			assert.Equal(t, tc.want, got[2])
		})
	}
}

func TestLinkMapCycle(t *testing.T) {
	c := linked()
	copy(c.Segments[2].Data[0x218:], synth.Fields(uint64(0x50000100)))
	f := open(t, c)
	assert.Len(t, f.Modules(), 4)
	if assert.Len(t, f.Warnings(), 1) {
		assert.ErrorIs(t, f.Warnings()[0], target.ErrCorrupt)
	}
}

// TestForeignModules: the program's header is in its second mapping, and the libraries' headers are
// missing.
func TestForeignModules(t *testing.T) {
	f, err := elfcore.Open(target.BytesSource(testcase.Foreign(t, "pystack__segfault.core")))
	require.NoError(t, err)
	assert.Empty(t, f.Warnings())
	for _, m := range f.Modules() {
		assert.Greater(t, m.Size, uint64(0x1000), m.Path)
	}
	assert.Equal(t, []string{"400000+202000 /src/a.out x3", "7f6568fbb000+3c9000 /usr/lib64/libc-2.17.so x4", "7f6569389000+223000 /usr/lib64/ld-2.17.so x3"}, describe(f.Modules()))
	e, ok := f.Exception()
	require.True(t, ok)
	assert.Equal(t, "SIGSEGV/SEGV_MAPERR", e.Words)
	assert.EqualValues(t, 123456789, e.Address)
}

// TestBombs: opening allocates no multiple of a core that was unpacked from a few kilobytes.
func TestBombs(t *testing.T) {
	allocated := func(b []byte) (uint64, *elfcore.File, error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := elfcore.Open(target.BytesSource(b))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, f, err
	}
	segment := []synth.ELFSegment{{Addr: 0x10000, Data: fill(8)}}

	// Empty notes.
	empty := make([]byte, 24<<20)
	n, _, err := allocated(coreOfNotes(empty))
	require.NoError(t, err)
	assert.Less(t, n, uint64(1<<20))

	// Notes of one byte.
	small := bytes.Repeat(synth.ELFNotes([]synth.ELFNote{{Owner: "LINUX", Type: 7, Desc: []byte{1}}}), 3<<20)
	n, f, err := allocated(coreOfNotes(small))
	require.NoError(t, err)
	assert.Less(t, n, uint64(1<<30))
	assert.Len(t, f.Notes(), limits.Notes)
	require.Len(t, f.Warnings(), 1)
	assert.Equal(t, target.ErrLimit, target.Kind(f.Warnings()[0]), "the dump is not damaged")

	// Too many threads give few warnings.
	threads := bytes.Repeat(synth.ELFNotes([]synth.ELFNote{synth.ELFThread(1, 0, regs(0x20000))}), limits.Threads+1000)
	_, f, err = allocated(coreOfNotes(threads))
	require.NoError(t, err)
	assert.Len(t, f.Threads(), limits.Threads)
	assert.Less(t, len(f.Warnings()), 100)
	assert.True(t, slices.ContainsFunc(f.Warnings(), func(err error) bool { return target.Kind(err) == target.ErrLimit }))

	// More program headers than the limit.
	many := (&synth.ELFCore{Segments: segment, ManySegments: true, ClaimSegments: limits.MemoryRanges + 1}).Bytes()
	n, _, err = allocated(append(many, make([]byte, 56*(limits.MemoryRanges+1))...))
	assert.ErrorIs(t, err, target.ErrLimit)
	assert.Less(t, n, uint64(1<<20))
}

// coreOfNotes returns a core with a segment and the given notes.
func coreOfNotes(notes []byte) []byte {
	b := (&synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 0x10000, Data: fill(8)}}}).Bytes()
	copy(b[64+8:], synth.Fields(uint64(len(b))))      // p_offset of the first program header
	copy(b[64+32:], synth.Fields(uint64(len(notes)))) // p_filesz
	return append(b, notes...)
}

// TestModulesOfLargePages: with pages of 64 KB, offsets in NT_FILE are in pages, a library smaller
// than a page is mapped once for each segment, and a page of headers holds more than the headers.
func TestModulesOfLargePages(t *testing.T) {
	const page = 64 << 10
	small := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x1234, 0x1234}, [4]uint64{0xdb8, 0x10db8, 0x300, 0x9000})
	lib := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x21234, 0x21234}, [4]uint64{0x2fdb8, 0x4fdb8, 0x300, 0x400})
	files := []synth.ELFFile{
		{Start: 0x100000, End: 0x110000, Path: "/small.so"}, {Start: 0x110000, End: 0x120000, Path: "/small.so"},
		{Start: 0x200000, End: 0x230000, Path: "/lib.so"}, {Start: 0x240000, End: 0x250000, Offset: 2 * page, Path: "/lib.so"},
		{Start: 0x300000, End: 0x310000, Path: "/a.dll"}, {Start: 0x310000, End: 0x340000, Path: "/a.dll"},
		{Start: 0x400000, End: 0x410000, Path: "/b.dll"}, {Start: 0x410000, End: 0x420000, Path: "/b.dll"},
	}
	for name, tc := range map[string]struct {
		aux  []uint64
		unit uint64
		segs []synth.ELFSegment
		want []string
	}{
		"headers": {nil, page, []synth.ELFSegment{{Addr: 0x100000, Data: small}, {Addr: 0x200000, Data: lib}, {Addr: 0x300000, Data: synth.PEImage(0x40000, 0x400)}},
			[]string{"100000+20000 /small.so x2", "200000+501b8 /lib.so x2", "300000+40000 /a.dll x2", "400000+10000 /b.dll x1", "410000+10000 /b.dll x1"}},
		"no headers": {nil, page, nil,
			[]string{"100000+20000 /small.so x2", "200000+50000 /lib.so x2", "300000+40000 /a.dll x2", "400000+10000 /b.dll x1", "410000+10000 /b.dll x1"}},
		"gdb's, and the kernel's word": {[]uint64{6, page}, 1, nil,
			[]string{"100000+20000 /small.so x2", "200000+50000 /lib.so x2", "300000+40000 /a.dll x2", "400000+10000 /b.dll x1", "410000+10000 /b.dll x1"}},
		"gdb's, and the mappings": {nil, 1, nil,
			[]string{"100000+20000 /small.so x2", "200000+50000 /lib.so x2", "300000+40000 /a.dll x2", "400000+10000 /b.dll x1", "410000+10000 /b.dll x1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &synth.ELFCore{Notes: []synth.ELFNote{synth.ELFFiles(tc.unit, files...)}, Segments: append(tc.segs, synth.ELFSegment{Addr: 0x800000, Data: fill(8)})}
			if tc.aux != nil {
				c.Notes = append(c.Notes, synth.ELFAuxv(tc.aux...))
			}
			f, err := elfcore.Open(target.BytesSource(c.Bytes()))
			require.NoError(t, err)
			assert.Equal(t, tc.want, describe(f.Modules()))
			assert.EqualValues(t, 2*page, f.Modules()[1].Mappings[1].Offset)
		})
	}
}

// TestModulesOf16KB: the same for pages of 16 KB. The two mappings of a small library's first page
// are one module, whether the page size is from the kernel, from NT_FILE's unit, or from the
// mappings alone.
func TestModulesOf16KB(t *testing.T) {
	const page = 16 << 10
	files := []synth.ELFFile{
		{Start: 0x100000, End: 0x104000, Path: "/small.so"}, {Start: 0x104000, End: 0x108000, Path: "/small.so"},
		{Start: 0x200000, End: 0x20c000, Path: "/lib.so"}, {Start: 0x210000, End: 0x214000, Offset: 2 * page, Path: "/lib.so"},
		{Start: 0x300000, End: 0x304000, Path: "/a.dll"}, {Start: 0x304000, End: 0x314000, Path: "/a.dll"},
	}
	for name, tc := range map[string]struct {
		aux  []uint64
		unit uint64
	}{"unit": {nil, page}, "kernel": {[]uint64{6, page}, 1}, "mappings": {nil, 1}} {
		c := &synth.ELFCore{Notes: []synth.ELFNote{synth.ELFFiles(tc.unit, files...)}, Segments: []synth.ELFSegment{
			{Addr: 0x300000, Data: synth.PEImage(0x14000, 0x400)}, {Addr: 0x800000, Data: fill(8)}}}
		if tc.aux != nil {
			c.Notes = append(c.Notes, synth.ELFAuxv(tc.aux...))
		}
		f := open(t, c)
		assert.Equal(t, []string{"100000+8000 /small.so x2", "200000+14000 /lib.so x2", "300000+14000 /a.dll x2"}, describe(f.Modules()), name)
		assert.EqualValues(t, 2*page, f.Modules()[1].Mappings[1].Offset, name)
	}
}

// TestVDSOInGap: the vDSO is between two segments of the dynamic linker, and not part of it.
func TestVDSOInGap(t *testing.T) {
	lib := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x2000, 0x2000}, [4]uint64{0x2000, 0x5000, 0x1000, 0x1000})
	const vdso = 33 // AT_SYSINFO_EHDR
	core := func(at uint64) []target.Module {
		c := &synth.ELFCore{
			Notes: []synth.ELFNote{synth.ELFAuxv(vdso, at), synth.ELFFiles(page, synth.ELFFile{Start: 0x10000, End: 0x12000, Path: "/ld.so"},
				synth.ELFFile{Start: 0x15000, End: 0x16000, Offset: 0x2000, Path: "/ld.so"})},
			Segments: []synth.ELFSegment{{Addr: 0x10000, Data: lib, Flags: 5}, {Addr: 0x13000, Data: fill(0x1000), Flags: 5}},
		}
		return open(t, c).Modules()
	}
	mods := core(0x13000)
	assert.Equal(t, []string{"10000+6000 /ld.so x2"}, describe(mods))
	assert.Equal(t, target.Range{Start: 0x13000, End: 0x14000}, mods[0].Gap)
	for a, in := range map[target.Addr]bool{0x12fff: true, 0x13000: false, 0x13fff: false, 0x14000: true, 0x15000: true} {
		assert.Equal(t, in, mods[0].Contains(a), "%x", a)
	}
	assert.Zero(t, core(0x20000)[0].Gap, "a vDSO elsewhere")
	assert.Zero(t, core(0x11000)[0].Gap, "an address in a segment of the file")
}
