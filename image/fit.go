package image

import (
	"encoding/binary"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// A Fit reports how well a file agrees with a module in a dump besides its identity: in the mapped
// parts of the file, and in pages that the loader and the process wrote to.
type Fit struct {
	// Mappings is the number of ranges that were mapped from the file according to the dump. Each
	// agrees with the file's headers.
	Mappings int
	// Words is the number of relocated pointers in writable pages of the dump. Same is how many of
	// them have the value that the file gives them.
	Words, Same int
	// Fixed is how many of Words are read-only after relocation. Differ is how many of these have
	// another value.
	Fixed, Differ int
}

// The minimum numbers of words that prove a file: pointers that are read-only after relocation, or
// pointers that mostly equal the file's.
const (
	fitFixedWords = 24
	fitWords      = 64
	// fitChanged: up to one in this many variables may have changed. fitInit: up to one in this
	// many read-only words may have been set by the image's own start-up code, as in the dynamic
	// linker.
	fitChanged = 4
	fitInit    = 32
)

// Proves reports whether the words alone prove the file. In two different builds hardly one pointer
// in ten is equal.
func (f *Fit) Proves() bool {
	return f.Fixed >= fitFixedWords || f.Words >= fitWords && f.Same >= f.Words-f.Words/fitChanged
}

// String formats the counts: "18,601 of 18,644 relocated words fit".
func (f *Fit) String() string {
	if f.Words == 0 {
		return fmt.Sprintf("%d of %d mapped ranges fit", f.Mappings, f.Mappings)
	}
	return fmt.Sprintf("%d of %d relocated words fit", f.Same, f.Words)
}

// FitFile compares im, an image from a file, with m in a dump's memory. If the file can't be the
// loaded one, the error wraps ErrMismatch and describes the difference.
func (im *Image) FitFile(mem target.Memory, m *target.Module) (Fit, error) {
	var fit Fit
	if im.layout != Flat || im.base != 0 {
		return fit, target.Unsupportedf("%s is not an image from a file", im.path)
	}
	l := LayoutUnknown
	if im.kind == KindPE {
		if l = layoutOfMappings(m, im.sections); l == LayoutUnknown {
			l = Loaded
		}
	}
	for i := range m.Mappings {
		if err := im.fitMapping(m, &m.Mappings[i], l); err != nil {
			return fit, err
		}
		fit.Mappings++
	}
	var err error
	switch {
	case im.kind == KindELF:
		err = im.fitELF(&fit, mem, m)
	case l == Loaded && im.pe != nil && im.pe.plus:
		err = im.fitPE(&fit, mem, m)
	}
	switch {
	case err != nil:
		return Fit{Mappings: fit.Mappings}, nil // unreadable relocations prove nothing
	case fit.Differ > fit.Fixed/fitInit, fit.Words >= fitWords && fit.Same < fit.Words/fitChanged:
		return fit, fmt.Errorf("%d of %d relocated words differ: %w", fit.Words-fit.Same, fit.Words, ErrMismatch)
	}
	return fit, nil
}

// fitMapping compares a mapped range with the file's headers. In a flat image file offsets equal
// distances from the base.
func (im *Image) fitMapping(m *target.Module, p *target.Mapping, l Layout) error {
	n, end, d := uint64(p.End-p.Start), pageEnd(im.raw.size, maxPageSize), uint64(p.Start-m.Base)
	if im.inGap(d, n, p.Offset) {
		return nil // it may be past the file's end
	}
	if p.Offset >= end || n > end-p.Offset {
		return fmt.Errorf("the process mapped %d bytes at offset %#x of the file, this one has %d: %w", n, p.Offset, im.raw.size, ErrMismatch)
	}
	if l == Flat {
		// The runtime maps such a file as a whole. For a file in a bundle, a core may list only the
		// first pages.
		if p.Offset == 0 && len(m.Mappings) == 1 && n < im.raw.size && m.Bundle == nil {
			return fmt.Errorf("the process mapped a file of at most %d bytes, this one has %d: %w", n, im.raw.size, ErrMismatch)
		}
		if d != p.Offset {
			return fmt.Errorf("offset %#x of the file is mapped %#x bytes after its start: %w", p.Offset, d, ErrMismatch)
		}
		return nil
	}
	for i := range im.extents {
		e := &im.extents[i]
		// A mapping begins at the start of a page of the file, before the extent.
		if e.rva-e.off == d-p.Offset && d+n > e.rva && d < pageEnd(e.rva+e.n, maxPageSize) {
			return nil
		}
	}
	return fmt.Errorf("offset %#x is mapped %#x bytes after the base, where the file has nothing: %w", p.Offset, d, ErrMismatch)
}

// inGap reports whether the n bytes at d are between the extents of an ELF file, at the offset that
// continues the first extent's mapping. The dynamic loader maps the whole range of a library with
// its first extent, and then the others over it. If extents are 64 KB apart, as on ARM64, pages
// between them keep the first mapping without access, and a kernel's core lists them.
func (im *Image) inGap(d, n, offset uint64) bool {
	if im.kind != KindELF || len(im.extents) == 0 || im.extents[0].rva-im.extents[0].off != d-offset {
		return false
	}
	behind := false
	for i := range im.extents {
		e := &im.extents[i]
		if d < e.rva+e.n && d+n > e.rva&^(minPageSize-1) {
			return false
		}
		behind = behind || e.rva >= d+n
	}
	return behind
}

// minPageSize is the smallest page size of the machines that dumps come from.
const minPageSize = 4 << 10

// maxPageSize is the largest page size of the machines that dumps come from.
const maxPageSize = 64 << 10

func pageEnd(n, page uint64) uint64 { return (n + page - 1) &^ (page - 1) }

// fitELF compares the words that relative relocations set.
func (im *Image) fitELF(fit *Fit, mem target.Memory, m *target.Module) error {
	fixed := im.elf.relro
	w := target.NewWindow(mem)
	load := uint64(m.Base) - im.elf.bias
	if err := im.fitDynamic(fit, w, m, load); err != nil {
		return err
	}
	return im.relativeWords(func(at RVA, addend uint64) error {
		got, err := w.Uint64(m.Base + target.Addr(at))
		if err != nil {
			return nil
		}
		fit.Words++
		same := got == addend+load
		if same {
			fit.Same++
		}
		if at < fixed.RVA || uint64(at-fixed.RVA)+8 > fixed.Size {
			return nil
		}
		fit.Fixed++
		if !same {
			fit.Differ++
		}
		return nil
	})
}

// fitDynamic compares the entries of the dynamic section, which locate and count symbols, strings
// and relocations. The dynamic linker may have relocated addresses in it.
func (im *Image) fitDynamic(fit *Fit, w *target.Window, m *target.Module, load uint64) error {
	d := im.elf.dynamic
	b, err := im.directory(d, elfDynamicSize)
	if err != nil {
		return err
	}
	at := m.Base + target.Addr(d.RVA)
	for i := 0; i+16 <= len(b); i += 16 {
		tag, v := le64(b, i), le64(b, i+8)
		if tag == dtNull {
			break
		}
		gotTag, terr := w.Uint64(at + target.Addr(i))
		got, err := w.Uint64(at + target.Addr(i+8))
		if terr != nil || err != nil || tag == dtDebug {
			continue
		}
		fit.Words, fit.Fixed = fit.Words+1, fit.Fixed+1
		if gotTag == tag && (got == v || got == v+load) {
			fit.Same++
		} else {
			fit.Differ++
		}
	}
	return nil
}

// relativeWords calls f with the RVA and the unrelocated value of each word that a relative
// relocation in DT_RELA or DT_RELR (gABI) sets.
func (im *Image) relativeWords(f func(at RVA, value uint64) error) error {
	rela, err := im.elfRelocations()
	if err != nil {
		return err
	}
	rela = rela[:min(len(rela), relaSize*limits.FitWords)]
	for c := cursor.New(rela, 0); c.Len() >= relaSize; {
		off, info, addend := c.Uint64(), c.Uint64(), c.Uint64()
		if info != rRelative && info != rARM64Rel || off < im.elf.bias {
			continue
		}
		if err := f(RVA(off-im.elf.bias), addend); err != nil {
			return err
		}
	}
	relr, err := im.dynamicTable(dtRelr, dtRelrSz)
	if err != nil {
		return err
	}
	relr = relr[:min(len(relr), 8*limits.FitWords/63)]
	inPlace := func(v uint64) error {
		b, err := im.BytesRVA(RVA(v-im.elf.bias), 8)
		if err != nil {
			return err
		}
		return f(RVA(v-im.elf.bias), le64(b, 0))
	}
	var next uint64
	for c := cursor.New(relr, 0); c.Len() >= 8; {
		entry := c.Uint64()
		if entry&1 == 0 { // an address
			if err := inPlace(entry); err != nil {
				return err
			}
			next = entry + 8
			continue
		}
		for i := uint64(0); i < 63; i++ { // a bitmap of the following words
			if entry>>(i+1)&1 != 0 {
				if err := inPlace(next + 8*i); err != nil {
					return err
				}
			}
		}
		next += 63 * 8
	}
	return nil
}

// fitPE compares the words in writable sections that base relocations change.
func (im *Image) fitPE(fit *Fit, mem target.Memory, m *target.Module) error {
	relocs, err := im.relocations(relocDir64)
	if err != nil {
		return err
	}
	delta := uint64(m.Base) - im.pe.imageBase
	w := target.NewWindow(mem)
	for _, rva := range relocs {
		i, ok := findExtent(im.extents, uint64(rva))
		if !ok || !im.extents[i].writable || fit.Words == limits.FitWords {
			continue
		}
		got, err := w.Uint64(m.Base + target.Addr(rva))
		if err != nil {
			continue
		}
		var b [relocSize]byte
		if _, err := im.ReadRVA(b[:], RVA(rva)); err != nil {
			return err
		}
		fit.Words++
		if got == binary.LittleEndian.Uint64(b[:])+delta {
			fit.Same++
		}
	}
	return nil
}

// FileOffset returns the offset in the image's file of the byte at rva, and whether the file has
// it.
func (im *Image) FileOffset(rva RVA) (uint64, bool) {
	i, ok := findExtent(im.extents, uint64(rva))
	if !ok {
		return 0, false
	}
	return im.extents[i].off + uint64(rva) - im.extents[i].rva, true
}
