package dac

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// The runtime keeps a table with the addresses of its global variables for its data-access library (daccess.h,
// DacGlobals). Since 8 it is exported and holds addresses. Until 6 it holds offsets from the module's base: in
// a resource on Windows, and in an unexported variable on Linux (layouts: §1.2).

// maxDacSlots exceeds the size of every runtime's table.
const maxDacSlots = 512

// A slotTable is the runtime's DAC table: the address in each slot, 0 for an address outside the runtime's
// module.
type slotTable struct {
	values []target.Addr
	whole  bool // values is the complete table; otherwise the table may continue
}

// readSlots reads the runtime's DAC table in the form of t. It returns nil if the table is not found.
func (i *Instance) readSlots(t *layout.DacTable) *slotTable {
	if t == nil {
		return nil
	}
	if t.Slot == slotRVA {
		return i.rvaSlots(t)
	}
	if i.dacTable == 0 {
		return nil
	}
	out := &slotTable{whole: i.dacSize != 0}
	n := maxDacSlots
	if out.whole {
		n = int(min(maxDacSlots, i.dacSize/8))
	}
	for slot := range n {
		v, err := target.Pointer(i.mem, i.dacTable+target.Addr(8*slot))
		inModule := err == nil && i.Module.Contains(v)
		if !inModule && i.dacSize == 0 {
			// A small dump contains the table and nothing after it.
			out.whole = errors.Is(err, target.ErrNotInDump)
			break
		}
		if !inModule {
			v = 0
		}
		out.values = append(out.values, v)
	}
	return out
}

// slotRVA marks tables of 32-bit offsets from the module's base.
const slotRVA = "rva32"

func (i *Instance) rvaSlots(t *layout.DacTable) *slotTable {
	table, whole := i.rvaTable(t)
	if table == nil {
		return nil
	}
	out := &slotTable{whole: whole, values: make([]target.Addr, len(table)/4)}
	for slot := range out.values {
		if rva := binary.LittleEndian.Uint32(table[4*slot:]); rva != 0 && uint64(rva) < i.Module.Size {
			out.values[slot] = i.Module.Base + target.Addr(rva)
		}
	}
	return out
}

// rvaTable finds the table. whole reports whether the result is all of it.
func (i *Instance) rvaTable(t *layout.DacTable) (table []byte, whole bool) {
	switch {
	case t.Resource != "":
		return i.resourceTable(t.Resource), true
	case i.dacTable != 0 && i.dacSize != 0:
		b, err := target.Bytes(i.mem, i.dacTable, int(min(i.dacSize, 4*maxDacSlots)))
		if err == nil {
			return b, true
		}
	case i.Image.Kind() == image.KindELF:
		return i.searchTable(), false
	}
	return nil, false
}

// dacResourceHeader precedes the offsets: the numbers of globals and of vtables, and a file version.
const dacResourceHeader = 24

// resourceTable reads the table from a resource of the runtime's image, in the dump or in its file.
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

// A table of offsets has few empty slots. It starts with variables and ends with vtables, at lower offsets.
const (
	minTableSlots  = 150
	firstVariables = 64
	maxEmptySlots  = 8
)

// searchTable finds the table of an ELF runtime that does not export it: the only run of offsets in its
// writable memory that starts with enough offsets into writable memory. The probes check the content.
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
			b, _, err := image.ReadSparse(target.Searching(i.mem), next, int(min(uint64(i.Module.Base+r.End-next), searchChunk)))
			if err != nil {
				a = next + searchOverlap
				continue
			}
			if from, n := findTable(b, uint32(i.Module.Size), isData); n > 0 {
				for off := from; off < from+n; off += 4 {
					_, _ = target.Uint32(i.mem, next+target.Addr(off)) // not only searched
				}
				return bytes.Clone(b[from : from+n])
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

// findTable returns the place of the table in b, and its length in bytes, or 0.
func findTable(b []byte, size uint32, isData func(uint32) bool) (from, length int) {
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
		for n > 0 && binary.LittleEndian.Uint32(b[off+4*n-4:]) == 0 {
			n-- // after the table
		}
		if n >= minTableSlots {
			return off, 4 * n
		}
	}
	return 0, 0
}
