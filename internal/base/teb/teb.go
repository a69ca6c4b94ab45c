// Package teb reads the thread environment block of Windows (winternl.h, NT_TIB and TEB). Its
// layout is part of the system's ABI and the same in all versions of Windows.
package teb

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// Offsets in the block. NT_TIB begins with three pointers: ExceptionList, StackBase and StackLimit.
// The other offsets are for 64-bit processes.
const (
	processEnvironmentBlock = 0x60   // TEB.ProcessEnvironmentBlock
	deallocationStack       = 0x1478 // TEB.DeallocationStack
	reservedForOle          = 0x1758 // TEB.ReservedForOle
	oleFlags                = 0x14   // SOleTlsData.dwFlags: two pointers and the apartment id come first
)

// Bits of SOleTlsData.dwFlags (OLETLSFLAGS) that identify the apartment of a thread.
const (
	OLEApartmentThreaded = 0x80
	OLEMultiThreaded     = 0x100
	OLEInNeutral         = 0x800
)

// Stack returns the stack of the thread with its block at a: from StackLimit to StackBase as
// stored, which may be empty or inverted. A missing block is target.ErrNotInDump.
func Stack(mem target.Memory, a target.Addr, arch target.Arch) (target.Range, error) {
	if a == 0 {
		return target.Range{}, target.ErrNotInDump
	}
	size := arch.PointerSize()
	b, err := target.Bytes(mem, a, 3*size)
	if err != nil {
		return target.Range{}, err
	}
	le := binary.LittleEndian
	if size == 4 {
		return target.Range{Start: target.Addr(le.Uint32(b[8:])), End: target.Addr(le.Uint32(b[4:]))}, nil
	}
	return target.Range{Start: target.Addr(le.Uint64(b[16:])), End: target.Addr(le.Uint64(b[8:]))}, nil
}

// Reserved returns the lowest address reserved for the stack of a thread of a 64-bit process.
// StackLimit is the lowest committed address.
func Reserved(mem target.Memory, a target.Addr, arch target.Arch) (target.Addr, error) {
	if a == 0 || arch.PointerSize() == 4 {
		return 0, target.ErrNotInDump
	}
	return target.Pointer(mem, a+deallocationStack)
}

// PEB returns the address of the process environment block of a 64-bit process.
func PEB(mem target.Memory, a target.Addr) (target.Addr, error) {
	return target.Pointer(mem, a+processEnvironmentBlock)
}

// OLEFlags returns the COM flags of a thread of a 64-bit process, or 0 if the thread did not
// initialize COM.
func OLEFlags(mem target.Memory, a target.Addr) (uint32, error) {
	ole, err := target.Pointer(mem, a+reservedForOle)
	if err != nil || ole == 0 {
		return 0, err
	}
	return target.Uint32(mem, ole+oleFlags)
}
