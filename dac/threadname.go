package dac

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/target"
)

// maxThreadName is the number of UTF-16 code units of a thread's name to read.
const maxThreadName = 1024

// ThreadName returns the name that managed code gave to a thread, or "" without a name or managed object.
func (r *Runtime) ThreadName(t *Thread) (string, error) {
	if t == nil {
		return "", errNoThread
	}
	name, err := r.threadName(t)
	if err != nil {
		return "", fmt.Errorf("name of thread %d: %w", t.ManagedID, err)
	}
	return name, nil
}

func (r *Runtime) threadName(t *Thread) (string, error) {
	if t.ExposedHandle == 0 {
		return "", nil
	}
	obj, err := target.Pointer(r.mem, t.ExposedHandle)
	if err != nil || obj == 0 {
		return "", err
	}
	word, err := target.Uint64(r.mem, obj)
	if err != nil {
		return "", err
	}
	mt, err := r.TrustedMethodTable(target.Addr(word &^ r.consts.objectMask))
	if err != nil {
		return "", target.InHeap(err)
	}
	// The field of System.Threading.Thread is _name, or m_Name in old runtimes.
	fd, err := r.instanceField(mt, "_name", "m_Name")
	if err != nil {
		return "", err
	}
	s, err := target.Pointer(r.mem, obj+8+target.Addr(fd.Offset))
	if err != nil || s == 0 {
		return "", err
	}
	return r.StringAt(s, maxThreadName)
}

// instanceField returns the field that mt declares with one of the names.
func (r *Runtime) instanceField(mt *MethodTable, names ...string) (FieldDesc, error) {
	fields, err := r.Fields(mt)
	if err != nil {
		return FieldDesc{}, err
	}
	mod, err := r.ModuleOf(mt)
	if err != nil {
		return FieldDesc{}, err
	}
	md, err := mod.Metadata()
	if err != nil {
		return FieldDesc{}, err
	}
	for i := range fields {
		if fields[i].Static {
			continue
		}
		row, err := md.Field(fields[i].Token.Row())
		if err != nil {
			return FieldDesc{}, err
		}
		name, err := md.String(row.Name)
		if err != nil {
			return FieldDesc{}, err
		}
		if slices.Contains(names, name) {
			return fields[i], nil
		}
	}
	return FieldDesc{}, target.Unsupportedf("the type has no field %s", names[0])
}

// StringAt returns the text of the System.String at a, at most limit UTF-16 code units.
func (r *Runtime) StringAt(a target.Addr, limit int) (string, error) {
	n, err := target.Uint32(r.mem, a+target.Addr(r.off.String.Length))
	if err != nil {
		return "", fmt.Errorf("string %016x: %w", uint64(a), err)
	}
	if n > limits.StringChars {
		return "", target.CorruptHeapf("string %016x has %d characters", uint64(a), n)
	}
	chars := a + target.Addr(r.off.String.FirstChar)
	if end, err := target.Uint16(r.mem, chars+2*target.Addr(n)); err == nil && end != 0 { // every string ends with a zero
		return "", target.CorruptHeapf("string %016x goes on after its %d characters", uint64(a), n)
	}
	b, err := target.Bytes(r.mem, chars, 2*min(int(n), limit))
	if err != nil {
		return "", fmt.Errorf("string %016x: %w", uint64(a), err)
	}
	if uint32(limit) < n {
		return utf16text.String(utf16text.WholeEnd(b)) + "\u2026", nil
	}
	return utf16text.String(b), nil
}
