package image_test

import (
	"encoding/binary"
	"unicode/utf16"

	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// The builders below have their own constants on purpose: with the reader's constants, a test would
// prove nothing.

// blob is a byte image under construction.
type blob []byte

func (b blob) u16(off int, v ...uint16) {
	for i, x := range v {
		binary.LittleEndian.PutUint16(b[off+2*i:], x)
	}
}

func (b blob) u32(off int, v ...uint32) {
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[off+4*i:], x)
	}
}

func (b blob) u64(off int, v ...uint64) {
	for i, x := range v {
		binary.LittleEndian.PutUint64(b[off+8*i:], x)
	}
}

func (b blob) str(off int, s string) { copy(b[off:], s) }

func (b blob) utf16(off int, s string) int {
	u := utf16.Encode([]rune(s))
	b.u16(off, u...)
	return 2 * len(u)
}

// The places of parts in the synthetic PE file: two sections of 0x1000 bytes, one with all
// read-only parts and one for data.
const (
	peTextRVA, peTextOff = 0x2000, 0x400
	peDataRVA, peDataOff = 0x4000, 0x1400
	peImageSize          = 0x5000
	peFileSize           = 0x1600
	peBase               = 0x180000000
	peStamp              = 0x5eadbeef

	peCLR      = 0x000 // offsets in the text section
	peMetadata = 0x080
	peR2R      = 0x180
	peExports  = 0x200
	peDebug    = 0x300
	peRSDS     = 0x340
	peNI       = 0x3a0
	peRes      = 0x400
	peReloc    = 0x800
	pePointer  = 0x900
	peIAT      = 0x940
	peLoadCfg  = 0x980
)

// buildPE returns a managed PE32+ file with two exports, PDB records, resources, a relocated
// pointer and ReadyToRun code.
func buildPE() blob {
	b := make(blob, peFileSize)
	b.str(0, "MZ")
	b.u32(0x3c, 0x80)
	b.str(0x80, "PE\x00\x00")
	b.u16(0x84, 0x8664, 2) // machine, sections
	b.u32(0x88, peStamp)
	b.u16(0x94, 240, 0x2022)
	opt := b[0x98:]
	opt.u16(0, 0x20b)
	opt.u64(24, peBase)
	opt.u32(32, 0x1000, 0x200)
	opt.u32(56, peImageSize, 0x400)
	opt.u32(108, 16)
	dir := func(i int, off, size uint32) { opt.u32(112+8*i, peTextRVA+off, size) }
	dir(0, peExports, 0x80)
	dir(2, peRes, 0x400)
	dir(3, 0xa00, 24)
	dir(5, peReloc, 12)
	dir(6, peDebug, 56)
	dir(10, peLoadCfg, 0x40)
	dir(12, peIAT, 16)
	dir(14, peCLR, 72)
	section := func(i int, name string, rva, off, size, fileSize, flags uint32) {
		s := b[0x188+40*i:]
		s.str(0, name)
		s.u32(8, size, rva, fileSize, off)
		s.u32(36, flags)
	}
	section(0, ".text", peTextRVA, peTextOff, 0x1000, 0x1000, 0x60000020)
	section(1, ".data", peDataRVA, peDataOff, 0x400, 0x200, 0xc0000040)
	buildText(b[peTextOff : peTextOff+0x1000])
	b.u64(peDataOff, 0x1122334455667788)
	return b
}

func buildText(t blob) {
	t.u32(peCLR, 72)
	t.u16(peCLR+4, 2, 5)
	t.u32(peCLR+8, peTextRVA+peMetadata, 0xf0, 1, 0x06000001)
	t.u32(peCLR+64, peTextRVA+peR2R, 0x40)
	buildMetadata(t[peMetadata:])

	t.str(peR2R, "RTR\x00")
	t.u16(peR2R+4, 9, 2)
	t.u32(peR2R+8, 3, 2, 100, peTextRVA+0x10, 4, 102, peTextRVA+0x20, 24)

	e := t[peExports:]
	const rva = peTextRVA + peExports
	e.u32(12, rva+112, 1, 3, 3, rva+40, rva+52, rva+64)
	e.u32(40, peDataRVA, peTextRVA, rva+100) // Alpha, Beta, Gamma (forwarded)
	e.u32(52, rva+80, rva+86, rva+92)
	e.u16(64, 0, 1, 2)
	e.str(80, "Alpha\x00Beta\x00\x00Gamma\x00")
	e.str(100, "other.Gamma\x00synth.dll\x00")

	rsds := func(off int, first byte, path string) uint32 {
		t.str(off, "RSDS")
		for i := range 16 {
			t[off+4+i] = first + byte(i)
		}
		t.u32(off+20, 1)
		t.str(off+24, path)
		return uint32(24 + len(path) + 1)
	}
	n := rsds(peNI, 0x80, "synth.ni.pdb")
	t.u32(peDebug+12, 2, n, peTextRVA+peNI, peTextOff+peNI)
	n = rsds(peRSDS, 0x10, "/src/synth.pdb")
	t.u16(peDebug+28+8, 0x100, 0x504d)
	t.u32(peDebug+28+12, 2, n, peTextRVA+peRSDS, peTextOff+peRSDS)

	buildResources(t[peRes:])

	t.u32(peReloc, peTextRVA, 12)
	t.u16(peReloc+8, 10<<12|pePointer, 0)
	t.u64(pePointer, peBase+peDataRVA)
	t.u32(peLoadCfg, 0x78)
	t.u64(peLoadCfg+112, peBase+peTextRVA+0x970)
}

// buildMetadata writes metadata with one row in Module.
func buildMetadata(m blob) {
	m.str(0, "BSJB")
	m.u16(4, 1, 1)
	m.u32(12, 12)
	m.str(16, "v4.0.30319")
	m.u16(28, 0, 2)
	m.u32(32, 0x60, 0x40)
	m.str(40, "#~\x00\x00")
	m.u32(44, 0xc0, 16)
	m.str(52, "#GUID\x00\x00\x00")
	m[0x64] = 2
	m.u64(0x68, 1)
	m.u32(0x78, 1) // rows of Module
	m.u16(0x7c, 0, 1, 1, 0, 0)
	for i := range 16 {
		m[0xc0+i] = 0xa0 + byte(i)
	}
}

// buildResources writes RT_RCDATA "TABLE" and RT_VERSION 1.
func buildResources(r blob) {
	const high = 1 << 31
	folder := func(off int, named, ids uint16, entries ...uint32) {
		r.u16(off+12, named, ids)
		r.u32(off+16, entries...)
	}
	folder(0x00, 0, 2, 10, high|0x20, 16, high|0x40)
	folder(0x20, 1, 0, high|0x100, high|0x60)
	folder(0x40, 0, 1, 1, high|0x80)
	folder(0x60, 0, 1, 0x409, 0xa0)
	folder(0x80, 0, 1, 0x409, 0xb0)
	r.u32(0xa0, peTextRVA+peRes+0x120, 8)
	r.u32(0xb0, peTextRVA+peRes+0x140, 0x100)
	r.u16(0x100, 5)
	r.utf16(0x102, "TABLE")
	r.u32(0x120, 120, 68)
	v := r[0x140:]
	v.u32(40, 0xfeef04bd, 0x10000, 10<<16, 1426<<16|52326&0xffff, 10<<16|1, 2<<16|3)
	n := v.utf16(108+6, "FileVersion")
	const text = "10,0,1426,52326 @Commit: abc\x00"
	v.u16(108, 0, uint16(len(text)), 1)
	v.utf16((108+6+n+2+3)&^3, text)
}

// loadPE lays out a PE file at its preferred base.
func loadPE(file blob) blob {
	b := make(blob, peImageSize)
	copy(b, file[:min(len(file), 0x400)])
	copy(b[peTextRVA:], file[peTextOff:peTextOff+0x1000])
	copy(b[peDataRVA:], file[peDataOff:peDataOff+0x200])
	return b
}

// The places of parts in the synthetic ELF library.
const (
	elfVaddr    = 0x10000
	elfFileSize = 0x2400
	elfDynamic  = 0x1000 // the second segment
	elfHash     = 0x300
	elfSymtab   = 0x400
	elfStrtab   = 0x500
	elfNote     = 0x200
	elfVersion  = 0x1800
	elfStatic   = 0x2000
)

// hashGNU and hashSysV implement the hash functions by definition.
func hashGNU(s string) uint32 {
	h := uint32(5381)
	for _, c := range []byte(s) {
		h = h<<5 + h + uint32(c)
	}
	return h
}

// buildELF returns a shared library with the dynamic symbols alpha and beta, in a hash table of the
// given kind, gamma in .symtab, a build id and a version constant. add is the loader's addition to
// pointers in the dynamic section.
func buildELF(gnu bool, add uint64) blob {
	b := make(blob, elfFileSize)
	b.str(0, "\x7fELF\x02\x01\x01")
	b.u16(16, 3, 62)
	b.u64(32, 64, 0x2200)
	b.u16(52, 64, 56, 5, 64, 3, 0)
	ph := func(i int, typ, flags uint32, off, filesz, memsz uint64) {
		p := b[64+56*i:]
		p.u32(0, typ, flags)
		p.u64(8, off, elfVaddr+off, 0, filesz, memsz, 0x1000)
	}
	ph(0, 1, 5, 0, 0x1000, 0x1000)
	ph(1, 1, 6, 0x1000, 0x1000, 0x3000)
	ph(2, 2, 6, elfDynamic, 0x80, 0x80)
	ph(3, 4, 4, elfNote, 36, 36)
	ph(4, 0x6474e550, 4, 0x280, 0x20, 0x20)

	b.u32(elfNote, 4, 20, 3)
	b.str(elfNote+12, "GNU\x00")
	for i := range 20 {
		b[elfNote+16+i] = byte(i + 1)
	}
	b.str(elfStrtab, "\x00alpha\x00beta\x00outside\x00")
	sym := func(off int, name uint32, shndx uint16, value, size uint64) {
		b.u32(off, name)
		b[off+4] = 0x11
		b.u16(off+6, shndx)
		b.u64(off+8, value, size)
	}
	tag, order := uint64(0x6ffffef5), [2]string{"alpha", "beta"}
	offs := map[string]uint32{"alpha": 1, "beta": 7}
	values := map[string]uint64{"alpha": elfVaddr + 0x3100, "beta": elfVaddr + 0x40}
	sym(elfSymtab+24, 12, 0, 0, 0)
	if gnu {
		// One bucket, symbols from index 2, one Bloom word.
		b.u32(elfHash, 1, 2, 1, 6)
		b.u64(elfHash+16, ^uint64(0))
		b.u32(elfHash+24, 2, hashGNU(order[0])&^1, hashGNU(order[1])|1)
	} else {
		// One bucket: 3 -> 2 -> end.
		tag = 4
		b.u32(elfHash, 1, 4, 3, 0, 0, 0, 2)
	}
	for i, name := range order {
		sym(elfSymtab+24*(i+2), offs[name], 5, values[name], uint64(0x408+i))
	}
	b.u64(elfDynamic, tag, elfVaddr+elfHash+add, 5, elfVaddr+elfStrtab+add, 6, elfVaddr+elfSymtab+add, 10, 20, 0, 0)
	b.str(elfVersion, "@(#)Version %s\x00@(#)Version 10.0.1.2 @Commit: abc\x00")

	b.str(elfStatic, "\x00gamma\x00")
	sym(elfStatic+0x40+24, 1, 5, elfVaddr+0x50, 3)
	sh := func(i int, typ uint32, off, size uint64, link uint32) {
		s := b[0x2200+64*i:]
		s.u32(4, typ)
		s.u64(24, off, size)
		s.u32(40, link)
	}
	sh(1, 2, elfStatic+0x40, 48, 2)
	sh(2, 3, elfStatic, 7, 0)
	return b
}

// elfMemory lays out a library at base.
func elfMemory(file blob, base target.Addr) *memmap.Map {
	m, _ := memmap.New(target.BytesSource(file[:0x2000]), []memmap.Range{{Addr: base, Size: 0x2000}})
	return m
}

// memory places b at base, without the pages in missing (numbers from 0).
func memory(b []byte, base target.Addr, missing ...int) *memmap.Map {
	gone := map[int]bool{}
	for _, p := range missing {
		gone[p] = true
	}
	var ranges []memmap.Range
	for off := 0; off < len(b); off += 4096 {
		if !gone[off/4096] {
			ranges = append(ranges, memmap.Range{Addr: base + target.Addr(off), Size: uint64(min(4096, len(b)-off)), Offset: int64(off)})
		}
	}
	m, _ := memmap.New(target.BytesSource(b), ranges)
	return m
}
