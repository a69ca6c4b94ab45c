package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

const (
	dtNull    = 0
	dtHash    = 4
	dtStrTab  = 5
	dtSymTab  = 6
	dtStrSz   = 10
	dtDebug   = 21
	dtTextRel = 22
	dtFlags   = 30
	dtGNUHash = 0x6ffffef5

	dfTextRel = 4

	elfSymSize = 24 // sizeof(Elf64_Sym)
	shnUndef   = 0
	shtSymTab  = 2
	sttFunc    = 2 // lower types are objects and untyped
	sttTLS     = 6

	elfDynamicSize = 1 << 16 // maximum size of PT_DYNAMIC: real ones have under a hundred entries
)

// elfDynamic holds the entries of the dynamic section about symbols.
type elfDynamic struct {
	symtab, strtab RVA
	strsz          uint64
	gnuHash, hash  RVA
	textRel        bool
}

func (im *Image) readDynamic() (*elfDynamic, error) {
	b, err := im.directory(im.elf.dynamic, elfDynamicSize)
	if err != nil {
		return nil, fmt.Errorf("dynamic section: %w", err)
	}
	d := &elfDynamic{}
	for c := cursor.New(b, 0); c.Len() >= 16; {
		tag, v := c.Uint64(), c.Uint64()
		var p *RVA
		switch tag {
		case dtNull:
			return d, nil
		case dtSymTab:
			p = &d.symtab
		case dtStrTab:
			p = &d.strtab
		case dtGNUHash:
			p = &d.gnuHash
		case dtHash:
			p = &d.hash
		case dtStrSz:
			d.strsz = v
		case dtTextRel:
			d.textRel = true
		case dtFlags:
			d.textRel = d.textRel || v&dfTextRel != 0
		}
		if p == nil {
			continue
		}
		if *p, err = im.elfRVA(v); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// elfSym is an Elf64_Sym.
type elfSym struct {
	name  uint32
	info  uint8
	shndx uint16
	value uint64
	size  uint64
}

func decodeSym(b []byte) elfSym {
	return elfSym{
		name:  le32(b, 0),
		info:  b[4],
		shndx: binary.LittleEndian.Uint16(b[6:]),
		value: le64(b, 8),
		size:  le64(b, 16),
	}
}

// isDefined reports whether the symbol is an address of this image.
func (s *elfSym) isDefined() bool { return s.shndx != shnUndef && s.info&15 != sttTLS }

func (im *Image) dynSym(d *elfDynamic, i uint32) (elfSym, error) {
	b, err := im.BytesRVA(d.symtab+RVA(uint64(i)*elfSymSize), elfSymSize)
	if err != nil {
		return elfSym{}, fmt.Errorf(".dynsym entry %d: %w", i, err)
	}
	return decodeSym(b), nil
}

// dynNameIs reports whether the dynamic string at off is name.
func (im *Image) dynNameIs(d *elfDynamic, off uint32, name string) (bool, error) {
	if uint64(off) >= d.strsz || uint64(len(name)) >= d.strsz-uint64(off) {
		return false, nil
	}
	b, err := im.BytesRVA(d.strtab+RVA(off), len(name)+1)
	if err != nil {
		return false, fmt.Errorf(".dynstr: %w", err)
	}
	return b[len(name)] == 0 && string(b[:len(name)]) == name, nil
}

// elfSymbol looks up name in the dynamic symbols and then in .symtab.
func (im *Image) elfSymbol(name string) (RVA, uint64, error) {
	s, err := im.dynamicSymbol(name)
	if err != nil && im.layout == Flat {
		if found, serr := im.staticSymbol(name); serr == nil {
			s, err = found, nil
		}
	}
	if err != nil {
		return 0, 0, err
	}
	if d := s.value - im.elf.bias; s.value < im.elf.bias || d > im.size {
		return 0, 0, target.Corruptf("symbol %s: %#x lies outside the image", name, s.value)
	}
	return RVA(s.value - im.elf.bias), s.size, nil
}

func (im *Image) dynamicSymbol(name string) (elfSym, error) {
	if im.elf.dynamic.Size == 0 {
		return elfSym{}, noSymbol(name)
	}
	d, err := im.elf.dyn()
	if err != nil {
		return elfSym{}, err
	}
	switch {
	case d.symtab == 0 || d.strtab == 0:
		return elfSym{}, noSymbol(name)
	case d.gnuHash != 0:
		return im.gnuLookup(d, name)
	case d.hash != 0:
		return im.sysvLookup(d, name)
	}
	return elfSym{}, target.Unsupportedf("the ELF image has no symbol hash table")
}

// gnuHeader is the head of a DT_GNU_HASH table.
type gnuHeader struct {
	nbuckets, symoffset uint32
	buckets, chains     RVA
}

func (im *Image) gnuHeader(d *elfDynamic) (gnuHeader, error) {
	b, err := im.BytesRVA(d.gnuHash, 16)
	if err != nil {
		return gnuHeader{}, fmt.Errorf("DT_GNU_HASH: %w", err)
	}
	h := gnuHeader{nbuckets: le32(b, 0), symoffset: le32(b, 4)}
	bloom := uint64(le32(b, 8))
	h.buckets = d.gnuHash + 16 + RVA(8*bloom)
	h.chains = h.buckets + RVA(4*uint64(h.nbuckets))
	if h.nbuckets == 0 || h.nbuckets > limits.ExportNames {
		return h, target.Corruptf("DT_GNU_HASH with %d buckets", h.nbuckets)
	}
	return h, nil
}

func gnuHash(name string) uint32 {
	h := uint32(5381)
	for i := range len(name) {
		h = h*33 + uint32(name[i])
	}
	return h
}

func (im *Image) gnuLookup(d *elfDynamic, name string) (elfSym, error) {
	g, err := im.gnuHeader(d)
	if err != nil {
		return elfSym{}, err
	}
	// The Bloom filter would only speed up failing lookups, so it is not used.
	h := gnuHash(name)
	i, err := im.uint32At(g.buckets + RVA(4*uint64(h%g.nbuckets)))
	if err != nil {
		return elfSym{}, fmt.Errorf("DT_GNU_HASH: %w", err)
	}
	for n := 0; i >= g.symoffset && i != 0; n++ {
		if n > limits.ExportNames {
			return elfSym{}, target.Corruptf("DT_GNU_HASH: a chain without end")
		}
		v, err := im.uint32At(g.chains + RVA(4*uint64(i-g.symoffset)))
		if err != nil {
			return elfSym{}, fmt.Errorf("DT_GNU_HASH: %w", err)
		}
		if v|1 == h|1 {
			if s, ok, err := im.matchDynSym(d, i, name); ok || err != nil {
				return s, err
			}
		}
		if v&1 != 0 {
			break
		}
		i++
	}
	return elfSym{}, noSymbol(name)
}

func (im *Image) matchDynSym(d *elfDynamic, i uint32, name string) (elfSym, bool, error) {
	s, err := im.dynSym(d, i)
	if err != nil {
		return s, false, err
	}
	ok, err := im.dynNameIs(d, s.name, name)
	return s, ok && s.isDefined(), err
}

func sysvHash(name string) uint32 {
	var h uint32
	for i := range len(name) {
		h = h<<4 + uint32(name[i])
		g := h & 0xf0000000
		h ^= g >> 24
		h &^= g
	}
	return h
}

func (im *Image) sysvLookup(d *elfDynamic, name string) (elfSym, error) {
	b, err := im.BytesRVA(d.hash, 8)
	if err != nil {
		return elfSym{}, fmt.Errorf("DT_HASH: %w", err)
	}
	nbucket, nchain := le32(b, 0), le32(b, 4)
	if nbucket == 0 || nbucket > limits.ExportNames || nchain > limits.ExportNames {
		return elfSym{}, target.Corruptf("DT_HASH with %d buckets, %d chains", nbucket, nchain)
	}
	buckets := d.hash + 8
	chains := buckets + RVA(4*uint64(nbucket))
	i, err := im.uint32At(buckets + RVA(4*uint64(sysvHash(name)%nbucket)))
	for n := uint32(0); err == nil && i != 0; n++ {
		if n > nchain || i >= nchain {
			return elfSym{}, target.Corruptf("DT_HASH: a chain leaves the table")
		}
		if s, ok, err := im.matchDynSym(d, i, name); ok || err != nil {
			return s, err
		}
		i, err = im.uint32At(chains + RVA(4*uint64(i)))
	}
	if err != nil {
		return elfSym{}, fmt.Errorf("DT_HASH: %w", err)
	}
	return elfSym{}, noSymbol(name)
}

func (im *Image) uint32At(rva RVA) (uint32, error) { return target.Uint32(im.rvas, target.Addr(rva)) }

// dynSymCount returns the number of dynamic symbols. DT_HASH has as many chains; in DT_GNU_HASH the
// end of the longest chain is the end of the table.
func (im *Image) dynSymCount(d *elfDynamic) (uint32, error) {
	if d.gnuHash == 0 {
		if d.hash == 0 {
			return 0, target.Unsupportedf("the ELF image has no symbol hash table")
		}
		return im.uint32At(d.hash + 4)
	}
	g, err := im.gnuHeader(d)
	if err != nil {
		return 0, err
	}
	b, err := im.BytesRVA(g.buckets, 4*int(g.nbuckets))
	if err != nil {
		return 0, fmt.Errorf("DT_GNU_HASH: %w", err)
	}
	var last uint32
	for i := 0; i < len(b); i += 4 {
		last = max(last, le32(b, i))
	}
	if last < g.symoffset {
		return g.symoffset, nil
	}
	for range limits.ExportNames {
		v, err := im.uint32At(g.chains + RVA(4*uint64(last-g.symoffset)))
		if err != nil {
			return 0, fmt.Errorf("DT_GNU_HASH: %w", err)
		}
		if last++; v&1 != 0 {
			return last, nil
		}
	}
	return 0, target.Corruptf("DT_GNU_HASH: a chain without end")
}

// elfExports yields the dynamic symbols that the image defines.
func (im *Image) elfExports() iter.Seq2[Export, error] {
	return func(yield func(Export, error) bool) {
		if im.elf.dynamic.Size == 0 {
			return
		}
		d, err := im.elf.dyn()
		var n uint32
		if err == nil && d.symtab != 0 {
			n, err = im.dynSymCount(d)
		}
		if err == nil && n > limits.ExportNames {
			err = target.Corruptf("%d dynamic symbols", n)
		}
		if err != nil {
			yield(Export{}, err)
			return
		}
		eachExport(n, func(i uint32) (Export, bool, error) { return im.elfExport(d, i) }, yield)
	}
}

func (im *Image) elfExport(d *elfDynamic, i uint32) (Export, bool, error) {
	s, err := im.dynSym(d, i)
	if err != nil || !s.isDefined() || s.value < im.elf.bias {
		return Export{}, false, err
	}
	name, err := target.CString(im.rvas, target.Addr(d.strtab)+target.Addr(s.name), limits.IdentifierBytes)
	if err != nil {
		return Export{}, false, fmt.Errorf(".dynstr: %w", err)
	}
	return Export{Name: name, RVA: RVA(s.value - im.elf.bias), Size: s.size}, true, nil
}

// elfSymtab is .symtab and its strings, which only files have.
type elfSymtab struct{ syms, strs []byte }

func (im *Image) readSymtab() (*elfSymtab, error) {
	b, err := im.raw.bytes(im.elf.shoff, im.elf.shnum*elfShdrSize)
	if err != nil {
		return nil, fmt.Errorf("section headers: %w", err)
	}
	for i := range im.elf.shnum {
		h := b[i*elfShdrSize:]
		if le32(h, 4) != shtSymTab {
			continue
		}
		link := le32(h, 40)
		if int64(link) >= int64(im.elf.shnum) {
			return nil, target.Corruptf(".symtab: strings in section %d of %d", link, im.elf.shnum)
		}
		t := &elfSymtab{}
		if t.syms, err = im.sectionBytes(h); err == nil {
			t.strs, err = im.sectionBytes(b[int(link)*elfShdrSize:])
		}
		return t, err
	}
	return nil, target.Unsupportedf("the file has no .symtab")
}

func (im *Image) sectionBytes(shdr []byte) ([]byte, error) {
	off, n := le64(shdr, 24), le64(shdr, 32)
	if off > im.raw.size || n > im.raw.size-off {
		return nil, target.Corruptf("ELF section of %d bytes at %#x lies outside the file", n, off)
	}
	return im.raw.bytes(off, int(n))
}

// StaticSymbols yields the functions and data in .symtab that the image defines. Only files have
// it, including debug files.
func (im *Image) StaticSymbols() iter.Seq2[Export, error] {
	return func(yield func(Export, error) bool) {
		if im.elf == nil {
			yield(Export{}, target.Unsupportedf("the image is no ELF file"))
			return
		}
		t, err := im.elf.symtab()
		if err != nil {
			yield(Export{}, err)
			return
		}
		for b := t.syms; len(b) >= elfSymSize; b = b[elfSymSize:] {
			s := decodeSym(b)
			name, ok := t.name(s.name)
			if kind := s.info & 15; !ok || name == "" || !s.isDefined() || kind > sttFunc || s.value < im.elf.bias {
				continue
			}
			if !yield(Export{Name: name, RVA: RVA(s.value - im.elf.bias), Size: s.size}, nil) {
				return
			}
		}
	}
}

// name returns the string at an offset. It reports false if there is no string.
func (t *elfSymtab) name(off uint32) (string, bool) {
	if int64(off) >= int64(len(t.strs)) {
		return "", false
	}
	b := t.strs[off:]
	end := bytes.IndexByte(b[:min(len(b), limits.IdentifierBytes)], 0)
	if end < 0 {
		return "", false
	}
	return string(b[:end]), true
}

func (im *Image) staticSymbol(name string) (elfSym, error) {
	t, err := im.elf.symtab()
	if err != nil {
		return elfSym{}, err
	}
	want := append([]byte(name), 0)
	for b := t.syms; len(b) >= elfSymSize; b = b[elfSymSize:] {
		s := decodeSym(b)
		if s.isDefined() && int64(s.name) < int64(len(t.strs)) && bytes.HasPrefix(t.strs[s.name:], want) {
			return s, nil
		}
	}
	return elfSym{}, noSymbol(name)
}
