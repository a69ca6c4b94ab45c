package image

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// An Export is an exported name.
type Export struct {
	Name    string
	RVA     RVA
	Size    uint64 // 0 for PE and Mach-O images, which don't record it
	Forward string // PE: the export of another module that this one forwards to
}

// ErrNoSymbol reports a name that is not in the image's tables. It wraps target.ErrUnsupported.
var ErrNoSymbol = fmt.Errorf("no such symbol: %w", target.ErrUnsupported)

func noSymbol(name string) error { return fmt.Errorf("%s: %w", name, ErrNoSymbol) }

// Symbol looks up an exported name: in ELF images through DT_GNU_HASH or DT_HASH (and .symtab in
// files), in PE images by a binary search of the export directory, in Mach-O images through the
// export trie or the symbol table. Only ELF has sizes; otherwise size is 0. The error is
// ErrNoSymbol if the name is not in the tables, and target.ErrNotInDump if the tables are missing.
func (im *Image) Symbol(name string) (rva RVA, size uint64, err error) {
	if im == nil {
		return 0, 0, target.Unsupportedf("no image")
	}
	if im.elf != nil {
		return im.elfSymbol(name)
	}
	if im.macho != nil {
		rva, err = im.machoSymbol(name)
		return rva, 0, err
	}
	rva, err = im.peSymbol(name)
	return rva, 0, err
}

// Limits of Exports for hostile files and dumps.
const (
	exportErrors = 4096     // unreadable entries before it ends
	exportBytes  = 64 << 20 // of names
)

// Exports yields the exported names in the table's order. An unreadable entry is an error, and the
// next entry follows. After too many of them, or after an impossible table, the sequence ends.
func (im *Image) Exports() iter.Seq2[Export, error] {
	if im.elf != nil {
		return im.elfExports()
	}
	if im.macho != nil {
		return im.machoExports()
	}
	return im.peExports()
}

// eachExport yields entries 0 to n-1 within the limits. get reports false for an entry that is not
// an export.
func eachExport(n uint32, get func(i uint32) (Export, bool, error), yield func(Export, error) bool) {
	failed, bytes := 0, 0
	for i := range n {
		e, ok, err := get(i)
		if err != nil {
			failed++
		} else if bytes += len(e.Name) + len(e.Forward); bytes > exportBytes {
			yield(Export{}, target.Corruptf("exports: names of more than %d bytes", exportBytes))
			return
		}
		if (ok || err != nil) && !yield(e, err) || failed > exportErrors {
			return
		}
	}
}
