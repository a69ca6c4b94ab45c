package image

import (
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/target"
)

const (
	dtRela    = 7
	dtRelaSz  = 8
	dtRelrSz  = 35
	dtRelr    = 36
	relaSize  = 24 // sizeof(Elf64_Rela)
	rRelative = 8  // R_X86_64_RELATIVE
	rARM64Rel = 1027
	relaLimit = 1 << 26 // bytes of a relocation table
)

// PointerRVA returns the RVA in the pointer at rva of a file, after the relocations that the loader
// would apply. It is target.ErrCorrupt if no relative relocation is at rva.
func (im *Image) PointerRVA(rva RVA) (RVA, error) {
	b, err := im.BytesRVA(rva, 8)
	if err != nil {
		return 0, err
	}
	v := le64(b, 0)
	if im.pe != nil {
		if v < im.pe.imageBase || v-im.pe.imageBase >= im.size {
			return 0, target.Corruptf("the pointer at RVA %#x lies outside the image", uint64(rva))
		}
		return RVA(v - im.pe.imageBase), nil
	}
	if im.elf == nil {
		return 0, target.Unsupportedf("%s image: its relocations are not read", im.kind)
	}
	rela, err := im.elfRelocations()
	if err != nil {
		return 0, err
	}
	want := uint64(rva) + im.elf.bias
	for c := cursor.New(rela, 0); c.Len() >= relaSize; {
		off, info, addend := c.Uint64(), c.Uint64(), c.Uint64()
		if off == want && (info == rRelative || info == rARM64Rel) {
			return im.elfRVA(addend)
		}
	}
	// DT_RELR stores the addend in place.
	if v != 0 {
		return im.elfRVA(v)
	}
	return 0, target.Corruptf("no relocation fills the pointer at RVA %#x", uint64(rva))
}

// elfRelocations returns the DT_RELA table, or nil.
func (im *Image) elfRelocations() ([]byte, error) { return im.dynamicTable(dtRela, dtRelaSz) }

// dynamicTable returns the table with the given tags for its address and size in the dynamic
// section, or nil.
func (im *Image) dynamicTable(at, bytes uint64) ([]byte, error) {
	b, err := im.directory(im.elf.dynamic, elfDynamicSize)
	if err != nil {
		return nil, err
	}
	var table, size uint64
	for c := cursor.New(b, 0); c.Len() >= 16; {
		switch tag, v := c.Uint64(), c.Uint64(); tag {
		case at:
			table = v
		case bytes:
			size = v
		}
	}
	if table == 0 || size == 0 {
		return nil, nil
	}
	rva, err := im.elfRVA(table)
	if err != nil {
		return nil, err
	}
	return im.directory(Directory{RVA: rva, Size: size}, relaLimit)
}
