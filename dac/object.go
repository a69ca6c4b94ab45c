package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// ObjectMethodTable reads the address of the MethodTable of the object at a, without the GC's mark bits. It
// does not check that a is an object.
func (r *Runtime) ObjectMethodTable(a target.Addr) (target.Addr, error) {
	v, err := target.Uint64(r.mem, a)
	if err != nil {
		return 0, r.ownMemory(err)
	}
	return target.Addr(v &^ r.consts.objectMask), nil
}

// ObjectLength reads the number of components of the string or array at a.
func (r *Runtime) ObjectLength(a target.Addr) (uint32, error) {
	// A string has its length at an array's offset (object.h).
	v, err := target.Uint32(r.mem, a+target.Addr(r.off.Array.NumComponents))
	if err != nil {
		return 0, fmt.Errorf("length: %w", err)
	}
	return v, nil
}

// StringChars returns the address of the characters of the string at a, and their number in UTF-16 code units.
func (r *Runtime) StringChars(a target.Addr) (target.Addr, uint32, error) {
	v, err := target.Uint32(r.mem, a+target.Addr(r.off.String.Length))
	if err != nil {
		return 0, 0, fmt.Errorf("length: %w", err)
	}
	return a + target.Addr(r.off.String.FirstChar), v, nil
}

// StringOfChars returns the address of the string with its characters at chars.
func (r *Runtime) StringOfChars(chars target.Addr) target.Addr {
	return chars - target.Addr(r.off.String.FirstChar)
}

// ObjectHeaderBytes is the number of bytes before an object's fields: the MethodTable pointer.
const ObjectHeaderBytes = 8

// ObjectTypeName returns the name of the type of the object at a, as the runtime writes it. It returns
// target.ErrCorrupt if a is not an object.
func (r *Runtime) ObjectTypeName(a target.Addr) (string, error) {
	mt, err := r.ObjectMethodTable(a)
	if err != nil {
		return "", err
	}
	if _, err := r.TrustedMethodTable(mt); err != nil {
		return "", target.InHeap(err)
	}
	name, err := r.TypeName(mt, NameNative)
	if err != nil {
		return "", fmt.Errorf("type %016x of object %016x: %w", uint64(mt), uint64(a), err)
	}
	return name, nil
}
