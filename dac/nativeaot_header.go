package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// The debug header contains a cookie, major and minor version, flags, padding, and the arrays of members and
// variables. Each array ends with an entry of zeros.
const (
	debugCookie      = 0x48444e44 // "DNDH"
	debugPointer64   = 1          // flags
	debugBigEndian   = 2
	debugEntrySize   = 24
	debugGlobalSize  = 16
	debugGlobalValue = 8  // offset in an entry
	debugVariables   = 24 // offset in the header of the address of the array of variables
)

// debugHeader returns the layout from the debug header, completed by the table for its version.
func (i *Instance) debugHeader() (*layout.Layout, error) {
	rd := layout.Reader{Mem: i.mem, Base: i.aotHeader}
	cookie, major, flags, types, globals := rd.U32(0), rd.U16(4), rd.U32(8), rd.Ptr(16), rd.Ptr(debugVariables)
	switch {
	case rd.Err != nil:
		return nil, fmt.Errorf("debug header: %w", rd.Err)
	case cookie != debugCookie:
		return nil, target.Corruptf("debug header without its cookie")
	case flags&debugPointer64 == 0 || flags&debugBigEndian != 0:
		return nil, target.Unsupportedf("debug header of a process that is not a little-endian 64-bit one")
	case types == 0 || globals == 0:
		return nil, target.Unsupportedf("the debug header is empty: the process had not started its runtime")
	}
	table, err := layout.DebugHeaderTable(major)
	if err != nil {
		return nil, err
	}
	entries, err := i.debugEntries(types)
	if err != nil {
		return nil, err
	}
	names, err := i.debugGlobals(globals)
	if err != nil {
		return nil, err
	}
	part, err := layout.DebugHeaderPart(entries, names, "debug header in the dump")
	if err != nil {
		return nil, err
	}
	b := layout.NewBuilder()
	b.Add(part, layout.Addresses{Pointer: func(n int) (target.Addr, bool) {
		return globals + target.Addr(debugGlobalSize*n+debugGlobalValue), n < len(names)
	}})
	b.Add(table, layout.Addresses{})
	return b.Layout(), nil
}

// findDebugHeader finds a debug header that is not exported in the data of the module: its cookie, flags of a
// 64-bit process, and two arrays in the module. It returns 0 if the runtime has not filled in the header.
func (i *Instance) findDebugHeader() target.Addr {
	return i.findInData(func(at target.Addr, v uint64) bool {
		if uint32(v) != debugCookie {
			return false
		}
		rd := layout.Reader{Mem: i.mem, Base: at}
		flags, types, globals := rd.U64(8), rd.Ptr(16), rd.Ptr(debugVariables)
		return rd.Err == nil && flags == debugPointer64 && i.inData(types) && i.inData(globals)
	})
}

// inData reports whether a can be an array of pointers in the module.
func (i *Instance) inData(a target.Addr) bool { return a%8 == 0 && i.Module.Contains(a) }

// debugEntries reads the members listed in a debug header.
func (i *Instance) debugEntries(at target.Addr) ([]layout.DebugEntry, error) {
	var out []layout.DebugEntry
	for n := 0; ; n++ {
		rd := layout.Reader{Mem: i.mem, Base: at + target.Addr(debugEntrySize*n)}
		typ, field, offset := rd.Ptr(0), rd.Ptr(8), rd.U32(16)
		switch {
		case rd.Err != nil:
			return nil, fmt.Errorf("members of the debug header: %w", rd.Err)
		case typ == 0:
			return out, nil
		case n == limits.DebugEntries:
			return nil, target.Corruptf("the debug header has more than %d members", n)
		}
		e := layout.DebugEntry{Offset: offset}
		var err error
		if e.Type, err = target.CString(i.mem, typ, limits.IdentifierBytes); err == nil {
			e.Field, err = target.CString(i.mem, field, limits.IdentifierBytes)
		}
		if err != nil {
			return nil, fmt.Errorf("members of the debug header: %w", err)
		}
		out = append(out, e)
	}
}

// debugGlobals reads the names of a debug header's variables.
func (i *Instance) debugGlobals(at target.Addr) ([]string, error) {
	var out []string
	for n := 0; ; n++ {
		name, err := target.Pointer(i.mem, at+target.Addr(debugGlobalSize*n))
		switch {
		case err != nil:
			return nil, fmt.Errorf("variables of the debug header: %w", err)
		case name == 0, n > 0 && !i.Module.Contains(name):
			return out, nil // .NET 8 fills the array to its end and omits the zeros
		case n == limits.DebugEntries:
			return nil, target.Corruptf("the debug header has more than %d variables", n)
		}
		s, err := target.CString(i.mem, name, limits.IdentifierBytes)
		if err != nil {
			return nil, fmt.Errorf("variables of the debug header: %w", err)
		}
		out = append(out, s)
	}
}
