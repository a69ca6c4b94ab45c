package heap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// vars are the variables of the GC. It publishes their addresses in the structure GcDacVars (gcinterface.dac.h), or since
// .NET 11 as globals of its contract descriptor (gc/datadescriptor/datadescriptor.inc). Fields have the names of GcDacVars.
type vars struct {
	r              target.Memory
	l              dac.Layout
	at             target.Addr // address of GcDacVars; 0 if the contract describes the GC
	server         bool
	generations    int
	generationSize int
	genOffsets     [3]int32
}

// Entries of GenerationFieldOffsets (gcinterface.dac.h, generation_field_offsets).
const (
	genAllocContext = iota
	genStartSegment
	genAllocationStart
)

// genSizes are the bytes of the members that are read. An allocation context begins with alloc_ptr and alloc_limit.
var genSizes = [...]int32{genAllocContext: 16, genStartSegment: 8, genAllocationStart: 8}

// missingField is the offset of a member that the GC does not have.
const missingField = -1

// gcHeapFields maps names to entries of GCHeapFieldOffsets (dac_gcheap_fields.h, in the order of its DEFINE_*
// lines).
var gcHeapFields = map[string]int{"AllocAllocated": 0, "EphemeralHeapSegment": 1, "FinalizeQueue": 2, "OomInfo": 3, "CompactReasons": 5,
	"GenerationTable": heapGenerationTable}

const (
	heapGenerationTable    = 18
	heapTypeServer         = 2 // GC_HEAP_SVR
	defaultGenerationCount = 4 // for runtimes that do not publish it
)

// contractVariables maps variables to the contract's names. A workstation GC has the variables of its heap with
// the prefix GCHeap.
var contractVariables = map[string]string{"StructuresInvalidCount": "StructureInvalidCount", "NHeaps": "NumHeaps", "GHeaps": "Heaps", "OomInfo": "OomData|OOMData",
	"GlobalMechanisms": "GCGlobalMechanisms"}

// contractNames returns the contract's names of a variable or member, in the order of preference.
func contractNames(field string) []string {
	if name, ok := contractVariables[field]; ok {
		return strings.Split(name, "|")
	}
	return []string{field}
}

// addr returns the address of a variable.
func (v *vars) addr(field string) (target.Addr, error) {
	if v.at != 0 {
		off, err := v.l.Offset("GcDacVars", field)
		if err != nil {
			return 0, err
		}
		return target.Pointer(v.r, v.at+target.Addr(off))
	}
	var first error
	for _, name := range contractNames(field) {
		for _, prefix := range [...]string{"", "GCHeap"} {
			a, err := v.l.Variable(prefix + name)
			if err == nil {
				return a, nil
			}
			if first == nil {
				first = err
			}
		}
	}
	return 0, first
}

// deref reads the variable with its address in a field.
func (v *vars) deref(field string) (target.Addr, error) {
	a, err := v.addr(field)
	if err != nil || a == 0 {
		return 0, err
	}
	return target.Pointer(v.r, a)
}

// readVars reads the variables. It does not change h.
func (h *Heap) readVars() (*vars, error) {
	v := &vars{r: h.mem, l: h.Runtime().Layout(), generations: defaultGenerationCount}
	if kinds, err := v.l.Text("GCIdentifiers"); err == nil {
		return v, v.readContract(kinds)
	} else if layout.IsRefused(err) {
		return v, err
	}
	return v, h.readPublished(v)
}

// readContract reads from the GC's contract what is in GcDacVars without one. kinds are words with commas, some
// of which may be missing between two.
func (v *vars) readContract(kinds string) error {
	v.server = slices.Contains(strings.Split(strings.ReplaceAll(kinds, " ", ""), ","), "server")
	n, err := v.l.Uint("TotalGenerationCount")
	if err != nil {
		return err
	}
	if n == 0 || n > limits.Generations {
		return target.Corruptf("%d generations", n)
	}
	v.generations = int(n)
	var g struct {
		Size    int `layout:"size"`
		Context int `layout:"AllocationContext"`
		Segment int `layout:"StartSegment"`
		Start   int `layout:"AllocationStart,optional"` // if the heap has segments
	}
	if err := v.l.Bind("Generation", &g); err != nil {
		return err
	}
	v.generationSize, v.genOffsets = g.Size, [3]int32{int32(g.Context), int32(g.Segment), int32(g.Start)}
	return v.check()
}

// readPublished reads GcDacVars.
func (h *Heap) readPublished(v *vars) (err error) {
	if v.at, err = h.Runtime().GlobalPointer("GcDacVars"); err != nil {
		return err
	}
	if v.at == 0 {
		return answer.ErrNoHeapYet
	}
	if off, err := v.l.Offset("GcDacVars", "TotalGenerationCount"); err == nil {
		n, err := target.Uint32(h.mem, v.at+target.Addr(off))
		if err != nil {
			return err
		}
		v.generations = int(n)
	}
	size, err := v.addr("GenerationSize")
	if err != nil {
		return err
	}
	if v.generations > limits.Generations || size > limits.GenerationSize {
		return target.Corruptf("%d generations of %#x bytes", v.generations, uint64(size))
	}
	v.generationSize = int(size)
	if at, err := v.l.Variable("HeapType"); err == nil {
		t, err := target.Uint32(h.mem, at)
		if err != nil {
			return err
		}
		v.server = t == heapTypeServer
	}
	return h.readGenerationOffsets(v)
}

func (h *Heap) readGenerationOffsets(v *vars) error {
	if err := v.l.Constant("GenerationFieldOffsets", &v.genOffsets); err != nil {
		return err
	}
	// .NET Core 3.1 does not publish them, and small dumps lack the GC module's read-only data. The table is
	// right in both cases.
	if at, err := v.addr("GenerationFieldOffsets"); err == nil {
		if b, err := target.Bytes(h.Runtime().Memory(), at, 4*len(v.genOffsets)); err == nil {
			for i := range v.genOffsets {
				v.genOffsets[i] = int32(le32(b[4*i:]))
			}
		}
	}
	return v.check()
}

// check compares the places of a generation's members with its size.
func (v *vars) check() error {
	for i, off := range v.genOffsets {
		missing := off == missingField && i == genAllocationStart // regions have no start
		if !missing && (off < 0 || off%8 != 0 || int(off) > v.generationSize-8) {
			return target.Corruptf("generation field at %#x of %#x bytes", off, v.generationSize)
		}
		for j, other := range v.genOffsets[:i] {
			if !missing && off < other+genSizes[j] && other < off+genSizes[i] {
				return target.Corruptf("generation fields at %#x and %#x overlap", other, off)
			}
		}
	}
	if v.generationSize > limits.GenerationSize {
		return target.Corruptf("generations of %#x bytes", v.generationSize)
	}
	return nil
}

// mostInvalidations is far above what GCScan::m_GcStructuresInvalidCnt counts: a collection adds 1 to it.
const mostInvalidations = limits.GCHeaps

// readMode reads whether the GC is a server GC and whether it was running.
func (h *Heap) readMode(v *vars) {
	h.server = v.server
	var err error
	if h.inGC, err = h.collecting(v); errors.Is(err, target.ErrCorrupt) {
		h.warnings = append(h.warnings, err)
	}
	if state, err := v.background(); err == nil && state == backgroundStates[backgroundSweeps] {
		h.inGC = true
	}
	h.datas = v.adaptationMode()
}

// collecting reports whether a collection was changing the heap. A collection excuses what looks like damage, so that an impossible count does
// not show one.
func (h *Heap) collecting(v *vars) (bool, error) {
	at, err := v.addr("StructuresInvalidCount")
	if err == nil && at == 0 {
		err = target.Unsupportedf("the collector does not publish it")
	}
	var n uint32
	if err == nil {
		n, err = target.Uint32(v.r, at)
	}
	switch {
	case err != nil:
	case n > mostInvalidations:
		err = target.Corruptf("the GC counts %d collections in progress", n)
	case n != 0 && !h.suspended():
		err = target.Corruptf("the GC counts %d collections in progress, but the threads are not suspended", n)
	default:
		return n != 0, nil
	}
	return false, err
}

// suspended reports whether a collection may be in progress: the heap changes only between SuspendEE and RestartEE, which note the thread that
// collects (threadsuspend.cpp, g_pSuspensionThread). The threads of a server GC are no managed threads, and nothing is noted for them: but they change
// the heap only after all managed threads have left cooperative mode (SuspendAllThreads), also the one that asked for the collection.
func (h *Heap) suspended() bool {
	if h.server {
		return h.running() <= mostReturning
	}
	thread, err := h.rt.GlobalPointer("GCThread")
	return err != nil || thread != 0
}

// mostReturning is the number of threads that may be in cooperative mode while the others are suspended. A thread that returns from native code enters
// the mode, looks whether it has to wait, and leaves it again, some instructions later: two at once are not met.
const mostReturning = 1

// running counts the threads that can be read and are in cooperative mode, in which they may use objects.
func (h *Heap) running() (n int) {
	list, _ := h.rt.Threads() // those that can be read
	for i := range list {
		if t := &list[i]; t.Cooperative && t.Unknown == nil && t.OSID != 0 {
			n++
		}
	}
	return n
}

// adaptationMode reads the mode of dynamic adaptation, which only a server GC has. In GcDacVars the member was added in
// version 2.4 of the structure (gcinterface.dacvars.def). A GC loaded separately may be older than the runtime.
func (v *vars) adaptationMode() *uint64 {
	const major, minor = 2, 4
	if v.at != 0 {
		if version, err := v.version(); err != nil || version[0] != major || version[1] < minor {
			return nil
		}
	}
	at, err := v.addr("DynamicAdaptationMode")
	if err != nil || at == 0 {
		return nil
	}
	n, err := target.Uint32(v.r, at)
	if err != nil {
		return nil
	}
	mode := uint64(n)
	return &mode
}

// version returns the major and minor version of GcDacVars.
func (v *vars) version() (b [2]byte, err error) {
	for i, field := range [...]string{"Major", "Minor"} {
		off, err := v.l.Offset("GcDacVars", field)
		if err != nil {
			return b, err
		}
		if b[i], err = target.Uint8(v.r, v.at+target.Addr(off)); err != nil {
			return b, err
		}
	}
	return b, nil
}

// A subHeapPlace locates a SubHeap and, for a server GC, its members.
type subHeapPlace struct {
	SubHeap
	v *vars
	// field returns the address of a member of the gc_heap. It is nil for a workstation GC: its members are
	// variables.
	field func(gcHeap target.Addr, name string) (target.Addr, error)
}

// pointer reads a member.
func (s *subHeapPlace) pointer(name string) (target.Addr, error) {
	if s.field == nil {
		return s.v.deref(name)
	}
	a, err := s.field(s.Addr, name)
	if err != nil {
		return 0, err
	}
	return target.Pointer(s.v.r, a)
}

// address returns the address of a member.
func (s *subHeapPlace) address(name string) (target.Addr, error) {
	if s.field == nil {
		return s.v.addr(name)
	}
	return s.field(s.Addr, name)
}

// subHeapPlaces locates the heaps without reading them.
func (h *Heap) subHeapPlaces(v *vars) ([]subHeapPlace, error) {
	heaps := []subHeapPlace{{v: v}}
	if h.server {
		var err error
		if heaps, err = h.serverHeaps(v); err != nil {
			return nil, err
		}
	}
	for i := range heaps {
		s := &heaps[i]
		var err error
		if s.GenerationTableAt, err = s.address("GenerationTable"); err != nil {
			return nil, err
		}
		if at, err := s.address("OomInfo"); err == nil {
			s.OOMHistoryAt = at
		}
	}
	return heaps, nil
}

// serverHeaps locates the heaps of a server GC.
func (h *Heap) serverHeaps(v *vars) ([]subHeapPlace, error) {
	field, err := h.gcHeapFields(v)
	if err != nil {
		return nil, err
	}
	nAt, err := v.addr("NHeaps")
	if err != nil {
		return nil, err
	}
	n, err := target.Uint32(h.mem, nAt)
	if err != nil {
		return nil, err
	}
	if n == 0 || n > limits.GCHeaps {
		return nil, target.Corruptf("%d GC heaps", n)
	}
	table, err := v.deref("GHeaps")
	if err != nil {
		return nil, err
	}
	heaps := make([]subHeapPlace, n)
	for i := range heaps {
		s := &heaps[i]
		s.Index, s.v, s.field = i, v, field
		if s.Addr, err = target.Pointer(h.mem, table+target.Addr(8*i)); err != nil {
			return nil, err
		}
	}
	return heaps, nil
}

// gcHeapFields returns a function that locates the members of a gc_heap: by the numbers that the GC publishes,
// or as members of the type GCHeap. The contract has that type since .NET 11. The table of .NET Core 3.1 has it
// too: its gc_heap begins with the members of dac_gc_heap (gcinterface.dac.h).
func (h *Heap) gcHeapFields(v *vars) (func(target.Addr, string) (target.Addr, error), error) {
	if _, err := v.l.Offset("GcDacVars", "GCHeapFieldOffsets"); v.at == 0 || err != nil {
		return func(gcHeap target.Addr, name string) (a target.Addr, err error) {
			names := []string{name}
			if v.at == 0 {
				names = contractNames(name)
			}
			for _, n := range names {
				var off int
				if off, err = v.l.Offset("GCHeap", n); err == nil {
					return gcHeap + target.Addr(off), nil
				}
			}
			return 0, err
		}, nil
	}
	at, err := v.addr("GCHeapFieldOffsets")
	if err != nil {
		return nil, fmt.Errorf("offsets of gc_heap: %w", err)
	}
	offsets, err := target.Bytes(h.Runtime().Memory(), at, 4*(heapGenerationTable+1))
	if err != nil {
		return nil, fmt.Errorf("offsets of gc_heap: %w", err)
	}
	return func(gcHeap target.Addr, name string) (target.Addr, error) {
		k, ok := gcHeapFields[name]
		if !ok {
			return 0, &layout.Error{Type: "gc_heap", Field: name}
		}
		off := int32(le32(offsets[4*k:]))
		switch {
		case off == missingField:
			return 0, &layout.Error{Type: "gc_heap", Field: name}
		case off < 0, off%4 != 0, off > limits.GCHeapSize:
			return 0, target.Corruptf("gc_heap has its field %s at %#x", name, off)
		}
		return gcHeap + target.Addr(off), nil
	}, nil
}
