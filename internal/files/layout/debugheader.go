package layout

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// A DebugEntry is a member of a structure in the debug header of a NativeAOT process (DebugHeader.cpp of
// src/coreclr/nativeaot/Runtime, DebugTypeEntry).
type DebugEntry struct {
	Type, Field string
	Offset      uint32
}

// Names that replace those in a debug header.
var (
	debugTypes = map[string]string{"dac_heap_segment": "HeapSegment", "gc_alloc_context": "GCAllocContext"}
	debugNames = map[string]string{
		"major_version_number": "Major", "minor_version_number": "Minor", "alloc_ptr": "Pointer", "alloc_limit": "Limit",
		"g_gcDacGlobals": "GcDacVars", "g_pFreeObjectEEType": "FreeObjectMethodTable", "g_pTheRuntimeInstance": "RuntimeInstance",
	}
)

// The field with a structure's size, and the type with numbers as its fields.
const (
	debugSize    = "SIZEOF"
	debugNumbers = "Globals"
)

// DebugHeaderPart returns the part for the entries of a debug header. The header has the values of variables in
// the order of globals, and Addresses.Pointer returns the address of a value. A member beyond the size of any
// structure is target.ErrCorrupt.
func DebugHeaderPart(entries []DebugEntry, globals []string, source string) (*Part, error) {
	p := &Part{Source: source, types: map[string]partType{}, globals: map[string]partGlobal{}, constants: map[string]json.RawMessage{}}
	for _, e := range entries {
		if e.Type == debugNumbers {
			p.constants[e.Field] = json.RawMessage(strconv.FormatUint(uint64(e.Offset), 10))
			continue
		}
		if e.Offset > maxOffset {
			return nil, target.Corruptf("debug header: %s.%s is at %d", e.Type, e.Field, e.Offset)
		}
		name := e.Type
		if known := debugTypes[name]; known != "" {
			name = known
		}
		t, ok := p.types[name]
		if !ok {
			t = partType{size: -1, fields: map[string]Field{}}
		}
		if e.Field == debugSize {
			t.size = int(e.Offset)
		} else {
			t.fields[debugName(e.Field)] = Field{Offset: int(e.Offset)}
		}
		p.types[name] = t
	}
	for i, name := range globals {
		p.globals[debugName(name)] = partGlobal{index: i, slot: -1}
	}
	return p, nil
}

// debugName returns a name in the style of descriptors and tables: HeapSegment for heap_segment. Members of C++
// classes keep their names, m_pNext.
func debugName(s string) string {
	if known := debugNames[s]; known != "" {
		return known
	}
	if strings.HasPrefix(s, "m_") || strings.HasPrefix(s, "g_") {
		return s
	}
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// DebugHeaderTable returns the table that completes debug headers of a major version.
func DebugHeaderTable(major uint16) (*Part, error) {
	name := fmt.Sprintf("nativeaot%d", major)
	raw, err := tableNamed(name)
	if err != nil {
		return nil, &Error{Type: "debug header of version " + strconv.Itoa(int(major))}
	}
	return parseTable(raw, "table "+name, tableNamed)
}
