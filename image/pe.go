package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Numbers of the PE/COFF specification, "PE Header" and "Section Table".
const (
	peMagic       = 'M' | 'Z'<<8
	peSignature   = "PE\x00\x00"
	peLfanew      = 0x3c
	peLfanewMax   = 64 << 10
	peFileHeader  = 24 // signature and IMAGE_FILE_HEADER
	peSectionSize = 40
	// ImageBase is in these bytes of the optional header, in PE32 (after BaseOfData) and in PE32+.
	peImageBaseAt  = 24
	peImageBaseEnd = 32

	pe32     = 0x10b
	pe32Plus = 0x20b

	dirExport     = 0
	dirResource   = 2
	dirException  = 3
	dirBaseReloc  = 5
	dirDebug      = 6
	dirLoadConfig = 10
	dirIAT        = 12
	dirCLR        = 14
	dirCount      = 16

	scnMemExecute  = 0x20000000
	scnMemRead     = 0x40000000
	scnMemWrite    = 0x80000000
	machineI386    = 0x14c
	machineARMNT   = 0x1c4
	machineAMD64   = 0x8664
	machineARM64   = 0xaa64
	exportDirSize  = 40
	peResourceSize = limits.ResourceBytes
)

// machineOS are the values that a ReadyToRun compiler XORs into the machine for systems other than
// Windows (readytorun-format.md, "PE Headers and CLI Headers").
var machineOS = [...]uint16{0, 0x7b79, 0x4644, 0xadc4, 0x1993, 0x1992}

// peImage holds the fields of a PE image.
type peImage struct {
	hasHeaders    bool
	machine       uint16
	timeDateStamp uint32
	sizeOfHeaders uint32
	imageBase     uint64
	imageBaseAt   RVA // of the field ImageBase
	sizeOfImage   uint32
	checkSum      uint32
	plus          bool
	dirs          [dirCount]Directory
	scan          func() (Directory, error) // finds the export directory without headers
}

func (im *Image) openPE(l Layout, m *target.Module) error {
	off, sections, err := im.readPEHeaders()
	if err != nil {
		return err
	}
	// Windows minidumps with heap hold the headers up to the data directories, but not the section
	// headers. A loaded image does not need them.
	err = im.readSections(off, sections)
	if errors.Is(err, target.ErrNotInDump) && l != Flat {
		l, err = Loaded, nil
	}
	if err != nil {
		return err
	}
	if l == LayoutUnknown {
		l, im.guessed = im.detectLayout(m)
	}
	im.setLayout(l)
	return nil
}

// readPEHeaders decodes the file and optional headers. It returns the offset and number of the
// section headers.
func (im *Image) readPEHeaders() (off uint64, sections int, err error) {
	b, err := im.raw.bytes(peLfanew, 4)
	if err != nil {
		return 0, 0, fmt.Errorf("DOS header: %w", err)
	}
	lfanew := uint64(le32(b, 0))
	if lfanew > peLfanewMax {
		return 0, 0, target.Corruptf("PE header at offset %#x", lfanew)
	}
	if b, err = im.raw.bytes(lfanew, peFileHeader); err != nil {
		return 0, 0, fmt.Errorf("PE header: %w", err)
	}
	if string(b[:4]) != peSignature {
		return 0, 0, target.Corruptf("no PE signature at offset %#x", lfanew)
	}
	c := cursor.New(b, int64(lfanew))
	c.Skip(4)
	pe := &peImage{hasHeaders: true, machine: c.Uint16()}
	sections, pe.timeDateStamp = int(c.Uint16()), c.Uint32()
	c.Skip(8) // COFF symbols
	optSize := int(c.Uint16())
	off = lfanew + peFileHeader
	if err := pe.readOptional(im.raw, off, optSize); err != nil {
		return 0, 0, err
	}
	im.kind, im.pe, im.arch, im.size = KindPE, pe, peArch(pe.machine), uint64(pe.sizeOfImage)
	return off + uint64(optSize), sections, nil
}

// readOptional reads the optional header, n bytes at offset off. ImageBase, which loaders change,
// may be missing: only files need it.
func (pe *peImage) readOptional(raw area, off uint64, n int) error {
	if n < peImageBaseEnd {
		return target.Corruptf("PE optional header of %d bytes", n)
	}
	b := make([]byte, n)
	for _, part := range [][2]int{{0, peImageBaseAt}, {peImageBaseEnd, n}} {
		p, err := raw.bytes(off+uint64(part[0]), part[1]-part[0])
		if err != nil {
			return fmt.Errorf("PE optional header: %w", err)
		}
		copy(b[part[0]:], p)
	}
	p, err := raw.bytes(off+peImageBaseAt, peImageBaseEnd-peImageBaseAt)
	if err != nil && !errors.Is(err, target.ErrNotInDump) {
		return fmt.Errorf("PE optional header: %w", err)
	}
	copy(b[peImageBaseAt:], p)
	return pe.decodeOptional(b, off)
}

// decodeOptional decodes the optional header b at offset at.
func (pe *peImage) decodeOptional(b []byte, at uint64) error {
	c := cursor.New(b, int64(at))
	magic := c.Uint16()
	pe.plus = magic == pe32Plus
	if magic != pe32 && magic != pe32Plus {
		return target.Corruptf("PE optional header with magic %#x", magic)
	}
	if pe.plus {
		c.Seek(peImageBaseAt)
		pe.imageBaseAt, pe.imageBase = RVA(at+peImageBaseAt), c.Uint64()
	} else {
		c.Seek(peImageBaseAt + 4)
		pe.imageBaseAt, pe.imageBase = RVA(at+peImageBaseAt+4), uint64(c.Uint32())
	}
	c.Seek(56)
	pe.sizeOfImage, pe.sizeOfHeaders = c.Uint32(), c.Uint32()
	pe.checkSum = c.Uint32()
	c.Skip(4) // Subsystem, DllCharacteristics
	if c.Skip(16); pe.plus {
		c.Skip(16) // the second half of four sizes, which have 8 bytes in PE32+
	}
	c.Skip(4) // LoaderFlags
	n := min(c.Uint32(), dirCount)
	for i := range n {
		pe.dirs[i] = Directory{RVA: RVA(c.Uint32()), Size: uint64(c.Uint32())}
	}
	if err := c.Err(); err != nil {
		return target.Corruptf("PE optional header of %d bytes: %w", len(b), err)
	}
	return nil
}

func peArch(machine uint16) target.Arch {
	for _, os := range machineOS {
		switch machine ^ os {
		case machineAMD64:
			return target.ArchAMD64
		case machineARM64:
			return target.ArchARM64
		case machineI386:
			return target.Arch386 // also used by pure IL
		case machineARMNT:
			return target.ArchARM
		}
	}
	return target.ArchUnknown
}

func (im *Image) readSections(off uint64, n int) error {
	if n > limits.Sections {
		return target.Corruptf("PE image with %d sections", n)
	}
	b, err := im.raw.bytes(off, n*peSectionSize)
	if err != nil {
		return fmt.Errorf("section headers: %w", err)
	}
	im.extents = append(im.extents, extent{n: uint64(im.pe.sizeOfHeaders)})
	for c := cursor.New(b, int64(off)); c.Len() > 0; {
		name, _, _ := bytes.Cut(c.Take(8), []byte{0})
		s := Section{Name: string(name), Size: uint64(c.Uint32()), RVA: RVA(c.Uint32()), FileSize: uint64(c.Uint32()), Offset: uint64(c.Uint32())}
		c.Skip(12) // relocations and line numbers of object files
		flags := c.Uint32()
		s.Prot = target.ProtectionOf(flags, scnMemRead, scnMemWrite, scnMemExecute)
		if s.Size == 0 { // written by old linkers
			s.Size = s.FileSize
		}
		im.sections = append(im.sections, s)
		// The data in the file is padded to the file alignment; bytes past the section's size don't
		// belong to it.
		im.extents = append(im.extents, extent{uint64(s.RVA), s.Offset, min(s.FileSize, s.Size), flags&scnMemWrite != 0})
	}
	im.extents = sortExtents(im.extents)
	return nil
}

// detectLayout decides whether a PE image in memory is loaded or flat. It uses, in this order, the
// file mappings, the place of the metadata, and whether the module has room for the loaded image.
// Without evidence an image is assumed to be loaded; guessed is set unless a loader listed it. The
// mapping of an image's headers may hold all of a small file although a loader copied its sections:
// such an image is flat only if nothing is found at the sections' RVAs.
func (im *Image) detectLayout(m *target.Module) (l Layout, guessed bool) {
	mapped := LayoutUnknown
	if m != nil {
		if mapped = layoutOfMappings(m, im.sections); mapped == Loaded {
			return Loaded, false
		}
	}
	asLoaded, asFlat := *im, *im
	asLoaded.setLayout(Loaded)
	asFlat.setLayout(Flat)
	loaded, _ := asLoaded.metadataAt()
	flat, rva := asFlat.metadataAt()
	switch {
	case mapped == Flat && (flat == yes || loaded != yes):
		return Flat, false
	case loaded == yes:
		return Loaded, false
	case flat == yes && (loaded == no || asFlat.beyondHeaders(rva)):
		return Flat, false
	case loaded == no && flat == unknown, m != nil && m.Size != 0 && m.Size < im.sectionsEnd():
		return Flat, false
	}
	return Loaded, m == nil || !m.Listed
}

// beyondHeaders reports whether the byte at rva is after the file's first page. That page is also
// the first page of a loaded image, including any sections in it, so it proves nothing.
func (im *Image) beyondHeaders(rva RVA) bool {
	i, ok := findExtent(im.extents, uint64(rva))
	return ok && im.extents[i].off+uint64(rva)-im.extents[i].rva >= pageSize
}

// sectionsEnd returns the end of the last section of a loaded image.
func (im *Image) sectionsEnd() uint64 {
	var end uint64
	for _, s := range im.sections {
		end = max(end, uint64(s.RVA)+s.Size)
	}
	return end
}

// A verdict is yes, no, or unknown because of missing memory.
type verdict uint8

const (
	unknown verdict = iota
	no
	yes
)

// metadataAt reports whether a CLR header and the metadata that it points to are at their RVAs. It
// also returns the RVA of the metadata.
func (im *Image) metadataAt() (verdict, RVA) {
	h, err := im.CLRHeader()
	if err != nil {
		return verdictOf(err), 0
	}
	sig, err := im.BytesRVA(h.Metadata.RVA, len(metadataMagic))
	if err == nil && string(sig) != metadataMagic {
		return no, h.Metadata.RVA
	}
	return verdictOf(err), h.Metadata.RVA
}

func verdictOf(err error) verdict {
	switch {
	case err == nil:
		return yes
	case errors.Is(err, target.ErrCorrupt):
		return no
	}
	return unknown
}

// layoutOfMappings compares the file mappings of a module with its sections. In a loaded image, a
// section is mapped at its RVA; in a flat image, the last bytes of a section are mapped at their
// offset. The first page of the file is at the same place in both.
func layoutOfMappings(m *target.Module, sections []Section) Layout {
	flat := false
	for _, s := range sections {
		if uint64(s.RVA) == s.Offset || s.FileSize == 0 {
			continue
		}
		if isMapped(m, uint64(s.RVA), s.Offset) {
			return Loaded
		}
		last := s.Offset + s.FileSize - 1
		flat = flat || isMapped(m, last, last)
	}
	if flat {
		return Flat
	}
	return LayoutUnknown
}

// isMapped reports whether offset off of the file is mapped at distance d from the module's base.
func isMapped(m *target.Module, d, off uint64) bool {
	a := m.Base + target.Addr(d)
	return slices.ContainsFunc(m.Mappings, func(p target.Mapping) bool {
		return a >= p.Start && a < p.End && p.Offset+uint64(a-p.Start) == off
	})
}

// peDirectory returns entry i of the data directories.
func (im *Image) peDirectory(i int, what string) (Directory, error) {
	switch {
	case im == nil:
		return Directory{}, target.Unsupportedf("no image")
	case im.pe == nil:
		return Directory{}, target.Unsupportedf("%s image: no %s", im.kind, what)
	case !im.pe.hasHeaders:
		return Directory{}, fmt.Errorf("%s: the headers of the image: %w", what, target.ErrNotInDump)
	case im.pe.dirs[i].RVA == 0:
		return Directory{}, target.Unsupportedf("the PE image has no %s", what)
	}
	return im.pe.dirs[i], nil
}

// TimeDateStamp returns the time stamp in the PE header: seconds since 1970, or a hash in
// deterministic builds. Together with SizeOfImage it identifies a PE image. For an image without
// headers it is from the module list. It is 0 for other formats.
func (im *Image) TimeDateStamp() uint32 {
	if im.pe == nil {
		return 0
	}
	return im.pe.timeDateStamp
}

// SizeOfImage returns the size in the PE header in bytes, or 0 for other formats.
func (im *Image) SizeOfImage() uint32 {
	if im.pe == nil {
		return 0
	}
	return im.pe.sizeOfImage
}

// ExceptionDirectory returns the range of the RUNTIME_FUNCTION table (.pdata) of a PE image, or
// zero.
func (im *Image) ExceptionDirectory() Directory {
	if im.pe == nil {
		return Directory{}
	}
	return im.pe.dirs[dirException]
}

func le16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
