package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/macho"
	"github.com/sosgo/sosgo/target"
)

// machoImage holds the fields of a Mach-O image.
type machoImage struct {
	uuid    []byte
	bias    uint64    // virtual address of RVA 0
	symbols Directory // LC_SYMTAB: entries of nlistSize bytes
	names   Directory
	trie    Directory // of exports
	unwind  Directory // the section __unwind_info
	frames  Directory // the section __eh_frame
}

// The structures of symbols (mach-o/nlist.h) and of the export trie (dyld: common/MachOFile.cpp,
// mach-o/loader.h).
const (
	nlistSize     = 16
	nlistKind     = 0x0e // N_TYPE
	nlistDefined  = 0x0e // N_SECT
	nlistExternal = 0x01 // N_EXT
	nlistDebug    = 0xe0 // N_STAB

	trieReexport = 0x08 // EXPORT_SYMBOL_FLAGS_REEXPORT
	trieAbsolute = 0x02 // EXPORT_SYMBOL_FLAGS_KIND_ABSOLUTE

	// trieSteps bounds the nodes on the way to a name, because an edge may be empty.
	trieSteps = 4096
)

func (im *Image) openMachO(l Layout) error {
	head, err := macho.ReadImage(im.raw.bytes)
	if err != nil {
		return err
	}
	if len(head.Segments) > limits.Sections {
		return target.Corruptf("Mach-O image of %d segments", len(head.Segments))
	}
	im.kind, im.arch, im.size = KindMachO, head.Header.Arch(), head.Extent()
	im.macho = &machoImage{uuid: head.UUID, bias: head.Base}
	for i := range head.Segments {
		s := &head.Segments[i]
		if s.Addr < head.Base || s.Size == 0 { // the inaccessible segment
			continue
		}
		rva := RVA(s.Addr - head.Base)
		im.sections = append(im.sections, Section{Name: s.Name, RVA: rva, Size: s.Size, Offset: s.Offset, FileSize: s.FileSize, Prot: s.Prot})
		im.extents = append(im.extents, extent{rva: uint64(rva), off: s.Offset, n: s.FileSize, writable: s.Prot&target.ProtWrite != 0})
	}
	im.extents = sortExtents(im.extents)
	im.macho.unwind, im.macho.frames = textSection(head, "__unwind_info"), textSection(head, "__eh_frame")
	for i := range head.Commands {
		im.addCommand(&head.Commands[i])
	}
	if l == Flat {
		im.setLayout(l)
		return nil
	}
	// The symbols of an image in the shared cache are outside of its own range.
	im.layout = Loaded
	var end uint64
	for _, e := range im.extents {
		end = max(end, e.rva+e.n)
	}
	im.raw.size = min(im.raw.size, max(end, im.size))
	im.rvas = im.raw
	return nil
}

// textSection returns the range of a section in the segment of the code, or zero.
func textSection(head *macho.Image, name string) Directory {
	for i := range head.Segments {
		if head.Segments[i].Name != macho.SegmentText {
			continue
		}
		for _, s := range head.Segments[i].Sections {
			if s.Name == name && s.Addr >= head.Base {
				return Directory{RVA: RVA(s.Addr - head.Base), Size: s.Size}
			}
		}
	}
	return Directory{}
}

// CompactUnwind returns the ranges of a Mach-O image's compact unwind information and of the call
// frame information that it refers to, or zero.
func (im *Image) CompactUnwind() (compact, frames Directory) {
	if im == nil || im.macho == nil {
		return Directory{}, Directory{}
	}
	return im.macho.unwind, im.macho.frames
}

// addCommand records the ranges of symbols in a load command. Their positions are offsets in the
// file, which a segment maps.
func (im *Image) addCommand(c *macho.Command) {
	word := func(i int) uint64 {
		if len(c.Data) < 4*(i+1) {
			return 0
		}
		return uint64(binary.LittleEndian.Uint32(c.Data[4*i:]))
	}
	switch c.Kind {
	case macho.CmdSymtab:
		im.macho.symbols = im.linksRange(word(2), word(3)*nlistSize)
		im.macho.names = im.linksRange(word(4), word(5))
	case macho.CmdDyldInfo, macho.CmdDyldInfoOnly:
		im.macho.trie = im.linksRange(word(10), word(11))
	case macho.CmdExportsTrie:
		im.macho.trie = im.linksRange(word(2), word(3))
	}
}

// linksRange returns the range of n bytes at a file offset in the segment with the symbols, or zero
// if it does not hold all of them. In the shared cache, only this segment is in the file of the
// offset.
func (im *Image) linksRange(off, n uint64) Directory {
	for i := range im.sections {
		s := &im.sections[i]
		if s.Name == macho.SegmentLinks && n > 0 && off >= s.Offset && off-s.Offset <= s.FileSize && n <= s.FileSize-(off-s.Offset) {
			return Directory{RVA: s.RVA + RVA(off-s.Offset), Size: n}
		}
	}
	return Directory{}
}

// machoSymbol finds an exported name. Names in the image have a leading underscore.
func (im *Image) machoSymbol(name string) (RVA, error) {
	rva, err := im.trieSymbol("_" + name)
	if err == nil {
		return rva, nil
	}
	found, terr := im.tableSymbol("_" + name)
	if terr == nil {
		return found, nil
	}
	// If one table is missing, it may have contained the name.
	if errors.Is(err, ErrNoSymbol) || !errors.Is(terr, ErrNoSymbol) && im.macho.trie.Size == 0 {
		return 0, terr
	}
	return 0, err
}

// errNoTable reports an image without symbols.
var errNoTable = fmt.Errorf("no table of symbols: %w", ErrNoSymbol)

// A trieCursor reads the export trie.
type trieCursor struct {
	im  *Image
	at  uint64
	err error
}

func (c *trieCursor) byte() byte {
	t := c.im.macho.trie
	if c.err == nil && c.at >= t.Size {
		c.err = target.Corruptf("trie of exports: offset %#x of %d bytes", c.at, t.Size)
	}
	if c.err != nil {
		return 0
	}
	b, err := c.im.BytesRVA(t.RVA+RVA(c.at), 1)
	if err != nil {
		c.err = fmt.Errorf("trie of exports: %w", err)
		return 0
	}
	c.at++
	return b[0]
}

// number reads a ULEB128.
func (c *trieCursor) number() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
	if c.err == nil {
		c.err = target.Corruptf("trie of exports: a number without end at %#x", c.at)
	}
	return 0
}

// edge reads the characters of an edge. n is their number; ok is false if they are not a prefix of
// name.
func (c *trieCursor) edge(name string) (n int, ok bool) {
	ok = true
	for {
		b := c.byte()
		switch {
		case b == 0:
			return n, ok
		case n >= len(name) || name[n] != b:
			ok = false
		}
		n++
	}
}

// trieSymbol follows the edges that spell name.
func (im *Image) trieSymbol(name string) (RVA, error) {
	if im.macho.trie.Size == 0 {
		return 0, errNoTable
	}
	c := &trieCursor{im: im}
	for range trieSteps {
		size := c.number()
		own := c.at
		if name == "" {
			if size == 0 && c.err == nil {
				return 0, ErrNoSymbol
			}
			flags := c.number()
			v := c.number()
			switch {
			case c.err != nil:
				return 0, c.err
			case flags&(trieReexport|trieAbsolute) != 0:
				return 0, ErrNoSymbol
			case v >= im.raw.size && im.layout == Loaded:
				return 0, target.Corruptf("export at RVA %#x of an image of %d bytes", v, im.size)
			}
			return RVA(v), nil
		}
		if size > im.macho.trie.Size {
			return 0, target.Corruptf("trie of exports: an entry of %d bytes", size)
		}
		c.at = own + size
		next, found := uint64(0), false
		for range c.byte() {
			n, ok := c.edge(name)
			to := c.number()
			if c.err != nil {
				return 0, c.err
			}
			if ok {
				name, next, found = name[n:], to, true
				break
			}
		}
		switch {
		case c.err != nil:
			return 0, c.err
		case !found:
			return 0, ErrNoSymbol
		}
		c.at = next
	}
	return 0, target.Corruptf("trie of exports: a path of more than %d nodes", trieSteps)
}

// machoSym is an nlist_64.
type machoSym struct {
	name  uint32
	kind  byte
	value uint64
}

// isExported reports whether the symbol is an address of this image that other images can use.
func (s *machoSym) isExported() bool {
	return s.kind&nlistExternal != 0 && s.kind&nlistDebug == 0 && s.kind&nlistKind == nlistDefined
}

func (im *Image) machoSymCount() (uint32, error) {
	n := im.macho.symbols.Size / nlistSize
	if n > limits.ExportNames {
		return 0, target.Corruptf("%d symbols", n)
	}
	return uint32(n), nil
}

func (im *Image) machoSym(i uint32) (machoSym, error) {
	b, err := im.BytesRVA(im.macho.symbols.RVA+RVA(uint64(i)*nlistSize), nlistSize)
	if err != nil {
		return machoSym{}, fmt.Errorf("symbol %d: %w", i, err)
	}
	return machoSym{le32(b, 0), b[4], le64(b, 8)}, nil
}

// tableSymbol searches the symbol table, which is not sorted.
func (im *Image) tableSymbol(name string) (RVA, error) {
	count, err := im.machoSymCount()
	if err != nil {
		return 0, err
	}
	if count == 0 || im.macho.names.Size == 0 {
		return 0, errNoTable
	}
	want := append([]byte(name), 0)
	var missing error
	for i := range count {
		s, err := im.machoSym(i)
		if err != nil {
			missing = err
			continue
		}
		if !s.isExported() || uint64(s.name)+uint64(len(want)) > im.macho.names.Size {
			continue
		}
		switch b, err := im.BytesRVA(im.macho.names.RVA+RVA(s.name), len(want)); {
		case err != nil:
			missing = fmt.Errorf("names of symbols: %w", err)
		case bytes.Equal(b, want):
			return im.machoRVA(s.value)
		}
	}
	if missing != nil {
		return 0, missing
	}
	return 0, ErrNoSymbol
}

func (im *Image) machoRVA(v uint64) (RVA, error) {
	if v < im.macho.bias || im.layout == Loaded && v-im.macho.bias >= im.raw.size {
		return 0, target.Corruptf("symbol at %#x: outside the image", v)
	}
	return RVA(v - im.macho.bias), nil
}

// machoExports yields the exported symbols in the table, without underscores.
func (im *Image) machoExports() iter.Seq2[Export, error] {
	return func(yield func(Export, error) bool) {
		count, err := im.machoSymCount()
		if err != nil {
			yield(Export{}, err)
			return
		}
		eachExport(count, im.machoExport, yield)
	}
}

func (im *Image) machoExport(i uint32) (Export, bool, error) {
	s, err := im.machoSym(i)
	if err != nil || !s.isExported() || uint64(s.name) >= im.macho.names.Size {
		return Export{}, false, err
	}
	name, err := target.CString(im.rvas, target.Addr(im.macho.names.RVA)+target.Addr(s.name), int(min(limits.IdentifierBytes, im.macho.names.Size-uint64(s.name))))
	if err != nil {
		return Export{}, false, fmt.Errorf("names of symbols: %w", err)
	}
	rva, err := im.machoRVA(s.value)
	return Export{Name: strings.TrimPrefix(name, "_"), RVA: rva}, err == nil, err
}
