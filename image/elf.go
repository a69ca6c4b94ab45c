package image

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Numbers of the System V ABI, chapters 4 and 5.
const (
	elfMagic      = "\x7fELF"
	elfHeaderSize = 64
	elfClass64    = 2
	elfDataLSB    = 1
	elfPhdrSize   = 56
	elfShdrSize   = 64

	ptLoad       = 1
	ptDynamic    = 2
	ptNote       = 4
	ptGNUEHFrame = 0x6474e550
	ptGNURelro   = 0x6474e552

	pfExec  = 1
	pfWrite = 2
	pfRead  = 4

	emX86     = 3
	emARM     = 40
	emAMD64   = 62
	emAArch64 = 183

	ntGNUBuildID = 3
	elfNotesSize = 1 << 20 // maximum size of a note segment: a library's has a few hundred bytes
	elfNotes     = 32      // maximum number of note segments to read
)

// elfImage holds the fields of an ELF image.
type elfImage struct {
	bias    uint64 // virtual address of RVA 0
	dynamic Directory
	notes   []Directory
	ehFrame Directory
	relro   Directory // read-only after relocation
	entry   uint64    // virtual address, or 0
	shoff   uint64
	shnum   int
	dyn     func() (*elfDynamic, error)
	symtab  func() (*elfSymtab, error)
}

// elfPhdr is an Elf64_Phdr.
type elfPhdr struct {
	typ, flags                           uint32
	offset, vaddr, filesz, memsz, pAlign uint64
}

func (im *Image) openELF(l Layout) error {
	h, err := im.raw.bytes(0, elfHeaderSize)
	if err != nil {
		return fmt.Errorf("ELF header: %w", err)
	}
	if h[4] != elfClass64 || h[5] != elfDataLSB {
		return target.Unsupportedf("ELF image of class %d, data encoding %d: only 64-bit little-endian ones are read", h[4], h[5])
	}
	c := cursor.New(h, 0)
	c.Seek(18)
	im.arch = elfArch(c.Uint16())
	c.Seek(24)
	entry := c.Uint64()
	phoff, shoff := c.Uint64(), c.Uint64()
	c.Seek(54)
	phentsize, phnum := int(c.Uint16()), int(c.Uint16())
	c.Skip(2)
	shnum := int(c.Uint16())
	if phentsize != elfPhdrSize || phnum == 0 || phnum > limits.Sections {
		return target.Corruptf("ELF image with %d program headers of %d bytes", phnum, phentsize)
	}
	table, err := im.raw.bytes(phoff, phnum*elfPhdrSize)
	if err != nil {
		return fmt.Errorf("program headers: %w", err)
	}
	im.kind = KindELF
	im.elf = &elfImage{entry: entry, shoff: shoff, shnum: shnum}
	if err := im.setSegments(elfPhdrs(table)); err != nil {
		return err
	}
	if l == LayoutUnknown {
		l = Loaded // shared libraries are not copied to memory flat
	}
	im.setLayout(l)
	im.elf.dyn = sync.OnceValues(im.readDynamic)
	im.elf.symtab = sync.OnceValues(im.readSymtab)
	return nil
}

// ProgramEntry returns where the system starts a program, or the dynamic linker. It reports false
// for an image without an entry point, and for other formats.
func (im *Image) ProgramEntry() (RVA, bool) {
	if im.elf == nil || im.elf.entry == 0 {
		return 0, false
	}
	rva, err := im.elfRVA(im.elf.entry)
	return rva, err == nil
}

func elfArch(machine uint16) target.Arch {
	switch machine {
	case emAMD64:
		return target.ArchAMD64
	case emAArch64:
		return target.ArchARM64
	case emX86:
		return target.Arch386
	case emARM:
		return target.ArchARM
	}
	return target.ArchUnknown
}

func elfPhdrs(table []byte) []elfPhdr {
	out := make([]elfPhdr, 0, len(table)/elfPhdrSize)
	for c := cursor.New(table, 0); c.Len() > 0; {
		p := elfPhdr{typ: c.Uint32(), flags: c.Uint32(), offset: c.Uint64(), vaddr: c.Uint64()}
		c.Skip(8) // p_paddr
		p.filesz, p.memsz, p.pAlign = c.Uint64(), c.Uint64(), c.Uint64()
		out = append(out, p)
	}
	return out
}

// setSegments sets the sections and extents from the program headers.
func (im *Image) setSegments(phdrs []elfPhdr) error {
	first := true
	var end uint64
	for _, p := range phdrs {
		if p.typ != ptLoad {
			continue
		}
		if p.vaddr+p.memsz < p.vaddr || p.filesz > p.memsz {
			return target.Corruptf("PT_LOAD at %#x: %d bytes in the file, %d in memory", p.vaddr, p.filesz, p.memsz)
		}
		if v := p.vaddr &^ (pageSize - 1); first || v < im.elf.bias {
			im.elf.bias = v
		}
		first, end = false, max(end, p.vaddr+p.memsz)
	}
	if first {
		return target.Corruptf("ELF image without PT_LOAD")
	}
	im.size = end - im.elf.bias
	for _, p := range phdrs {
		im.addPhdr(p)
	}
	im.extents = sortExtents(im.extents)
	return nil
}

func (im *Image) addPhdr(p elfPhdr) {
	d := Directory{RVA: RVA(p.vaddr - im.elf.bias), Size: p.memsz}
	switch p.typ {
	case ptLoad:
		im.sections = append(im.sections, Section{RVA: d.RVA, Size: p.memsz, Offset: p.offset, FileSize: p.filesz, Prot: target.ProtectionOf(p.flags, pfRead, pfWrite, pfExec)})
		im.extents = append(im.extents, extent{rva: uint64(d.RVA), off: p.offset, n: p.filesz, writable: p.flags&pfWrite != 0})
	case ptDynamic:
		im.elf.dynamic = d
	case ptNote:
		if len(im.elf.notes) < elfNotes {
			im.elf.notes = append(im.elf.notes, d)
		}
	case ptGNUEHFrame:
		im.elf.ehFrame = d
	case ptGNURelro:
		im.elf.relro = d
	}
}

// BuildID returns the GNU build id of an ELF image or the UUID of a Mach-O image, or
// target.ErrUnsupported if the image has neither.
func (im *Image) BuildID() ([]byte, error) {
	if im.macho != nil && len(im.macho.uuid) > 0 {
		return im.macho.uuid, nil
	}
	if im.elf == nil {
		return nil, target.Unsupportedf("%s image: no build id", im.kind)
	}
	for _, d := range im.elf.notes {
		b, err := im.directory(d, elfNotesSize)
		if err != nil {
			return nil, fmt.Errorf("notes: %w", err)
		}
		if id, err := buildIDNote(b); id != nil || err != nil {
			return id, err
		}
	}
	return nil, target.Unsupportedf("the ELF image has no build id")
}

// buildIDNote finds NT_GNU_BUILD_ID in a note segment. All fields of these notes are aligned to 4
func buildIDNote(b []byte) ([]byte, error) {
	c := cursor.New(b, 0)
	for c.Len() >= 12 {
		namesz, descsz, typ := int(c.Uint32()), int(c.Uint32()), c.Uint32()
		name := c.Take(namesz)
		c.Skip(min(-namesz&3, c.Len()))
		desc := c.Take(descsz)
		c.Skip(min(-descsz&3, c.Len()))
		if err := c.Err(); err != nil {
			return nil, target.Corruptf("ELF notes: %w", err)
		}
		if typ == ntGNUBuildID && string(name) == "GNU\x00" && descsz > 0 {
			if descsz > limits.BuildIDBytes {
				return nil, target.Corruptf("build id of %d bytes", descsz)
			}
			return desc, nil
		}
	}
	return nil, nil
}

// EHFrameHeader returns the range of .eh_frame_hdr (PT_GNU_EH_FRAME), or zero.
func (im *Image) EHFrameHeader() Directory {
	if im.elf == nil {
		return Directory{}
	}
	return im.elf.ehFrame
}

// elfRVA converts a pointer in the dynamic section to an RVA. glibc relocates these pointers in
// place when it loads a library; musl and the vDSO don't.
func (im *Image) elfRVA(v uint64) (RVA, error) {
	if d := v - uint64(im.base); im.base != 0 && v >= uint64(im.base) && d < im.size {
		return RVA(d), nil
	}
	if d := v - im.elf.bias; v >= im.elf.bias && d < im.size {
		return RVA(d), nil
	}
	return 0, target.Corruptf("dynamic section: pointer %#x lies outside the image", v)
}

func le32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
func le64(b []byte, off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
