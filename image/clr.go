package image

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

const (
	cor20Size     = 72
	metadataMagic = "BSJB"
	r2rMagic      = 0x00525452 // "RTR"
	r2rHeaderSize = 16
	// r2rSections bounds the ReadyToRun section table: the format defines about thirty section
	// types.
	r2rSections = 1024
)

// The flags of a CLRHeader (ECMA-335 II.25.3.3.1).
const (
	CLRFlagILOnly           = 0x1
	CLRFlag32BitRequired    = 0x2
	CLRFlagILLibrary        = 0x4 // ReadyToRun
	CLRFlagStrongNameSigned = 0x8
	CLRFlagNativeEntryPoint = 0x10
)

// A CLRHeader is the IMAGE_COR20_HEADER of a managed image (ECMA-335 II.25.3.3).
type CLRHeader struct {
	RuntimeVersion      [2]uint16 // major, minor
	Metadata            Directory
	Flags               uint32
	EntryPoint          uint32 // token, or RVA with CLRFlagNativeEntryPoint
	Resources           Directory
	StrongName          Directory
	ManagedNativeHeader Directory // ReadyToRun header
}

// CLRHeader reads the CLR header. It is target.ErrUnsupported for an image that is not managed.
func (im *Image) CLRHeader() (CLRHeader, error) {
	d, err := im.peDirectory(dirCLR, "CLR header")
	if err != nil {
		return CLRHeader{}, err
	}
	b, err := im.BytesRVA(d.RVA, cor20Size)
	if err != nil {
		return CLRHeader{}, fmt.Errorf("CLR header: %w", err)
	}
	if n := le32(b, 0); n < cor20Size {
		return CLRHeader{}, target.Corruptf("CLR header of %d bytes", n)
	}
	return CLRHeader{
		RuntimeVersion:      [2]uint16{le16(b, 4), le16(b, 6)},
		Metadata:            directoryAt(b, 8),
		Flags:               le32(b, 16),
		EntryPoint:          le32(b, 20),
		Resources:           directoryAt(b, 24),
		StrongName:          directoryAt(b, 32),
		ManagedNativeHeader: directoryAt(b, 64),
	}, nil
}

func directoryAt(b []byte, off int) Directory {
	return Directory{RVA: RVA(le32(b, off)), Size: uint64(le32(b, off+4))}
}

// Metadata is the metadata of a managed image.
type Metadata struct {
	RVA  RVA
	Data []byte // read-only
	// Gaps are the parts of Data that the dump does not hold and that read as zeros.
	Gaps []Gap
}

// overlapsGap reports whether any of the n bytes at off of Data is in a gap.
func (md *Metadata) overlapsGap(off, n int) bool {
	return slices.ContainsFunc(md.Gaps, func(g Gap) bool { return g.overlaps(off, n) })
}

// Metadata returns the image's metadata. The dump or file lends it if it is stored in one piece.
// The error is target.ErrNotInDump if its first bytes are missing, because they locate everything
// else.
func (im *Image) Metadata() (Metadata, error) {
	d, bias, err := im.metadataRange()
	if err != nil {
		return Metadata{}, err
	}
	return im.metadataIn(d, bias)
}

// metadataRange returns the range of the metadata, and bias, the difference between addresses,
// which define pages, and RVAs.
func (im *Image) metadataRange() (d Directory, bias uint64, err error) {
	h, err := im.CLRHeader()
	if err != nil {
		return d, 0, err
	}
	d = h.Metadata
	if d.Size > limits.MetadataSize || im.pe.hasHeaders && d.Size > im.size {
		return d, 0, target.Corruptf("metadata of %d bytes in an image of %d", d.Size, im.size)
	}
	bias = uint64(im.base)
	if at, err := im.Address(d.RVA); err == nil {
		bias = uint64(at) - uint64(d.RVA) // in a flat image, a section begins elsewhere in a page than in memory
	}
	return d, bias, nil
}

// metadataIn returns the metadata in the range d, which begins at the start of the metadata.
func (im *Image) metadataIn(d Directory, bias uint64) (md Metadata, err error) {
	md.RVA = d.RVA
	md.Data, md.Gaps, err = readSparse(im.rvas, target.Addr(d.RVA), int(d.Size), bias)
	if err != nil {
		return Metadata{}, fmt.Errorf("metadata: %w", err)
	}
	if !bytes.HasPrefix(md.Data, []byte(metadataMagic)) {
		return Metadata{}, target.Corruptf("metadata at RVA %#x: no BSJB signature", uint64(d.RVA))
	}
	return md, nil
}

// A ReadyToRunHeader is the READYTORUN_HEADER of an image that was compiled ahead of time.
type ReadyToRunHeader struct {
	RVA      RVA
	Major    uint16
	Minor    uint16
	Flags    uint32
	Sections []ReadyToRunSection // in the image's order, by Type
}

// A ReadyToRunSection is a part of the ReadyToRun data. Type is a ReadyToRunSectionType of the
// runtime's readytorun.h.
type ReadyToRunSection struct {
	Type uint32
	Directory
}

// Section returns the section with a type, and whether there is one.
func (h *ReadyToRunHeader) Section(typ uint32) (Directory, bool) {
	for _, s := range h.Sections {
		if s.Type == typ {
			return s.Directory, true
		}
	}
	return Directory{}, false
}

// ReadyToRun reads the ReadyToRun header: through the CLR header of a managed image, or through the
// export RTR_HEADER of a composite image. It is target.ErrUnsupported for other images.
func (im *Image) ReadyToRun() (ReadyToRunHeader, error) {
	h, err := im.CLRHeader()
	if errors.Is(err, target.ErrUnsupported) {
		rva, _, serr := im.Symbol("RTR_HEADER")
		if serr != nil {
			return ReadyToRunHeader{}, err
		}
		return im.readyToRunAt(rva)
	}
	if err != nil {
		return ReadyToRunHeader{}, err
	}
	if h.ManagedNativeHeader.RVA == 0 {
		return ReadyToRunHeader{}, target.Unsupportedf("the image has no ReadyToRun code")
	}
	return im.readyToRunAt(h.ManagedNativeHeader.RVA)
}

func (im *Image) readyToRunAt(rva RVA) (ReadyToRunHeader, error) {
	b, err := im.BytesRVA(rva, r2rHeaderSize)
	if err != nil {
		return ReadyToRunHeader{}, fmt.Errorf("ReadyToRun header: %w", err)
	}
	if sig := le32(b, 0); sig != r2rMagic {
		return ReadyToRunHeader{}, target.Unsupportedf("native header at RVA %#x has signature %#x, not RTR", uint64(rva), sig)
	}
	h := ReadyToRunHeader{RVA: rva, Major: le16(b, 4), Minor: le16(b, 6), Flags: le32(b, 8)}
	n := le32(b, 12)
	if n > r2rSections {
		return h, target.Corruptf("ReadyToRun header with %d sections", n)
	}
	if b, err = im.BytesRVA(rva+r2rHeaderSize, 12*int(n)); err != nil {
		return h, fmt.Errorf("ReadyToRun sections: %w", err)
	}
	for i := 0; i < len(b); i += 12 {
		h.Sections = append(h.Sections, ReadyToRunSection{le32(b, i), directoryAt(b, i+4)})
	}
	return h, nil
}

// MVID returns the module version id of a managed image as stored: a new GUID for each compilation
// (ECMA-335 II.22.30).
func (im *Image) MVID() ([16]byte, error) {
	var id [16]byte
	d, bias, err := im.metadataRange()
	if err != nil {
		return id, err
	}
	md, err := im.metadataIn(Directory{d.RVA, min(d.Size, metadataHead)}, bias)
	if err != nil {
		return id, err
	}
	if md.overlapsGap(0, metadataHead) {
		return id, fmt.Errorf("MVID: %w", target.ErrNotInDump)
	}
	off, err := mvidOffset(md.Data, int(d.Size))
	if err != nil { // the tables are farther from the start than usual, or missing
		if md, err = im.metadataIn(d, bias); err != nil {
			return id, err
		}
		if off, err = mvidOffset(md.Data, int(d.Size)); err != nil {
			return id, err
		}
	}
	// A page counts as missing from its first missing byte on, so read it from its start.
	from := max(0, off-(pageSize-pageRest(uint64(d.RVA)+uint64(off)+bias)))
	b, gaps, err := readSparse(im.rvas, target.Addr(d.RVA)+target.Addr(from), off+len(id)-from, bias)
	md = Metadata{Gaps: gaps}
	if err != nil || md.overlapsGap(off-from, len(id)) {
		return id, fmt.Errorf("MVID: %w", target.ErrNotInDump)
	}
	copy(id[:], b[off-from:])
	return id, nil
}

// metadataHead is the maximum size of the part of the metadata that mvidOffset reads: root, stream
// headers and first rows.
const metadataHead = 512

// mvidOffset returns the offset of the GUID of row 1 in the Module table, the first table of #~
// (ECMA-335 II.24.2). b is the beginning of metadata of the given size.
func mvidOffset(b []byte, size int) (int, error) {
	c := cursor.New(b, 0)
	c.Seek(12)
	c.Skip(c.Count(1)) // version string
	c.Skip(2)
	var tables, guids int
	for range c.Uint16() {
		off := int(c.Uint32())
		c.Skip(4)
		switch streamName(c) {
		case "#~", "#-":
			tables = off
		case "#GUID":
			guids = off
		}
		if c.Err() != nil {
			break
		}
	}
	c.Seek(tables + 6)
	heaps := c.Uint8()
	c.Skip(1)
	valid := c.Uint64()
	c.Skip(8)
	for ; valid != 0; valid &= valid - 1 {
		c.Skip(4) // row counts
	}
	if heaps&0x40 != 0 {
		c.Skip(4) // extra data of edit and continue
	}
	c.Skip(2) // Generation
	heapIndex(c, heaps&1 != 0)
	index := heapIndex(c, heaps&2 != 0)
	if index == 0 {
		c.Fail(errors.New("the module has no MVID"))
	}
	off := guids + 16*(index-1)
	if off < 0 || off > size-16 {
		c.Fail(errors.New("the MVID is outside of the metadata"))
	}
	if err := c.Err(); err != nil {
		return 0, target.Corruptf("metadata: MVID: %w", err)
	}
	return off, nil
}

// streamName reads a stream's name, padded to four bytes.
func streamName(c *cursor.Cursor) string {
	var name []byte
	for range 8 {
		p := c.Take(4)
		head, _, found := bytes.Cut(p, []byte{0})
		if name = append(name, head...); found || p == nil {
			break
		}
	}
	return string(name)
}

func heapIndex(c *cursor.Cursor, wide bool) int {
	if wide {
		return int(c.Uint32())
	}
	return int(c.Uint16())
}
