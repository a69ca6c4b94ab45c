package minidump

import (
	"math"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// MINIDUMP_FUNCTION_TABLE_STREAM and MINIDUMP_FUNCTION_TABLE_DESCRIPTOR.
const (
	functionTableStreamSize     = 24
	functionTableDescriptorSize = 32
)

// A FunctionTable is a table of unwind data that the process registered for generated code
// (RtlAddFunctionTable and related functions).
type FunctionTable struct {
	Code      target.Range // the code that the table describes
	Base      target.Addr  // the base of the entries' offsets
	Functions int
	Entries   []byte // the raw entries (RUNTIME_FUNCTION), read-only
}

// FunctionTables lists the tables in the dump's order. It is empty if the dump was written without
// them. The caller must not change the slice.
func (f *File) FunctionTables() []FunctionTable { return f.functions.get(f.loadFunctionTables) }

func (f *File) loadFunctionTables(n *notes) []FunctionTable {
	s, ok := f.section(FunctionTableStream, n)
	if !ok {
		return nil
	}
	c := s.cursor()
	head, descriptor, native, entry := uint64(c.Uint32()), uint64(c.Uint32()), uint64(c.Uint32()), uint64(c.Uint32())
	count, pad := uint64(c.Uint32()), uint64(c.Uint32())
	switch {
	case c.Err() != nil:
		n.add(s.errorf(0, c.Err(), "no list header"))
		return nil
	case head < functionTableStreamSize || descriptor < functionTableDescriptorSize:
		n.add(s.errorf(0, nil, "header size %d, descriptor size %d", head, descriptor))
		return nil
	case count > limits.FunctionTables:
		n.add(s.errorf(16, nil, "%d tables: the first %d are read", count, limits.FunctionTables))
		count = limits.FunctionTables
	}
	var out []FunctionTable
	left := uint64(len(s.b))
	at := head + pad
	for i := range count {
		if at > left || descriptor+native > left-at {
			n.add(s.errorf(int(min(at, left)), nil, "%d tables claimed, %d are there", count, i))
			break
		}
		d := s.b[at:]
		entries := uint64(le.Uint32(d[24:]))
		size, padding := entries*entry, uint64(le.Uint32(d[28:]))
		at += descriptor + native
		if entry > math.MaxUint16 || size > left-at {
			n.add(s.errorf(int(at), nil, "table %d has %d entries of %d bytes", i, entries, entry))
			break
		}
		out = append(out, FunctionTable{Code: target.Range{Start: f.addr(le.Uint64(d)), End: f.addr(le.Uint64(d[8:]))},
			Base: f.addr(le.Uint64(d[16:])), Functions: int(entries), Entries: s.b[at:][:size:size]})
		at += size + padding
	}
	return out
}
