package image

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// exportScan bounds the search for an export directory in bytes; coreclr.dll has 5 MB.
const exportScan = 32 << 20

// exportFunctionsAt is the offset of AddressOfFunctions in an IMAGE_EXPORT_DIRECTORY.
const exportFunctionsAt = 28

// exportDir is an IMAGE_EXPORT_DIRECTORY.
type exportDir struct {
	self                       Directory
	name                       RVA
	nFuncs, nNames             uint32
	functions, names, ordinals RVA
}

func decodeExportDir(b []byte, self Directory) exportDir {
	return exportDir{
		self:      self,
		name:      RVA(le32(b, 12)),
		nFuncs:    le32(b, 20),
		nNames:    le32(b, 24),
		functions: RVA(le32(b, exportFunctionsAt)),
		names:     RVA(le32(b, 32)),
		ordinals:  RVA(le32(b, 36)),
	}
}

func (im *Image) exportDir() (exportDir, error) {
	find := func() (Directory, error) { return im.peDirectory(dirExport, "export directory") }
	if im.pe != nil && !im.pe.hasHeaders {
		find = im.pe.scan
	}
	d, err := find()
	if err != nil {
		return exportDir{}, err
	}
	b, err := im.BytesRVA(d.RVA, exportDirSize)
	if err != nil {
		return exportDir{}, fmt.Errorf("export directory: %w", err)
	}
	e := decodeExportDir(b, d)
	if e.nNames > limits.ExportNames || e.nFuncs > limits.ExportNames {
		return e, target.Corruptf("export directory with %d names, %d functions", e.nNames, e.nFuncs)
	}
	return e, nil
}

func (im *Image) peSymbol(name string) (RVA, error) {
	e, err := im.exportDir()
	if err != nil {
		return 0, err
	}
	lo, hi := uint32(0), e.nNames
	for lo < hi {
		mid := (lo + hi) / 2
		got, err := im.exportName(&e, mid)
		if err != nil {
			return 0, err
		}
		switch c := strings.Compare(got, name); {
		case c == 0:
			return im.exportRVA(&e, mid)
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, noSymbol(name)
}

func (im *Image) exportName(e *exportDir, i uint32) (string, error) {
	rva, err := im.uint32At(e.names + RVA(4*uint64(i)))
	if err != nil {
		return "", fmt.Errorf("export name %d: %w", i, err)
	}
	s, err := target.CString(im.rvas, target.Addr(rva), limits.IdentifierBytes)
	if err != nil {
		return "", fmt.Errorf("export name %d: %w", i, err)
	}
	return s, nil
}

// exportAddress returns the entry of the address table for name i.
func (im *Image) exportAddress(e *exportDir, i uint32) (RVA, error) {
	ord, err := target.Uint16(im.rvas, target.Addr(e.ordinals)+target.Addr(2*uint64(i)))
	if err != nil {
		return 0, fmt.Errorf("export ordinal %d: %w", i, err)
	}
	if uint32(ord) >= e.nFuncs {
		return 0, target.Corruptf("export %d: ordinal %d of %d", i, ord, e.nFuncs)
	}
	rva, err := im.uint32At(e.functions + RVA(4*uint64(ord)))
	if err != nil {
		return 0, fmt.Errorf("export address %d: %w", ord, err)
	}
	return RVA(rva), nil
}

// forwards reports whether an exported RVA is a forwarder, that is, the name of another module's
// export inside of the export directory.
func (e *exportDir) forwards(rva RVA) bool {
	return rva >= e.self.RVA && uint64(rva-e.self.RVA) < e.self.Size
}

func (im *Image) exportRVA(e *exportDir, i uint32) (RVA, error) {
	rva, err := im.exportAddress(e, i)
	if err == nil && e.forwards(rva) {
		return 0, target.Unsupportedf("the export is forwarded to another module")
	}
	if err == nil && uint64(rva) >= im.size {
		return 0, target.Corruptf("export at RVA %#x lies outside the image", uint64(rva))
	}
	return rva, err
}

// peExports yields the named exports in the table's order, which the linker sorted by name.
func (im *Image) peExports() iter.Seq2[Export, error] {
	return func(yield func(Export, error) bool) {
		e, err := im.exportDir()
		if err != nil {
			// An image without exports yields none; a directory that can't be read is an error.
			if !errors.Is(err, target.ErrUnsupported) {
				yield(Export{}, err)
			}
			return
		}
		eachExport(e.nNames, func(i uint32) (Export, bool, error) {
			x, err := im.peExport(&e, i)
			return x, true, err
		}, yield)
	}
}

func (im *Image) peExport(e *exportDir, i uint32) (Export, error) {
	name, err := im.exportName(e, i)
	if err != nil {
		return Export{}, err
	}
	rva, err := im.exportAddress(e, i)
	if err != nil || !e.forwards(rva) {
		return Export{Name: name, RVA: rva}, err
	}
	fwd, err := target.CString(im.rvas, target.Addr(rva), limits.IdentifierBytes)
	return Export{Name: name, Forward: fwd}, err
}

// openHeadless returns a PE image without headers. It has the identity in the module list, and its
// exports if the dump has the export directory. Windows minidumps with heap hold the export
// directory of the runtime's library, because the data-access library reads it while the dump is
// written.
func openHeadless(mem target.Memory, m *target.Module) *Image {
	im := &Image{
		kind: KindPE, path: m.Path, base: m.Base,
		size: max(m.Size, uint64(m.SizeOfImage)),
		raw:  area{mem, m.Base, ^uint64(m.Base)},
		pe:   &peImage{timeDateStamp: m.TimeDateStamp, sizeOfImage: m.SizeOfImage},
	}
	im.setLayout(Loaded)
	im.pe.scan = sync.OnceValues(im.scanExportDir)
	return im
}

// scanExportDir searches the stored bytes of an image for its export directory. Minidumps hold the
// directory as a separate range, anywhere in a page. The test is strict: the counts and tables must
// fit, and the directory's name must be the module's file name. It may have to search all stored
// bytes of all libraries, so it searches lent memory word by word in place.
func (im *Image) scanExportDir() (Directory, error) {
	file := target.BaseName(im.path)
	var joined [exportDirSize]byte // for ranges that are adjacent in memory but not in the file
	for off, end := uint64(0), min(im.raw.size, exportScan); off+exportDirSize <= end; {
		b := im.raw.Span(target.Addr(off))
		if len(b) < exportDirSize {
			b = joined[:]
			if n, err := im.raw.ReadMemory(b, target.Addr(off)); n < len(b) || err != nil {
				next, ok := im.raw.NextStored(target.Addr(off + 4))
				if !ok {
					break
				}
				off = (uint64(next) + 3) &^ 3
				continue
			}
		}
		b = b[:min(uint64(len(b)), end-off)]
		for ; len(b) >= exportDirSize; b, off = b[4:], off+4 {
			if uint64(le32(b, exportFunctionsAt)) != off+exportDirSize {
				continue // almost always, and cheap
			}
			d := Directory{RVA: RVA(off)}
			if e := decodeExportDir(b, d); e.isPlausible(im.size) && im.exportDirNamed(&e, file) {
				d.Size = im.exportDirEnd(&e)
				return d, nil
			}
		}
	}
	return Directory{}, fmt.Errorf("headers and export directory: %w", target.ErrNotInDump)
}

// isPlausible reports whether e can be the export directory of an image of size bytes: linkers
// place its tables after it in a fixed order.
func (e *exportDir) isPlausible(size uint64) bool {
	return e.functions == e.self.RVA+exportDirSize &&
		e.nFuncs > 0 && e.nFuncs <= limits.ExportNames && e.nNames <= e.nFuncs &&
		e.names == e.functions+RVA(4*uint64(e.nFuncs)) &&
		e.ordinals == e.names+RVA(4*uint64(e.nNames)) &&
		e.name >= e.ordinals && uint64(e.name) < size
}

func (im *Image) exportDirNamed(e *exportDir, file string) bool {
	b, err := im.BytesRVA(e.name, len(file)+1)
	return err == nil && b[len(file)] == 0 && bytes.EqualFold(b[:len(file)], []byte(file))
}

// exportDirEnd returns the size of a directory that was found without headers: up to the end of its
// last name, or of its tables if that name is missing.
func (im *Image) exportDirEnd(e *exportDir) uint64 {
	end := e.name
	if e.nNames > 0 {
		if rva, err := im.uint32At(e.names + RVA(4*uint64(e.nNames-1))); err == nil {
			if s, err := target.CString(im.rvas, target.Addr(rva), limits.IdentifierBytes); err == nil {
				end = max(end, RVA(rva)+RVA(len(s))+1)
			}
		}
	}
	return uint64(end - e.self.RVA)
}
