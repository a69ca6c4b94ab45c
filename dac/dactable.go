package dac

import (
	"bytes"
	"encoding/binary"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/target"
)

// The runtime keeps a table of where its global variables are, for its own
// data-access library (daccess.h, DacGlobals). Since 8 it is exported and holds
// addresses; 6 and before hold offsets from the module's base, which lie in a
// resource on Windows and in an unexported variable on Linux (layouts: §1.2).

// maxDacSlots is more than any runtime's table has.
const maxDacSlots = 512

// slots returns what reads the runtime's DAC table, of the form that t
// describes; nil if the table is not to be found. A slot that holds no address
// of the runtime's module is none.
func (i *Instance) slots(t *layout.DacTable) func(int) (target.Addr, bool) {
	if t == nil {
		return nil
	}
	if t.Slot == slotRVA {
		return i.rvaSlots(t)
	}
	if i.dacTable == 0 {
		return nil
	}
	n := uint64(maxDacSlots)
	if i.dacSize != 0 {
		n = min(n, i.dacSize/8)
	}
	return func(slot int) (target.Addr, bool) {
		if uint64(slot) >= n {
			return 0, false
		}
		v, err := target.Pointer(i.mem, i.dacTable+target.Addr(8*slot))
		return v, err == nil && i.Module.Contains(v)
	}
}

// slotRVA marks tables of 32-bit offsets from the module's base.
const slotRVA = "rva32"

func (i *Instance) rvaSlots(t *layout.DacTable) func(int) (target.Addr, bool) {
	table := i.rvaTable(t)
	if table == nil {
		return nil
	}
	return func(slot int) (target.Addr, bool) {
		if slot >= len(table)/4 {
			return 0, false
		}
		rva := binary.LittleEndian.Uint32(table[4*slot:])
		return i.Module.Base + target.Addr(rva), rva != 0 && uint64(rva) < i.Module.Size
	}
}

func (i *Instance) rvaTable(t *layout.DacTable) []byte {
	switch {
	case t.Resource != "":
		return i.resourceTable(t.Resource)
	case i.dacTable != 0 && i.dacSize != 0:
		b, err := target.Bytes(i.mem, i.dacTable, int(min(i.dacSize, 4*maxDacSlots)))
		if err == nil {
			return b
		}
	case i.Image.Kind() == image.KindELF:
		return i.searchTable()
	}
	return nil
}

// dacResourceHeader stands before the offsets: the numbers of globals and of
// vtables, and a file version.
const dacResourceHeader = 24

// resourceTable reads the table from a resource of the runtime's image, in the
// dump or in its file.
func (i *Instance) resourceTable(name string) []byte {
	b, err := i.Image.Resource(image.ResourceRCData, name)
	if err != nil {
		file, ferr := i.openFile()
		if ferr != nil {
			return nil
		}
		if b, err = file.Resource(image.ResourceRCData, name); err != nil {
			return nil
		}
	}
	if len(b) < dacResourceHeader {
		return nil
	}
	n := uint64(binary.LittleEndian.Uint32(b)) + uint64(binary.LittleEndian.Uint32(b[4:]))
	return b[dacResourceHeader:][:min(4*n, uint64(len(b)-dacResourceHeader))]
}

// What a table of offsets looks like: nearly all slots are filled, the first
// ones are variables, and the last ones are vtables, which lie before them.
const (
	minTableSlots  = 150
	firstVariables = 64
	maxEmptySlots  = 8
)

// searchTable finds the table of an ELF runtime that does not export it: the
// only run of offsets in its writable memory that begins with so many offsets
// of writable memory. The probes prove what it holds.
func (i *Instance) searchTable() []byte {
	var writable []target.Range
	for _, s := range i.Image.Sections() {
		if s.Prot&target.ProtWrite != 0 {
			writable = append(writable, target.Range{Start: target.Addr(s.RVA), End: target.Addr(uint64(s.RVA) + s.Size)})
		}
	}
	isData := func(rva uint32) bool {
		for _, r := range writable {
			if r.Contains(target.Addr(rva)) {
				return true
			}
		}
		return false
	}
	for _, r := range writable {
		for a := i.Module.Base + r.Start; a < i.Module.Base+r.End; {
			next, ok := target.NextStored(i.mem, a)
			if !ok || next >= i.Module.Base+r.End {
				break
			}
			b, _, err := image.ReadSparse(i.mem, next, int(min(uint64(i.Module.Base+r.End-next), searchChunk)))
			if err != nil {
				a = next + searchOverlap
				continue
			}
			if t := findTable(b, uint32(i.Module.Size), isData); t != nil {
				return t
			}
			a = next + target.Addr(max(len(b)-searchOverlap, searchOverlap))
		}
	}
	return nil
}

const (
	searchChunk   = 4 << 20
	searchOverlap = 4 * maxDacSlots
)

func findTable(b []byte, size uint32, isData func(uint32) bool) []byte {
	for off := 0; off+4*minTableSlots <= len(b); off += 4 {
		n, empty := 0, 0
		for ; n < maxDacSlots && off+4*n+4 <= len(b); n++ {
			rva := binary.LittleEndian.Uint32(b[off+4*n:])
			if rva == 0 && n > 0 && empty < maxEmptySlots {
				empty++
				continue
			}
			if rva == 0 || rva >= size || n < firstVariables && !isData(rva) {
				break
			}
		}
		if n >= minTableSlots {
			return bytes.Clone(b[off : off+4*n])
		}
	}
	return nil
}
