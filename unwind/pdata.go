package unwind

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// FindRuntimeFunction finds the code at ip in a table of RUNTIME_FUNCTIONs
// (.pdata) of an image at base. Code of x64 that the table does not list is a
// leaf function, by the convention. It reports false where the table can't be
// read.
func FindRuntimeFunction(mem target.Memory, arch target.Arch, base target.Addr, table target.Range, ip target.Addr) (Code, bool) {
	size := 12
	if arch == target.ArchARM64 {
		size = 8
	}
	if ip < base || uint64(ip-base) > 1<<32-1 {
		return Code{}, false
	}
	rva := uint32(ip - base)
	e, ok := lastEntry(mem, table, size, rva)
	if !ok {
		return Code{}, false
	}
	if e == nil {
		return Code{Format: FormatLeaf}, true
	}
	if arch == target.ArchARM64 {
		return codeARM64(mem, base, e, rva)
	}
	begin, end, info := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:]), binary.LittleEndian.Uint32(e[8:])
	if rva >= end {
		return Code{Format: FormatLeaf}, true
	}
	if info&1 != 0 { // another RUNTIME_FUNCTION stands for this one
		e, err := target.Bytes(mem, base+target.Addr(info&^1), 12)
		if err != nil {
			return Code{}, false
		}
		begin, info = binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[8:])&^1
	}
	return Code{Range: target.Range{Start: base + target.Addr(begin), End: base + target.Addr(end)},
		Format: FormatWindows, Base: base, Info: base + target.Addr(info)}, true
}

// lastEntry returns the last entry of a sorted table that begins at or before
// rva, nil if none does. It reports false where the table can't be read.
func lastEntry(mem target.Memory, table target.Range, size int, rva uint32) ([]byte, bool) {
	lo, hi := 0, int(min(table.Size()/uint64(size), 1<<28))
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		e, err := target.Bytes(mem, table.Start+target.Addr(mid*size), size)
		if err != nil {
			return nil, false
		}
		if binary.LittleEndian.Uint32(e) <= rva {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil, true
	}
	e, err := target.Bytes(mem, table.Start+target.Addr((lo-1)*size), size)
	return e, err == nil
}
