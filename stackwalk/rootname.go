package stackwalk

import (
	"strconv"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// VariableOf returns the name of the argument or local in a slot of a managed activation's GC info: "items", "pair.Key"
// for a part and, without a name, "local 2" or "argument 0". It is empty if the slot is not in a variable, such as a
// temporary of the compiler. address is the address of the slot, 0 for a register. An error means that not all
// variables are known.
func VariableOf(f *Frame, slot dac.GCSlot, address target.Addr, r *objects.Reader) (string, error) {
	args, locals, err := Variables(f, r)
	for i := range args {
		if name, ok := args[i].holds(slot, address, "argument "); ok {
			return name, nil
		}
	}
	for i := range locals {
		if name, ok := locals[i].holds(slot, address, "local "); ok {
			return name, nil
		}
	}
	return "", err
}

// holds reports whether the slot is in the variable, and returns the name of that part of the variable.
func (a *Variable) holds(slot dac.GCSlot, address target.Addr, nameless string) (string, bool) {
	if !a.Located || a.frame == nil {
		return "", false
	}
	offset := uint64(0)
	if slot.Base == codeinfo.BaseRegister {
		if a.Location.Kind != codeinfo.LocRegister || a.Location.Reg != slot.Reg {
			return "", false
		}
	} else {
		at, err := a.storage()
		if err != nil || at == 0 || address < at || address-at >= a.extent() {
			return "", false
		}
		offset = uint64(address - at)
	}
	name := a.Name
	if name == "" {
		name = nameless + strconv.Itoa(a.Index)
	}
	if a.elem == metadata.ElementValueType && a.typ != nil {
		if path, _ := a.typ.FieldPath(offset); path != "" {
			name += "." + path
		}
	}
	return name, true
}

// extent returns the number of bytes of the variable in memory. For a struct it is the extent of its fields.
func (a *Variable) extent() target.Addr {
	if a.elem == metadata.ElementValueType && a.typ != nil {
		return target.Addr(max(uint64(a.typ.MT.BaseSize), boxBytes+8) - boxBytes)
	}
	return 8
}

// boxBytes is the number of bytes of a boxed struct besides its fields: object header and MethodTable.
const boxBytes = 16
