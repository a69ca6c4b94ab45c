package image

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// An Export is a name that an image offers to others.
type Export struct {
	Name    string
	RVA     RVA
	Size    uint64 // 0 for PE and Mach-O images, which don't record it
	Forward string // PE: the export of another module that it stands for
}

// ErrNoSymbol reports a name that the image's tables, which are readable, do not have. It is target.ErrUnsupported too.
var ErrNoSymbol = fmt.Errorf("no such symbol: %w", target.ErrUnsupported)

func noSymbol(name string) error { return fmt.Errorf("%s: %w", name, ErrNoSymbol) }

// Symbol finds an exported name: through DT_GNU_HASH or DT_HASH in ELF images (and .symtab in ELF files), by a binary
// search of the export directory in PE images, through the trie of exports or the table of symbols in Mach-O images. The size is 0 but for ELF. The error is ErrNoSymbol if the tables do not have
// the name, target.ErrNotInDump if the tables are not in the dump.
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

// Bounds of Exports on what a file or dump can make it do.
const (
	exportErrors = 4096     // entries that can't be read before it gives up
	exportBytes  = 64 << 20 // of names
)

// Exports yields the exported names in the table's order. An entry that can't be read is an error and not the end, but
// after many of them, and after an impossible table, the rest is left out.
func (im *Image) Exports() iter.Seq2[Export, error] {
	if im.elf != nil {
		return im.elfExports()
	}
	if im.macho != nil {
		return im.machoExports()
	}
	return im.peExports()
}

// eachExport yields entries 0 to n-1 within the bounds. get reports false for an entry that is no export.
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
