package dac

import (
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// vtableChunk is the number of slots in a chunk of a vtable (methodtable.h, VTABLE_SLOTS_PER_CHUNK).
const vtableChunk = 8

// mtf2SingleNonVirtual marks a type, before 9, with a single slot that is not virtual. The slot replaces the
// pointer to the array.
const mtf2SingleNonVirtual = 0x4000

// slotEntry returns the entry point in a method slot of a type, or 0 before the runtime has made it. Virtual
// slots are in the vtable's chunks, others in the array of the canonical type (MethodTable::GetRestoredSlot).
// It does not cover slots in a MethodDesc.
func (r *Runtime) slotEntry(mt *MethodTable, slot int) (target.Addr, error) {
	if err := r.Check(FeatureMethods); err != nil {
		return 0, err
	}
	if slot < int(mt.NumVirtuals) {
		chunk, err := target.Pointer(r.mem, mt.Addr+target.Addr(r.off.MethodTableSize.Size+8*(slot/vtableChunk)))
		if err != nil {
			return 0, err
		}
		return target.Pointer(r.mem, chunk+target.Addr(8*(slot%vtableChunk)))
	}
	canon, err := r.TrustedMethodTable(mt.Canonical)
	if err != nil {
		return 0, err
	}
	return r.nonVirtualEntry(canon, slot)
}

func (r *Runtime) nonVirtualEntry(canon *MethodTable, slot int) (target.Addr, error) {
	n := slot - int(canon.NumVirtuals)
	if n < 0 {
		return 0, target.Corruptf("slot %d of type %016x", slot, uint64(canon.Addr))
	}
	if o := r.off.Auxiliary.NonVirtual; o != layout.Absent {
		off, err := target.Uint16(r.mem, canon.Auxiliary+target.Addr(o))
		if err != nil {
			return 0, err
		}
		return target.Pointer(r.mem, canon.Auxiliary+target.Addr(int64(int16(off)))-target.Addr(8*(1+n)))
	}
	if canon.Flags2&mtf2NonVirtual == 0 {
		return 0, target.Corruptf("type %016x has no slot %d", uint64(canon.Addr), slot)
	}
	at := r.multipurposeSlot(canon, mtf2NonVirtual)
	v, err := target.Pointer(r.mem, at)
	if err != nil || canon.Flags2&mtf2SingleNonVirtual != 0 {
		return v, err
	}
	return target.Pointer(r.mem, v+target.Addr(8*n))
}
