package machocore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/macho"
	"github.com/sosgo/sosgo/target"
)

// Offsets in dyld_all_image_infos and dyld_image_info (mach-o/dyld_images.h).
const (
	infosCount = 4
	infosArray = 8
	infosDyld  = 32 // the dynamic linker's own image
	infosSize  = 40

	infoSize = 24 // address, path, time
)

// sectionInfos is the section of the dynamic linker with dyld_all_image_infos. The kernel finds it
// by this name (xnu: bsd/kern/mach_loader.c, note_all_image_info_section).
const sectionInfos = "__all_image_info"

// headerPage is the alignment of images, and unknownSize the size of an image without a header.
const headerPage, unknownSize = 4096, 4096

// maxImageSize exceeds the size of any image.
const maxImageSize = 1 << 40

// A loaded is an image before its header is read.
type loaded struct {
	base   target.Addr
	path   string
	uuid   []byte
	listed bool // by the dynamic linker
}

// findModules lists the images of the process, from the first of these sources that exists:
//
//   - the note "all image infos";
//   - the dynamic linker's list, which a section of its image holds, and the dynamic linker itself;
//   - headers at the start of segments, and the program that a note names.
//
// The image at runtime, the runtime's base according to createdump, is added, and so are PE images
// with headers at the start of a segment, which the runtime maps itself. Modules don't overlap.
func (b *builder) findModules(runtime target.Addr) {
	images := b.notedImages()
	if images == nil {
		images = b.linkedImages()
	}
	if images == nil {
		images = b.scannedImages()
		if a, ok := b.mainProgram(); ok {
			images = append(images, loaded{base: a})
		}
	}
	if runtime != 0 {
		images = append(images, loaded{base: runtime})
	}
	found := map[target.Addr]bool{}
	for _, im := range images {
		if !found[im.base] && len(b.Modules) < limits.Modules {
			found[im.base] = b.addImage(im)
		}
	}
	b.addPEImages(found)
	slices.SortStableFunc(b.Modules, func(x, y target.Module) int { return cmp.Compare(x.Base, y.Base) })
	for i := range b.Modules[:max(0, len(b.Modules)-1)] {
		m := &b.Modules[i]
		m.Size = min(m.Size, uint64(b.Modules[i+1].Base-m.Base))
	}
}

// readImage reads the header of the image at base.
func (b *builder) readImage(base target.Addr) (*macho.Image, error) {
	return macho.ReadImage(func(off uint64, n int) ([]byte, error) { return target.Bytes(b, base+target.Addr(off), n) })
}

// addImage adds the module of an image. It reports false if there is no header and the dynamic
// linker does not list the image.
func (b *builder) addImage(im loaded) bool {
	m := target.Module{Base: im.base, Path: im.path, BuildID: im.uuid, Listed: im.listed, Size: unknownSize}
	head, err := b.readImage(im.base)
	switch {
	case err != nil && !im.listed:
		return false
	case err == nil:
		m.Path, m.BuildID = cmp.Or(m.Path, head.Name), head.UUID
		if n := head.Extent(); n > 0 && n < maxImageSize {
			m.Size = n
		}
		m.Mappings = mappings(head, im.base)
		if head.Header.Type == macho.TypeExecute && b.Process.Command == "" {
			b.Process.Command = m.Path
		}
	}
	b.Modules = append(b.Modules, m)
	return true
}

// mappings returns the parts of an image that its file backs. The parts of an image in the shared
// cache are far apart, in another file.
func mappings(head *macho.Image, base target.Addr) []target.Mapping {
	if head.Header.Flags&macho.FlagInCache != 0 {
		return nil
	}
	var out []target.Mapping
	for i := range head.Segments {
		s := &head.Segments[i]
		if start := base + target.Addr(s.Addr-head.Base); s.Addr >= head.Base && s.FileSize > 0 && start+target.Addr(s.FileSize) > start {
			out = append(out, target.Mapping{Start: start, End: start + target.Addr(s.FileSize), Offset: s.Offset})
		}
	}
	slices.SortStableFunc(out, func(x, y target.Mapping) int { return cmp.Compare(x.Start, y.Start) })
	return out
}

// linkedImages returns the images in the dynamic linker's list, or nil if there is none.
func (b *builder) linkedImages() []loaded {
	for dyld := range b.dynamicLinkers {
		if images := b.imagesOf(dyld); images != nil {
			return images
		}
	}
	return nil
}

// dynamicLinkers yields the addresses of dynamic linkers: images at the start of segments, then
// images on other pages of segments with code. It examines at most as many pages as the file has,
// because sizes may be wrong and segments may overlap. A segment can begin before the image, and
// newer systems have a second dynamic linker in the shared cache.
func (b *builder) dynamicLinkers(yield func(target.Addr) bool) {
	for i := range b.loads {
		if a := target.Addr(b.loads[i].Addr); b.isLinker(a) && !yield(a) {
			return
		}
	}
	size := uint64(b.src.Size())
	pages := size / headerPage
	for i := range b.loads {
		s := &b.loads[i]
		if s.Prot&target.ProtExec == 0 || s.Prot&target.ProtWrite != 0 {
			continue
		}
		stored := min(s.FileSize, s.Size, size-min(s.Offset, size))
		for off := uint64(headerPage); off < stored && pages > 0; off, pages = off+headerPage, pages-1 {
			if a := target.Addr(s.Addr + off); b.isLinker(a) && !yield(a) {
				return
			}
		}
	}
}

func (b *builder) isLinker(a target.Addr) bool {
	if magic := b.Span(a); len(magic) >= len(macho.Magic) && string(magic[:len(macho.Magic)]) != macho.Magic {
		return false // almost all pages, without copying them
	}
	data, err := target.Bytes(b, a, macho.HeaderSize)
	if err != nil {
		return false
	}
	h, err := macho.DecodeHeader(data)
	return err == nil && h.Type == macho.TypeDylinker
}

// imagesOf returns the images in the list of the dynamic linker at dyld, or nil if it has no list.
func (b *builder) imagesOf(dyld target.Addr) []loaded {
	head, err := b.readImage(dyld)
	if err != nil {
		return nil
	}
	for i := range head.Segments {
		for _, s := range head.Segments[i].Sections {
			// The name of a section has 16 bytes, which this one fills.
			if s.Name == sectionInfos && strings.HasPrefix(head.Segments[i].Name, "__DATA") {
				return b.listedImages(dyld, dyld+target.Addr(s.Addr-head.Base))
			}
		}
	}
	return nil
}

// listedImages reads the dyld_all_image_infos at an address.
func (b *builder) listedImages(dyld, at target.Addr) []loaded {
	data, err := target.Bytes(b, at, infosSize)
	if err != nil {
		return nil
	}
	count := binary.LittleEndian.Uint32(data[infosCount:])
	array := target.Addr(binary.LittleEndian.Uint64(data[infosArray:]))
	if count == 0 || array == 0 { // unused, or being changed
		return nil
	}
	if count > limits.Modules {
		b.Warn(target.Limitf("the dynamic linker lists %d images: the first %d are looked at", count, limits.Modules))
		count = limits.Modules
	}
	var out []loaded
	for i := range count {
		entry, err := target.Bytes(b, array+infoSize*target.Addr(i), infoSize)
		if err != nil {
			b.Warn(target.Corruptf("the dynamic linker's list of %d images ends after %d: %w", count, i, err))
			break
		}
		c := cursor.New(entry, 0)
		im := loaded{base: target.Addr(c.Uint64()), listed: true}
		im.path, _ = target.CString(b, target.Addr(c.Uint64()), limits.PathBytes)
		if im.base != 0 {
			out = append(out, im)
		}
	}
	if len(out) == 0 {
		return nil
	}
	if own := target.Addr(binary.LittleEndian.Uint64(data[infosDyld:])); b.isLinker(own) {
		dyld = own
	}
	return append(out, loaded{base: dyld, listed: true})
}

// scannedImages returns the images with headers at the start of a segment.
func (b *builder) scannedImages() []loaded {
	var out []loaded
	for i := range b.loads {
		data, err := target.Bytes(b, target.Addr(b.loads[i].Addr), macho.HeaderSize)
		if err != nil {
			continue
		}
		h, err := macho.DecodeHeader(data)
		if err != nil {
			continue
		}
		switch h.Type {
		case macho.TypeExecute, macho.TypeDylib, macho.TypeBundle, macho.TypeDylinker:
			out = append(out, loaded{base: target.Addr(b.loads[i].Addr)})
		}
	}
	return out
}

// The fields of a PE image's headers (PE/COFF specification, "Optional Header"), from the signature.
const (
	peOffsetOffset  = 0x3c
	peSignature     = "PE\x00\x00"
	peTimeDateStamp = 8
	peSizeOfImage   = 24 + 56 // the same in PE32 and PE32+
	peCheckSum      = 24 + 64
)

// addPEImages adds the PE images with headers at the start of a segment. The header of an image is
// visible again at the start of a section that begins in the page of the headers.
func (b *builder) addPEImages(found map[target.Addr]bool) {
	var last target.Module
	for i := range b.loads {
		base := target.Addr(b.loads[i].Addr)
		m, ok := b.peImage(base)
		if !ok || found[base] || len(b.Modules) >= limits.Modules {
			continue
		}
		if last.Contains(base) && m.TimeDateStamp == last.TimeDateStamp && m.SizeOfImage == last.SizeOfImage && m.CheckSum == last.CheckSum {
			continue
		}
		last = m
		b.Modules = append(b.Modules, m)
	}
}

func (b *builder) peImage(base target.Addr) (target.Module, bool) {
	magic, err := target.Bytes(b, base, 2)
	if err != nil || !bytes.Equal(magic, []byte("MZ")) {
		return target.Module{}, false
	}
	off, err := target.Uint32(b, base+peOffsetOffset)
	if err != nil {
		return target.Module{}, false
	}
	data, err := target.Bytes(b, base+target.Addr(off), peCheckSum+4)
	if err != nil || string(data[:len(peSignature)]) != peSignature {
		return target.Module{}, false
	}
	le := binary.LittleEndian
	m := target.Module{Base: base, TimeDateStamp: le.Uint32(data[peTimeDateStamp:]), SizeOfImage: le.Uint32(data[peSizeOfImage:]), CheckSum: le.Uint32(data[peCheckSum:])}
	m.Size = uint64(m.SizeOfImage)
	return m, m.Size > 0
}
