// Package image reads PE, ELF and Mach-O images: as the loader laid them out in the memory of a dump, as a flat copy of the file in that memory, or
// as files on disk. It finds exports, build identities, version strings, resources and the parts of managed images (CLR header, metadata,
// ReadyToRun header), and it supplies a dump with the read-only bytes that its writer left to the files (Overlay).
//
// Only headers are read when an image is opened; the rest is read when asked for. An Image is immutable and safe for
// concurrent use. Bytes that a dump does not hold are target.ErrNotInDump, never zeros.
//
// Formats: the PE/COFF specification (learn.microsoft.com/windows/win32/debug/pe-format), the System V ABI with its GNU extensions
// (refspecs.linuxbase.org), xnu's mach-o/loader.h, ECMA-335 partition II.25 and the runtime's docs/design/coreclr/botr/readytorun-format.md.
//
// Stability: unstable.
package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/internal/base/macho"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/target"
)

// An RVA is a distance in bytes from a loaded image's base. For ELF it counts from the page of the lowest PT_LOAD, for Mach-O from the
// segment that begins the file.
type RVA uint64

// A Kind is the format of an image.
type Kind uint8

// The formats that the package reads.
const (
	KindUnknown Kind = iota
	KindPE
	KindELF
	KindMachO
)

var kindNames = [...]string{KindPE: "PE", KindELF: "ELF", KindMachO: "Mach-O"}

func (k Kind) String() string { return enum.Name(kindNames[:], k, "Kind") }

// A Layout is the order of an image's bytes.
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
	FileSize uint64 // bytes in the file; those from there to Size start as zeros
	Prot     target.Protection
}

// A Directory is a range of an image. Both values are zero where the image has none.
type Directory struct {
	RVA  RVA
	Size uint64
}

// An Image is one PE, ELF or Mach-O image.
type Image struct {
	kind     Kind
	layout   Layout
	guessed  bool // layout is what is usual
	arch     target.Arch
	path     string
	base     target.Addr
	size     uint64 // bytes once loaded
	raw      area   // the bytes as they lie in memory or in the file
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

// Layout reports how the image's bytes lie where it was opened.
func (im *Image) Layout() Layout { return im.layout }

// LayoutKnown reports whether the image itself, its mappings or the loader give its
// Layout. If none of them is in the dump, an image is read as a loaded one.
func (im *Image) LayoutKnown() bool { return !im.guessed }

// Arch returns the processor that the image is for: ArchUnknown for images without native code or headers.
func (im *Image) Arch() target.Arch { return im.arch }

// Path returns the file that the image was opened from, or what the dump's module list calls it.
func (im *Image) Path() string { return im.path }

// File returns the file that the image was opened from, nil for an image in a target. It
// can be longer than the image: what follows a program is in it, too.
func (im *Image) File() target.Source {
	if f, ok := im.raw.mem.(fileMemory); ok {
		return f.src
	}
	return nil
}

// Base returns the address of the image in the target, 0 for one opened from a file.
func (im *Image) Base() target.Addr { return im.base }

// Size returns the number of bytes that the image takes once it is loaded.
func (im *Image) Size() uint64 { return im.size }

// Sections returns the sections (PE), PT_LOAD segments (ELF) or segments (Mach-O) in the headers' order. Don't change them. A PE image
// whose section headers are not in the dump has none.
func (im *Image) Sections() []Section { return im.sections }

// HasHeaders reports whether the image's headers could be read. Minidumps can lack those of a module in their list:
// such an image has the list's identity, exports if the dump holds the export directory, and all else is
// target.ErrNotInDump.
func (im *Image) HasHeaders() bool {
	return im.elf != nil || im.macho != nil || im.pe != nil && im.pe.hasHeaders
}

// Close releases the file of an image from OpenFile. Views of it die with it.
func (im *Image) Close() error {
	if im.closer == nil {
		return nil
	}
	return im.closer.Close()
}

// OpenMemory opens the image of m in the memory of a target. m needs Base; the other fields help where headers are
// missing or don't distinguish loaded from flat. Missing headers are target.ErrNotInDump, unless m has SizeOfImage:
// then the image is one without headers (HasHeaders). Bytes that are none of the formats are target.ErrCorrupt.
func OpenMemory(mem target.Memory, m *target.Module) (*Image, error) {
	return OpenMemoryLayout(mem, m, LayoutUnknown)
}

// OpenMemoryLayout is OpenMemory for a caller that knows the layout, from the runtime's PEImageLayout for example.
func OpenMemoryLayout(mem target.Memory, m *target.Module, l Layout) (*Image, error) {
	if m == nil {
		return nil, target.Unsupportedf("image: no module")
	}
	im := &Image{path: m.Path, base: m.Base, raw: area{mem, m.Base, ^uint64(m.Base)}}
	err := im.open(l, m)
	if errors.Is(err, target.ErrNotInDump) && m.SizeOfImage != 0 {
		return headless(mem, m), nil
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

// OpenFrom is OpenSource for an image that closes closer when it is closed. Where it fails it does not close it.
func OpenFrom(path string, src target.Source, closer io.Closer) (*Image, error) {
	if src == nil {
		return nil, target.Unsupportedf("image: no file")
	}
	im, err := OpenSource(path, src)
	if err == nil {
		im.closer = closer
	}
	return im, err
}

// OpenSource opens an image whose file is src; path is what it is called in messages. The image does not close src.
func OpenSource(path string, src target.Source) (*Image, error) {
	if src == nil {
		return nil, target.Unsupportedf("image: no file")
	}
	im := &Image{path: path, raw: fileArea(src)}
	if err := im.open(Flat, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return im, nil
}

// Through returns the image with wrap's result between it and its bytes, which
// are addressed by RVA. What Overlay takes from the image does not pass there.
func (im *Image) Through(wrap func(target.Memory) target.Memory) *Image {
	w := *im
	if wrap != nil {
		w.rvas = wrap(im.rvas)
	}
	return &w
}

// NewBytes opens an image that is in b, as it lies in a file or as it was loaded. It keeps b.
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

// setLayout fixes how RVAs map to bytes. The extents must be known.
func (im *Image) setLayout(l Layout) {
	im.layout = l
	if l == Flat {
		im.rvas = flatArea{im.raw, im.extents}
		return
	}
	im.raw.size = min(im.raw.size, im.size)
	im.rvas = im.raw
}

// ReadRVA copies the bytes at rva into p. When n < len(p) the error gives the reason why: target.ErrNotInDump where the
// dump or the file has no such bytes, target.ErrCorrupt where they would lie outside the image.
func (im *Image) ReadRVA(p []byte, rva RVA) (n int, err error) {
	return absent.Memory(im.rvas).ReadMemory(p, target.Addr(rva))
}

// ViewRVA lends the n bytes at rva without copying them. It reports false if they are in several pieces; use BytesRVA.
func (im *Image) ViewRVA(rva RVA, n int) ([]byte, bool) {
	return absent.Memory(im.rvas).View(target.Addr(rva), n)
}

// BytesRVA returns the n bytes at rva, lent or copied. Don't write to them.
func (im *Image) BytesRVA(rva RVA, n int) ([]byte, error) {
	return readBytes(im.rvas, target.Addr(rva), n)
}

// Address returns where the byte at rva lies in the target's memory. It fails with target.ErrUnsupported for an image
// from a file, and with target.ErrNotInDump for a part of a flat image that the file does not have.
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

// directory returns the bytes of a directory whose size came from the image.
func (im *Image) directory(d Directory, limit uint64) ([]byte, error) {
	if d.Size > limit {
		return nil, target.Corruptf("%d bytes at RVA %#x: more than %d", d.Size, uint64(d.RVA), limit)
	}
	return im.BytesRVA(d.RVA, int(d.Size))
}

// openSource maps the file at path, so that only the pages that are looked at are read.
func openSource(path string) (target.Source, io.Closer, error) {
	f, err := mmapfile.Open(path, false)
	if err != nil {
		return nil, nil, err
	}
	return f, f, nil
}
