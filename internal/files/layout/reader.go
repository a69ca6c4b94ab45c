package layout

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// A Reader reads the members of the structure at Base, at offsets set by Bind. Err is the first failure. Later
// reads return zero, so that callers read all members and check Err once. A member that the layout lacks
// (Absent) is an *Error.
type Reader struct {
	Mem  target.Memory
	Base target.Addr
	Err  error
}

func (d *Reader) bytes(off, n int) []byte {
	if d.Err == nil && off == Absent {
		d.Err = &Error{Type: "a member of the structure"}
	}
	if d.Err != nil {
		return nil
	}
	var b []byte
	b, d.Err = target.Bytes(d.Mem, d.Base+target.Addr(off), n)
	return b
}

// U8 reads a member of one byte.
func (d *Reader) U8(off int) uint8 {
	if b := d.bytes(off, 1); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads a member of two bytes.
func (d *Reader) U16(off int) uint16 {
	if b := d.bytes(off, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 reads a member of four bytes.
func (d *Reader) U32(off int) uint32 {
	if b := d.bytes(off, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// U64 reads a member of eight bytes. If only half of it is in the dump, the error names the missing half.
func (d *Reader) U64(off int) uint64 {
	low := d.U32(off)
	return uint64(low) | uint64(d.U32(off+4))<<32
}

// Ptr reads a member that is a pointer.
func (d *Reader) Ptr(off int) target.Addr { return target.Addr(d.U64(off)) }

// Pointer reads the pointer at offset off of the structure at a. member is its name for the error if the layout
// lacks it.
func Pointer(mem target.Memory, a target.Addr, off int, member string) (target.Addr, error) {
	if off == Absent {
		return 0, &Error{Type: member}
	}
	return target.Pointer(mem, a+target.Addr(off))
}

// Uint32 reads the number of four bytes at offset off of the structure at a. member is its name for the error
// if the layout lacks it.
func Uint32(mem target.Memory, a target.Addr, off int, member string) (uint32, error) {
	if off == Absent {
		return 0, &Error{Type: member}
	}
	return target.Uint32(mem, a+target.Addr(off))
}

// BytesMemory is a slice as memory from address 0 on, for reading structures from it.
type BytesMemory []byte

// ReadMemory implements target.Memory.
func (m BytesMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := 0
	if a <= target.Addr(len(m)) {
		n = copy(p, m[a:])
	}
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrCorrupt}
	}
	return n, nil
}

// View implements target.Memory.
func (m BytesMemory) View(a target.Addr, n int) ([]byte, bool) {
	if uint64(a) > uint64(len(m)) || n > len(m)-int(a) {
		return nil, false
	}
	return m[a:][:n:n], true
}

// Span implements target.Memory.
func (m BytesMemory) Span(a target.Addr) []byte {
	if uint64(a) >= uint64(len(m)) {
		return nil
	}
	return m[a:]
}
