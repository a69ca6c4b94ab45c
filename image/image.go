// Package image reads PE, ELF and Mach-O images from memory of a dump, in the loader's layout or
// flat, and from files. It finds exports, build identities, version strings, resources and the
// parts of managed images: CLR header, metadata, ReadyToRun header. An Overlay supplies read-only
// bytes from files that the dump omits. Metadata and code are decoded by other packages. Start
// reading at Image and OpenMemory.
//
// An Image is immutable and safe for concurrent use. It reads headers when it is opened, and the
// rest on demand. Bytes that a dump does not hold are target.ErrNotInDump, never zeros.
//
// Formats: PE/COFF specification (learn.microsoft.com/windows/win32/debug/pe-format), System V ABI
// with GNU extensions (refspecs.linuxbase.org), mach-o/loader.h of xnu, ECMA-335 partition II.25,
// readytorun-format.md of the runtime.
//
// Stability: stable.
package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/macho"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/target"
)

// An RVA is a distance in bytes from the base of a loaded image. The base is the page of the lowest
// PT_LOAD in ELF, and the segment at the start of the file in Mach-O.
type RVA uint64

// A Kind is the format of an image.
type Kind uint8

// The formats of images.
const (
	KindUnknown Kind = iota
	KindPE
	KindELF
	KindMachO
)

var kindNames = [...]string{KindPE: "PE", KindELF: "ELF", KindMachO: "Mach-O"}

func (k Kind) String() string { return enum.Name(kindNames[:], k, "Kind") }

// A Layout is the arrangement of an image's bytes.
type Layout uint8

// The layouts. A loaded image has its sections at their RVAs; a flat one is a copy of the file.
const (
	LayoutUnknown Layout = iota
	Loaded
	Flat
)

var layoutNames = [...]string{Loaded: "loaded", Flat: "flat"}

func (l Layout) String() string { return enum.Name(layoutNames[:], l, "Layout") }

// A Section is a section of a PE image, a PT_LOAD segment of an ELF image or a segment of a Mach-O image.
type Section struct {
	Name     string // empty for ELF segments
	RVA      RVA
	Size     uint64 // bytes in memory
	Offset   uint64 // in the file
	FileSize uint64 // bytes in the file; the rest of Size starts as zeros
	Prot     target.Protection
}

// A Directory is a range of an image. The zero Directory means that the image does not have it.
type Directory struct {
	RVA  RVA
	Size uint64
}

// An Image is one PE, ELF or Mach-O image.
type Image struct {
	kind     Kind
	layout   Layout
	guessed  bool // layout is the usual one, without evidence
	arch     target.Arch
	path     string
	base     target.Addr
	size     uint64 // bytes once loaded
	raw      area   // the bytes in memory or in the file
	rvas     target.Memory
	sections []Section
	extents  []extent
	closer   io.Closer

	pe    *peImage
	elf   *elfImage
	macho *machoImage
}

// Kind returns the image's format.
func (im *Image) Kind() Kind { return im.kind }

// Layout returns the layout of the image's bytes.
func (im *Image) Layout() Layout { return im.layout }

// LayoutKnown reports whether the image itself, its mappings or the loader determine its Layout. If
// the dump lacks all of them, Loaded is assumed.
func (im *Image) LayoutKnown() bool { return !im.guessed }

// Arch returns the processor of the image, or ArchUnknown for images without native code or
// headers.
func (im *Image) Arch() target.Arch { return im.arch }

// Path returns the file that the image was opened from, or its path in the dump's module list.
func (im *Image) Path() string { return im.path }

// File returns the file that the image was opened from, or nil for an image in a target. The file
// can be longer than the image.
func (im *Image) File() target.Source {
	if f, ok := im.raw.mem.(fileMemory); ok {
		return f.src
	}
	return nil
}

// Base returns the address of the image in the target, or 0 for an image from a file.
func (im *Image) Base() target.Addr { return im.base }

// Size returns the size in bytes of the loaded image.
func (im *Image) Size() uint64 { return im.size }

// Sections returns the sections (PE), PT_LOAD segments (ELF) or segments (Mach-O) in the headers'
// order. The caller must not change them. It is empty for a PE image whose section headers are not
// in the dump.
func (im *Image) Sections() []Section { return im.sections }

// HasHeaders reports whether the image's headers are readable. Minidumps may omit them: the image
// then has the identity in the module list, and its exports if the dump holds the export directory;
// everything else is target.ErrNotInDump.
func (im *Image) HasHeaders() bool {
	return im.elf != nil || im.macho != nil || im.pe != nil && im.pe.hasHeaders
}

// Close closes the file of an image from OpenFile. Views of the image become invalid.
func (im *Image) Close() error {
	if im.closer == nil {
		return nil
	}
	return im.closer.Close()
}

// Lost returns an error if the image's file could no longer be read as it was when it was opened, for example because it
// became shorter. Otherwise, and for an image in memory, it returns nil.
func (im *Image) Lost() error { return machine.Lost(im.closer) }

// OpenMemory opens the image of m in the memory of a target. m needs Base; the other fields help if
// headers are missing or don't determine the layout. Missing headers are target.ErrNotInDump,
// unless m has SizeOfImage: the image then has no headers (HasHeaders). Unknown formats are
// target.ErrCorrupt.
func OpenMemory(mem target.Memory, m *target.Module) (*Image, error) {
	return OpenMemoryLayout(mem, m, LayoutUnknown)
}

// OpenMemoryLayout is OpenMemory for a caller that knows the layout, for example from the runtime's
// PEImageLayout.
func OpenMemoryLayout(mem target.Memory, m *target.Module, l Layout) (*Image, error) {
	im := &Image{path: m.Path, base: m.Base, raw: area{mem, m.Base, ^uint64(m.Base)}}
	err := im.open(l, m)
	if errors.Is(err, target.ErrNotInDump) && m.SizeOfImage != 0 {
		return openHeadless(mem, m), nil
	}
	if err != nil {
		return nil, fmt.Errorf("image at %#x (%s): %w", uint64(m.Base), m.Path, err)
	}
	return im, nil
}

// OpenFile opens an image on disk. Close it when nothing refers to it any more.
func OpenFile(path string) (*Image, error) {
	src, closer, err := openSource(path)
	if err != nil {
		return nil, err
	}
	im, err := OpenFrom(path, src, closer)
	if err != nil {
		return nil, errors.Join(err, closer.Close())
	}
	return im, nil
}

// OpenFrom is OpenSource for an image that owns closer: Close closes it. If OpenFrom fails, it does
// not close it.
func OpenFrom(path string, src target.Source, closer io.Closer) (*Image, error) {
	im, err := OpenSource(path, src)
	if err == nil {
		im.closer = closer
	}
	return im, err
}

// OpenSource opens an image in the file src; path is its name in messages. The image does not close
// src.
func OpenSource(path string, src target.Source) (*Image, error) {
	im := &Image{path: path, raw: fileArea(src)}
	if err := im.open(Flat, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return im, nil
}

// Through returns the image with its bytes, addressed by RVA, read through wrap's result. An
// Overlay of the image is not affected.
func (im *Image) Through(wrap func(target.Memory) target.Memory) *Image {
	w := *im
	if wrap != nil {
		w.rvas = wrap(im.rvas)
	}
	return &w
}

// NewBytes opens an image in b, with the layout of a file or of a loaded image. It keeps b.
func NewBytes(b []byte, l Layout) (*Image, error) {
	im := &Image{raw: fileArea(target.BytesSource(b))}
	if err := im.open(l, nil); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	return im, nil
}

// open reads the headers. m is nil for an image that is not in a dump.
func (im *Image) open(l Layout, m *target.Module) error {
	magic, err := im.raw.bytes(0, 4)
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	switch {
	case binary.LittleEndian.Uint16(magic) == peMagic:
		return im.openPE(l, m)
	case string(magic) == elfMagic:
		return im.openELF(l)
	case string(magic) == macho.Magic:
		return im.openMachO(l)
	}
	return target.Corruptf("neither a PE, an ELF nor a Mach-O image: it begins with % x", magic)
}

// setLayout sets the mapping from RVAs to bytes. The extents must be set.
func (im *Image) setLayout(l Layout) {
	im.layout = l
	if l == Flat {
		im.rvas = flatArea{im.raw, im.extents}
		return
	}
	im.raw.size = min(im.raw.size, im.size)
	im.rvas = im.raw
}

// ReadRVA copies the bytes at rva into p. If n < len(p), the error is target.ErrNotInDump if the
// dump or the file does not have the bytes, and target.ErrCorrupt if they are outside of the image.
func (im *Image) ReadRVA(p []byte, rva RVA) (n int, err error) {
	return im.rvas.ReadMemory(p, target.Addr(rva))
}

// ViewRVA lends the n bytes at rva without copying them. It reports false if they are not
// contiguous; use BytesRVA then.
func (im *Image) ViewRVA(rva RVA, n int) ([]byte, bool) { return im.rvas.View(target.Addr(rva), n) }

// BytesRVA returns the n bytes at rva, lent or copied. They are read-only.
func (im *Image) BytesRVA(rva RVA, n int) ([]byte, error) {
	return readBytes(im.rvas, target.Addr(rva), n)
}

// Address returns the address in the target of the byte at rva. The error is target.ErrUnsupported
// for an image from a file, and target.ErrNotInDump for a part of a flat image that is not in the
// file.
func (im *Image) Address(rva RVA) (target.Addr, error) {
	switch {
	case im.base == 0:
		return 0, target.Unsupportedf("%s is not in a dump", im.path)
	case im.layout == Loaded:
		return im.base + target.Addr(rva), nil
	}
	i, ok := findExtent(im.extents, uint64(rva))
	if !ok {
		return 0, fmt.Errorf("RVA %#x of %s: %w", uint64(rva), im.path, errNoFileBytes)
	}
	return im.base + target.Addr(im.extents[i].off+uint64(rva)-im.extents[i].rva), nil
}

// directory returns the bytes of a directory with a size from the image.
func (im *Image) directory(d Directory, limit uint64) ([]byte, error) {
	if d.Size > limit {
		return nil, target.Corruptf("%d bytes at RVA %#x: more than %d", d.Size, uint64(d.RVA), limit)
	}
	return im.BytesRVA(d.RVA, int(d.Size))
}

// openSource maps the file at path, so that only used pages are read.
func openSource(path string) (target.Source, io.Closer, error) {
	f, err := mmapfile.Open(path, false)
	if err != nil {
		return nil, nil, err
	}
	return f, f, nil
}
