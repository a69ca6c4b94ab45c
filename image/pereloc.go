package image

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/target"
)

const (
	relocAbsolute = 0  // padding
	relocHighLow  = 3  // adds to a doubleword
	relocDir64    = 10 // adds to a quadword
	relocSize     = 8  // bytes that a DIR64 changes
	relocBlock    = 8  // sizeof(IMAGE_BASE_RELOCATION)
	relocsMax     = 64 << 20
)

// relocations returns the RVAs, ascending, in a file's base relocations. All relocations must be of
// the given type.
func (im *Image) relocations(typ uint16) ([]uint32, error) {
	d := im.pe.dirs[dirBaseReloc]
	if d.Size == 0 {
		return nil, nil
	}
	b, err := im.directory(d, relocsMax)
	if err != nil {
		return nil, fmt.Errorf("base relocations: %w", err)
	}
	out := make([]uint32, 0, len(b)/2)
	for len(b) >= relocBlock {
		page, n := le32(b, 0), le32(b, 4)
		if n < relocBlock || uint64(n) > uint64(len(b)) {
			return nil, target.Corruptf("base relocations: a block of %d bytes, %d left", n, len(b))
		}
		for e := b[relocBlock:n]; len(e) >= 2; e = e[2:] {
			v := le16(e, 0)
			switch v >> 12 {
			case relocAbsolute:
			case typ:
				out = append(out, page+uint32(v&0xfff))
			default:
				return nil, target.Unsupportedf("base relocation of type %d", v>>12)
			}
		}
		b = b[n:]
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// relocate applies the base relocations to b, the file's bytes at rva. For a quadword that is only
// partly in b it reads the whole from the file.
func (f *overlayFile) relocate(b []byte, rva uint64) error {
	relocs, err := f.relocs()
	if err != nil {
		return err
	}
	end := rva + uint64(len(b))
	for i := firstReloc(relocs, rva); i < len(relocs) && uint64(relocs[i]) < end; i++ {
		at := uint64(relocs[i])
		var q [relocSize]byte
		if _, err := f.im.ReadRVA(q[:], RVA(at)); err != nil {
			return fmt.Errorf("base relocation at RVA %#x: %w", at, err)
		}
		binary.LittleEndian.PutUint64(q[:], binary.LittleEndian.Uint64(q[:])+f.delta)
		for k, v := range q {
			if p := at + uint64(k); p >= rva && p < end {
				b[p-rva] = v
			}
		}
	}
	return nil
}

// firstReloc returns the index of the first relocation that ends after rva.
func firstReloc(relocs []uint32, rva uint64) int {
	i, _ := slices.BinarySearchFunc(relocs, rva, func(r uint32, v uint64) int {
		if uint64(r)+relocSize <= v {
			return -1
		}
		return 1
	})
	return i
}

// unrelocatedLen returns the number of bytes from rva, at most n, that no relocation changes.
func (f *overlayFile) unrelocatedLen(rva, n uint64) uint64 {
	relocs, err := f.relocs()
	if err != nil {
		return 0
	}
	i := firstReloc(relocs, rva)
	if i == len(relocs) {
		return n
	}
	if at := uint64(relocs[i]); at > rva {
		return min(n, at-rva)
	}
	return 0
}

// guardPointers are offsets in IMAGE_LOAD_CONFIG_DIRECTORY64. The fields are addresses of pointers
// that the loader sets: check and dispatch of control-flow guard and XFG, cast guard, memcpy guard
// (winnt.h).
var guardPointers = [...]int{112, 120, 280, 288, 296, 304, 312}

// r2rImports is READYTORUN_SECTION_IMPORT_SECTIONS (readytorun.h), an array of READYTORUN_IMPORT_SECTION:
// RVA and size of the cells, flags, type, size of a cell, RVAs of signatures and auxiliary data.
const (
	r2rImports    = 101
	r2rImportSize = 20
)

// importCells returns the ranges that the runtime fills while precompiled code runs. It is empty for
// an image without precompiled code.
func (im *Image) importCells() []Directory {
	h, err := im.ReadyToRun()
	if err != nil {
		return nil
	}
	table, _ := h.Section(r2rImports)
	b, err := im.BytesRVA(table.RVA, int(min(table.Size, r2rImportSize*r2rSections)))
	if err != nil {
		return nil
	}
	var out []Directory
	for ; len(b) >= r2rImportSize; b = b[r2rImportSize:] {
		out = append(out, directoryAt(b, 0))
	}
	return out
}

// loaderWrites returns the ranges in read-only parts of an image that a loader writes to when it
// moves the image by delta, and those that the runtime fills.
func (im *Image) loaderWrites(delta uint64) ([]Directory, error) {
	holes := append(im.importCells(), im.pe.dirs[dirIAT])
	if !im.pe.plus {
		return im.loaderWrites32(holes)
	}
	if delta != 0 {
		holes = append(holes, Directory{im.pe.imageBaseAt, relocSize})
	}
	d := im.pe.dirs[dirLoadConfig]
	if d.RVA == 0 {
		return holes, nil
	}
	head, err := im.BytesRVA(d.RVA, 4)
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	// The structure's own size is used: in some images the directory has the size of Windows XP's
	// structure.
	b, err := im.BytesRVA(d.RVA, int(min(le32(head, 0), pageSize)))
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	for _, off := range guardPointers {
		if off+relocSize > len(b) {
			break
		}
		if va := le64(b, off); va >= im.pe.imageBase {
			holes = append(holes, Directory{RVA(va - im.pe.imageBase), relocSize})
		}
	}
	return holes, nil
}

// loaderWrites32 is loaderWrites for a PE32 image. In a 64-bit process it is an image of pure IL:
// the loader rewrites its headers as PE32+, and only an unused entry stub is relocated.
func (im *Image) loaderWrites32(holes []Directory) ([]Directory, error) {
	relocs, err := im.relocations(relocHighLow)
	if err != nil {
		return nil, err
	}
	for _, rva := range relocs {
		holes = append(holes, Directory{RVA(rva), 4})
	}
	return append(holes, Directory{0, uint64(im.pe.sizeOfHeaders)}), nil
}
