package unwind

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// PData is the table of RUNTIME_FUNCTIONs of an image (.pdata).
type PData struct {
	mem   target.Memory
	arch  target.Arch
	base  target.Addr
	table target.Range
	b     []byte // the whole table, or nil if parts are missing
}

// maxPData is the maximum size in bytes of a table that is cached.
const maxPData = 64 << 20

// OpenPData opens the table of an image at base.
func OpenPData(mem target.Memory, arch target.Arch, base target.Addr, table target.Range) *PData {
	p := &PData{mem: mem, arch: arch, base: base, table: table}
	if n := table.Size(); n <= maxPData {
		if b, err := target.Bytes(mem, table.Start, int(n)); err == nil {
			p.b = b
		}
	}
	return p
}

// RuntimeFunctionSize returns the size of a RUNTIME_FUNCTION in bytes (winnt.h). On x64 it also has
// the end of the code.
func RuntimeFunctionSize(arch target.Arch) int {
	if arch == target.ArchARM64 {
		return 8
	}
	return 12
}

// Find returns the code at ip. By convention, code of the image that is not in the table is a leaf
// function. It reports false if the table can't be read.
func (p *PData) Find(ip target.Addr) (Code, bool) {
	size := RuntimeFunctionSize(p.arch)
	if ip < p.base || uint64(ip-p.base) > 1<<32-1 {
		return Code{}, false
	}
	rva := uint32(ip - p.base)
	e, err := p.lastEntry(size, rva)
	if err != nil {
		return Code{}, false
	}
	if e == nil {
		return Code{Format: FormatLeaf}, true
	}
	if p.arch == target.ArchARM64 {
		return codeARM64(p.mem, p.base, e, rva)
	}
	begin, end, info := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:]), binary.LittleEndian.Uint32(e[8:])
	if rva >= end {
		return Code{Format: FormatLeaf}, true
	}
	if info&1 != 0 { // refers to another RUNTIME_FUNCTION
		e, err := target.Bytes(p.mem, p.base+target.Addr(info&^1), 12)
		if err != nil {
			return Code{}, false
		}
		begin, info = binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[8:])&^1
	}
	return Code{Range: target.Range{Start: p.base + target.Addr(begin), End: p.base + target.Addr(end)},
		Format: FormatWindows, Base: p.base, Info: p.base + target.Addr(info)}, true
}

// Err returns the error of a table that can't be read at ip, or nil.
func (p *PData) Err(ip target.Addr) error {
	if p.b != nil || ip < p.base || uint64(ip-p.base) > 1<<32-1 {
		return nil
	}
	_, err := p.lastEntry(RuntimeFunctionSize(p.arch), uint32(ip-p.base))
	return err
}

// lastEntry returns the last entry that begins at or before rva, or nil.
func (p *PData) lastEntry(size int, rva uint32) ([]byte, error) {
	lo, hi := 0, int(min(p.table.Size()/uint64(size), 1<<28))
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		e, err := p.entry(mid, size)
		if err != nil {
			return nil, err
		}
		if binary.LittleEndian.Uint32(e) <= rva {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil, nil
	}
	return p.entry(lo-1, size)
}

func (p *PData) entry(i, size int) ([]byte, error) {
	if p.b != nil {
		return p.b[i*size:][:size], nil
	}
	return target.Bytes(p.mem, p.table.Start+target.Addr(i*size), size)
}
