package elfcore

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/target"
)

// The fields of a PE image's headers that give its extent (PE/COFF specification, "Optional
// Header").
const (
	peOffsetOffset   = 0x3c
	peSignature      = "PE\x00\x00"
	peSectionCount   = 6
	peTimeDateStamp  = 8
	peSizeOfOptional = 20
	peOptional       = 24
	peSizeOfImage    = peOptional + 56 // from the signature; the same in PE32 and PE32+
	peSizeOfHeaders  = peOptional + 60
	peCheckSum       = peOptional + 64
	peSectionSize    = 40
)

// maxImageSegments limits the program headers of an image that are read.
const maxImageSegments = 512

// An imageKind is the format of the first bytes of a mapping.
type imageKind uint8

const (
	imageUnread imageKind = iota // not in the dump
	imageNone                    // something else
	imageELF
	imagePE
)

// An imageHeader holds the extents of an image's parts from its header. All sizes are in bytes.
type imageHeader struct {
	kind  imageKind
	size  uint64 // of the loaded image, 0 if unknown
	first uint64 // of the first mapping of a loaded image: PE headers, or the first ELF segment

	bias    uint64 // ELF: added to p_vaddr
	fileEnd uint64 // ELF: end of the last segment in the file
	moved   bool   // ELF: the loaded layout differs from the file's
	wrong   bool   // ELF: a segment can't be that large

	stamp, checkSum uint32 // PE
}

// readImageHeader reads the header of the image at base if it is in the dump.
func (b *builder) readImageHeader(base target.Addr) imageHeader {
	magic, err := target.Bytes(b, base, 4)
	switch {
	case err != nil:
		return imageHeader{}
	case string(magic) == elfMagic:
		return b.readELFHeader(base)
	case string(magic[:2]) == "MZ":
		return b.readPEHeader(base)
	}
	return imageHeader{kind: imageNone}
}

func (b *builder) readELFHeader(base target.Addr) imageHeader {
	return elfHeader(b.imageSegments(base), base)
}

// elfHeader returns the extents of the ELF image at base from its program headers.
func elfHeader(segments []segment, base target.Addr) imageHeader {
	h := imageHeader{kind: imageELF}
	for _, s := range segments {
		if s.typ != progLoad || s.memSize == 0 {
			continue
		}
		if h.size == 0 {
			h.bias = uint64(base) - (uint64(s.addr) - s.off)
			h.first = s.off + s.fileSize
		}
		start := h.bias + uint64(s.addr)
		end := start + s.memSize - uint64(base)
		if s.memSize > maxImageSize || end > maxImageSize || end == 0 {
			return imageHeader{kind: imageELF, wrong: true}
		}
		h.size = max(h.size, end)
		h.fileEnd = max(h.fileEnd, s.off+s.fileSize)
		h.moved = h.moved || start-s.off != uint64(base)
	}
	return h
}

// headerInLaterSegment returns the header of the ELF image at base from m, a later mapping of the
// start of its file. ok is false if m does not show the header. Segments of a small program share
// the first page of the file, and the core may hold only the writable one.
func (b *builder) headerInLaterSegment(base target.Addr, m target.Mapping) (imageHeader, bool) {
	var first *segment
	segments := b.imageSegments(m.Start)
	for i := range segments {
		s := &segments[i]
		switch {
		case s.typ != progLoad || s.memSize == 0:
		case first == nil:
			first = s
		case s.off < b.page && first.off < b.page && m.Start-(s.addr&^target.Addr(b.page-1)-first.addr&^target.Addr(b.page-1)) == base:
			return elfHeader(segments, base), true
		}
	}
	return imageHeader{}, false
}

// maxImageSize exceeds the size of any image.
const maxImageSize = 1 << 40

// imageSegments reads the program headers of the ELF image at base. It returns nil if they are
// missing or impossible.
func (b *builder) imageSegments(base target.Addr) []segment {
	head, err := target.Bytes(b, base, headerSize)
	if err != nil || head[classOffset] != class64 || head[dataOffset] != dataLSB {
		return nil
	}
	c := cursor.New(head, 0)
	c.Seek(32)
	off := c.Uint64()
	c.Seek(54)
	size, count := c.Uint16(), int(c.Uint16())
	if size != progSize || count > maxImageSegments || off > maxImageSize {
		return nil
	}
	table, err := target.Bytes(b, base+target.Addr(off), count*progSize)
	if err != nil {
		return nil
	}
	return decodeSegments(table)
}

func (b *builder) readPEHeader(base target.Addr) imageHeader {
	h := imageHeader{kind: imagePE}
	off, err := target.Uint32(b, base+peOffsetOffset)
	if err != nil {
		return h
	}
	head, err := target.Bytes(b, base+target.Addr(off), peCheckSum+4)
	if err != nil {
		return h
	}
	if string(head[:len(peSignature)]) != peSignature {
		return imageHeader{kind: imageNone}
	}
	h.size = uint64(binary.LittleEndian.Uint32(head[peSizeOfImage:]))
	h.first = uint64(binary.LittleEndian.Uint32(head[peSizeOfHeaders:]))
	h.stamp = binary.LittleEndian.Uint32(head[peTimeDateStamp:])
	h.checkSum = binary.LittleEndian.Uint32(head[peCheckSum:])
	return h
}

// peSections returns the sections of the PE image with headers at base, or nil if they are not in
// the dump. addr is the distance from the base.
func (b *builder) peSections(base target.Addr) []segment {
	off, err := target.Uint32(b, base+peOffsetOffset)
	if err != nil {
		return nil
	}
	at := base + target.Addr(off)
	head, err := target.Bytes(b, at, peOptional)
	if err != nil {
		return nil
	}
	count, optional := binary.LittleEndian.Uint16(head[peSectionCount:]), binary.LittleEndian.Uint16(head[peSizeOfOptional:])
	if count > maxImageSegments {
		return nil
	}
	table, err := target.Bytes(b, at+peOptional+target.Addr(optional), int(count)*peSectionSize)
	if err != nil {
		return nil
	}
	out := make([]segment, count)
	for i := range out {
		s := table[peSectionSize*i:]
		out[i].memSize, out[i].addr = uint64(binary.LittleEndian.Uint32(s[8:])), target.Addr(binary.LittleEndian.Uint32(s[12:]))
		out[i].fileSize, out[i].off = uint64(binary.LittleEndian.Uint32(s[16:])), uint64(binary.LittleEndian.Uint32(s[20:]))
	}
	return out
}

// holds reports whether m, a later mapping of the same file, belongs to the image at base. known is
// false if the header does not decide it.
//
// Mappings inside the loaded image belong to it. If the first mapping shows the file as it is on
// disk, that mapping is the whole image.
func (h *imageHeader) holds(base target.Addr, first, m target.Mapping, page uint64) (in, known bool) {
	if h.size == 0 {
		return false, false
	}
	return !h.isFlat(first, page) && uint64(m.Start-base) < h.size, true
}

// isFlat reports whether an image's first mapping shows the file as it is on disk. The first
// mapping of a loaded PE image holds only the headers. In a loaded ELF image it holds the first
// segment, or more if neighboring segments have the same protection, but never the whole file.
func (h *imageHeader) isFlat(first target.Mapping, page uint64) bool {
	size := uint64(first.End - first.Start)
	if size <= pageUp(h.first, page) {
		return false
	}
	return h.kind == imagePE || h.moved && size >= h.fileEnd
}

func pageUp(n, page uint64) uint64 { return (n + page - 1) &^ (page - 1) }
