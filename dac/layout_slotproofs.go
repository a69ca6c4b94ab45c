package dac

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A slotProver searches the process for proofs of entries of the DAC table. Its runtime has the structures of
// the layout, but only the globals of the runtime's own descriptor.
type slotProver struct {
	r      *Runtime
	at     slotProofOffsets
	places *slotPlaces

	jit, readyToRun target.Addr // the managers found in sections of code
	threads         map[target.Addr]bool
	runtime         target.Range // the runtime's module
}

// slotProofOffsets holds the offsets of members that only the proofs need.
type slotProofOffsets struct {
	RangeMap layout.RangeSectionMap      `struct:"RangeSectionMap,optional"`
	Fragment layout.RangeSectionFragment `struct:"RangeSectionFragment,optional"`
	Section  layout.RangeSection         `struct:"RangeSection,optional"`
	CodeHeap layout.CodeHeapListNode     `struct:"CodeHeapListNode,optional"`
}

// proveSlots finds the places in table of the entries that p names. It returns nil if table is nil.
func (i *Instance) proveSlots(table *slotTable, p *layout.Part, known *layout.Layout) (*slotPlaces, error) {
	if table == nil {
		return nil, nil
	}
	r := &Runtime{inst: i, tgt: i.tgt, mem: i.mem, layout: *known, files: i.files}
	r.impl = clr{r}
	if err := r.off.bind(known); err != nil {
		return nil, err
	}
	if err := r.readConstants(); err != nil {
		return nil, err
	}
	v := &slotProver{r: r, places: newSlotPlaces(table, p), threads: map[target.Addr]bool{},
		runtime: target.RangeAt(i.Module.Base, i.Module.Size)}
	if err := known.BindAll(&v.at); err != nil {
		return nil, err
	}
	v.proveVariables()
	v.places.settle()
	v.proveVTables()
	v.places.settle()
	v.hintFrames()
	v.places.settle()
	return v.places, nil
}

// slotProofs lists the variables with a proof. A proof follows those that it needs: managers of code need the
// ranges, and threads need their list.
var slotProofs = []struct {
	name  string
	notes bool // other proofs need its finding
	holds func(v *slotProver, at target.Addr) bool
}{
	{"CodeRangeMap", true, (*slotProver).codeRangeMap},
	{"ExecutionManagerCodeRangeMapAddress", true, (*slotProver).codeRangeMap},
	{"CodeRangeList", true, (*slotProver).codeRangeList},
	{"EEJitManager", false, func(v *slotProver, at target.Addr) bool { return v.jit != 0 && v.pointer(at) == v.jit }},
	{"ReadyToRunJitManager", false, func(v *slotProver, at target.Addr) bool { return v.readyToRun != 0 && v.pointer(at) == v.readyToRun }},
	{"ThreadStore", true, (*slotProver).threadStore},
	{"FinalizerThread", false, func(v *slotProver, at target.Addr) bool { return v.threads[v.pointer(at)] }},
	{"GcDacVars", false, (*slotProver).gcVars},
	{"AppDomain", false, (*slotProver).appDomain},
	{"SystemDomain", false, (*slotProver).systemDomain},
	{"GlobalAllocContext", false, (*slotProver).globalContext},
	{"ObjectMethodTable", false, func(v *slotProver, at target.Addr) bool { return v.isObject(v.pointer(at)) }},
	{"StringMethodTable", false, (*slotProver).stringType},
	{"ExceptionMethodTable", false, (*slotProver).exceptionType},
	{"FreeObjectMethodTable", false, (*slotProver).freeType},
	{"FCallMethods", false, (*slotProver).fcalls},
	{"SyncTableEntries", false, (*slotProver).syncTable},
	{"SyncBlockCache", false, (*slotProver).syncCache},
}

// proveVariables finds the variables by their address in the runtime's descriptor, or else by their content. It
// reads a variable with an address only if another proof needs it.
func (v *slotProver) proveVariables() {
	index, recorded := map[string]int{}, map[string]target.Addr{}
	for _, slot := range v.places.slots {
		if slot.VTable {
			continue
		}
		index[slot.Name] = slot.Index
		if a, err := v.r.layout.Variable(slot.Name); err == nil {
			recorded[slot.Name] = a
			v.places.look(slot.Index, weightProof, func(at target.Addr) bool { return at == a })
		}
	}
	for _, proof := range slotProofs {
		n, named := index[proof.name]
		a, known := recorded[proof.name]
		switch {
		case known && proof.notes:
			proof.holds(v, a)
		case named && !known:
			v.places.look(n, weightProof, func(at target.Addr) bool { return proof.holds(v, at) })
		}
	}
}

// pointer reads a pointer. It returns 0 if the pointer is not in the dump.
func (v *slotProver) pointer(a target.Addr) target.Addr {
	p, err := target.Pointer(v.r.mem, a)
	if err != nil || a == 0 {
		return 0
	}
	return p
}

func (v *slotProver) threadStore(at target.Addr) bool {
	store := v.pointer(at)
	if store == 0 {
		return false
	}
	count, err := target.Uint32(v.r.mem, store+target.Addr(v.r.off.ThreadStore.Count))
	if err != nil || count > limits.ManagedThreads {
		return false
	}
	os := v.r.inst.osThreads()
	found := map[target.Addr]bool{}
	known := false
	link := v.pointer(store + target.Addr(v.r.off.ThreadStore.First))
	for n := uint32(0); link != 0 && link%8 == 0 && n < count; n, link = n+1, v.pointer(link) {
		t := link - target.Addr(v.r.off.Thread.Link)
		o := &v.r.off.Thread
		rd := layout.Reader{Mem: v.r.mem, Base: t}
		id, _ := v.r.inst.idInDump(rd.U32(o.OSID), target.Range{Start: rd.Ptr(o.StackLimit), End: rd.Ptr(o.StackBase)})
		found[t] = true
		known = known || rd.Err == nil && os[id]
	}
	if known {
		maps.Copy(v.threads, found)
	}
	return known
}

// gcVars accepts plausible numbers of a GC followed by addresses of its variables.
func (v *slotProver) gcVars(at target.Addr) bool {
	vars := v.pointer(at)
	if vars == 0 {
		return false
	}
	if _, err := v.r.checkGCVars(vars); err != nil {
		return false
	}
	off, err := v.r.layout.Offset("GcDacVars", "GenerationTable")
	if err != nil {
		return false
	}
	mods := v.r.Target().Modules()
	for _, p := range []target.Addr{vars, v.pointer(vars + target.Addr(off))} {
		if target.ModuleAt(mods, p) == nil {
			return v.pointer(vars+target.Addr(off)) == 0 && p == 0 // with server GC, the table outside of the heaps is empty
		}
	}
	return true
}

// globalContext accepts pointers between the lowest and the highest address of the GC's memory, which are the
// two entries before it. An empty context, as in runtimes with contexts per thread, proves nothing: the entries
// around it decide.
func (v *slotProver) globalContext(at target.Addr) bool {
	const page = 1 << 12
	place := slices.Index(v.places.table.values, at)
	if place < 2 {
		return false
	}
	heap := target.Range{Start: v.pointer(v.places.table.values[place-2]), End: v.pointer(v.places.table.values[place-1])}
	if heap.Start == 0 || heap.Start >= heap.End || heap.Start%page != 0 || heap.End%page != 0 {
		return false
	}
	c, err := v.r.allocContextAt(at + target.Addr(max(v.r.off.EEAlloc.GC, 0)))
	return err == nil && heap.Contains(c.Pointer) && c.Pointer <= c.Limit && c.Limit < heap.End
}

func (v *slotProver) appDomain(at target.Addr) bool {
	domain := v.pointer(at)
	if domain == 0 || v.polymorphic("AppDomain") && !v.hasVTable(domain) {
		return false
	}
	mods, err := v.r.modulesOf(domain, func(error) {})
	return len(mods) > 0 && (err == nil || errors.Is(err, target.ErrNotInDump))
}

func (v *slotProver) systemDomain(at target.Addr) bool {
	domain := v.pointer(at)
	if domain == 0 || v.polymorphic("SystemDomain") && !v.hasVTable(domain) {
		return false
	}
	assembly := v.pointer(domain + target.Addr(v.r.off.SystemDomain.SystemAssembly))
	if assembly == 0 {
		return false
	}
	module := v.pointer(assembly + target.Addr(v.r.off.Assembly.Module))
	return module != 0 && v.pointer(module+target.Addr(v.r.off.Module.Assembly)) == assembly
}

// polymorphic reports whether the table contains the vtable of a class.
func (v *slotProver) polymorphic(class string) bool {
	return slices.ContainsFunc(v.places.slots, func(s layout.Slot) bool { return s.VTable && s.Name == class })
}

// hasVTable reports whether the first word of the object at a is in the table, as all vtables of the runtime's
// classes are, or is not in the dump.
func (v *slotProver) hasVTable(a target.Addr) bool {
	word, err := target.Pointer(v.r.mem, a)
	return err != nil || slices.Contains(v.places.table.values, word)
}

func (v *slotProver) isObject(a target.Addr) bool {
	if a == 0 {
		return false
	}
	mt, err := v.r.impl.readMethodTable(a)
	return err == nil && isSystemObject(mt) && mt.Category() == CategoryClass
}

func (v *slotProver) stringType(at target.Addr) bool {
	mt, err := v.r.impl.readMethodTable(v.pointer(at))
	return err == nil && mt.ComponentSize == 2 && mt.BaseSize == stringBaseSize && v.isObject(mt.Parent)
}

// exceptionType accepts a type that several types in the next entries inherit from.
func (v *slotProver) exceptionType(at target.Addr) bool {
	const nextOnes, wanted = 6, 2
	a := v.pointer(at)
	mt, err := v.r.impl.readMethodTable(a)
	if err != nil || !v.isObject(mt.Parent) {
		return false
	}
	place := slices.Index(v.places.table.values, at)
	heirs := map[target.Addr]bool{}
	for _, next := range v.places.table.values[place+1 : min(place+1+nextOnes, len(v.places.table.values))] {
		if heir := v.pointer(next); v.inherits(heir, a) {
			heirs[heir] = true
		}
	}
	return len(heirs) >= wanted
}

func (v *slotProver) inherits(a, base target.Addr) bool {
	const generations = 4 // StackOverflowException, SystemException, Exception
	for range generations {
		mt, err := v.r.impl.readMethodTable(a)
		if err != nil {
			return false
		}
		if a = mt.Parent; a == base {
			return true
		}
	}
	return false
}

func (v *slotProver) freeType(at target.Addr) bool {
	mt, err := v.r.impl.readMethodTable(v.pointer(at))
	return err == nil && mt.ComponentSize == 1 && mt.BaseSize == minObjectSize && mt.Parent == 0 // excludes byte[]
}

// fcalls accepts chains with functions of the runtime that belong into their chain.
func (v *slotProver) fcalls(at target.Addr) bool {
	const wanted = 2
	good := 0
	for bucket := range target.Addr(fcallBuckets) {
		entry, err := target.Pointer(v.r.mem, at+8*bucket)
		if err != nil || entry == 0 {
			continue
		}
		fn, err := target.Pointer(v.r.mem, entry+8)
		if err != nil {
			continue
		}
		if fn%fcallBuckets != bucket || !v.runtime.Contains(fn) {
			return false
		}
		good++
	}
	return good >= wanted
}

// syncTable accepts a table with an entry for a block that has the entry's index.
func (v *slotProver) syncTable(at target.Addr) bool {
	const tried = 64
	table := v.pointer(at)
	if table == 0 {
		return false
	}
	e := &v.r.off.SyncEntry
	good := 0
	for index := uint32(1); index < tried; index++ {
		rd := layout.Reader{Mem: v.r.mem, Base: table + target.Addr(index)*target.Addr(e.Size)}
		block, object := rd.Ptr(e.Block), rd.Ptr(e.Object)
		switch {
		case rd.Err != nil || block == 0 && object == 0:
			continue
		case object&1 != 0:
			continue
		case object == 0 || object%8 != 0 || block%8 != 0:
			return good > 0
		}
		own, err := target.Uint32(v.r.mem, block+target.Addr(v.r.off.SyncBlock.Index))
		header, herr := v.r.ObjectHeader(object)
		switch {
		case err == nil && own&syncIndexMask == index, herr == nil && header.SyncBlockIndex() == index:
			good++
		case err == nil && herr == nil:
			return good > 0
		}
	}
	return good > 0
}

// syncCache accepts consistent counters in the runtime's own memory.
func (v *slotProver) syncCache(at target.Addr) bool {
	cache := v.pointer(at)
	if !v.runtime.Contains(cache) {
		return false
	}
	_, err := v.r.syncCacheAt(cache)
	return err == nil
}

// codeRangeMap accepts a map that leads to ranges of code.
func (v *slotProver) codeRangeMap(at target.Addr) bool {
	if v.at.RangeMap.Top == layout.Absent || v.at.Fragment.Section == layout.Absent {
		return false
	}
	w := rangeProof{v: v, budget: rangeProofNodes}
	w.level(at+target.Addr(v.at.RangeMap.Top), 0)
	return w.found && !w.wrong
}

// rangeProofNodes bounds the nodes of the map that a proof examines. The first ranges of both kinds need fewer.
const rangeProofNodes = 512

// The depth and width of the map (dac/code, mappedSection).
const (
	rangeMapLevels  = 5
	rangeMapEntries = 256
)

// A rangeProof walks a map until it has found both managers of code, or a contradiction.
type rangeProof struct {
	v            *slotProver
	budget       int
	found, wrong bool
}

func (w *rangeProof) done() bool {
	return w.wrong || w.budget <= 0 || w.found && w.v.jit != 0 && w.v.readyToRun != 0
}

func (w *rangeProof) level(at target.Addr, depth int) {
	w.budget--
	if depth == rangeMapLevels {
		w.fragments(at)
		return
	}
	b, err := target.Bytes(w.v.r.mem, at, 8*rangeMapEntries)
	for n := 0; n < rangeMapEntries; n++ {
		var p target.Addr
		if err == nil {
			p = target.Addr(binary.LittleEndian.Uint64(b[8*n:]))
		} else { // a node that is only partly in the dump, or missing
			if n = nextStoredWord(w.v.r.mem, at, n, rangeMapEntries); n == rangeMapEntries {
				return
			}
			p = w.v.pointer(at + target.Addr(8*n))
		}
		if p &^= 1; p == 0 {
			continue
		}
		// The first eight bits of a user-space address are zero.
		if w.wrong = p%8 != 0 || depth == 0 && n > 0; w.wrong {
			return
		}
		if w.level(p, depth+1); w.done() {
			return
		}
	}
}

// nextStoredWord returns the index, at least n, of the first word with a byte in the dump, or count. It skips
// holes.
func nextStoredWord(mem target.Memory, at target.Addr, n, count int) int {
	next, ok := target.NextStored(mem, at+target.Addr(8*n))
	if !ok || next >= at+target.Addr(8*count) {
		return count
	}
	return int(next-at) / 8
}

func (w *rangeProof) fragments(at target.Addr) {
	const tried = 8
	for range tried {
		if at == 0 {
			return
		}
		section, err := target.Pointer(w.v.r.mem, at+target.Addr(w.v.at.Fragment.Section))
		if err != nil {
			return
		}
		ok := w.v.codeSection(section)
		w.found = w.found || ok
		w.wrong = w.wrong || !ok && target.Available(w.v.r.mem, section, 8)
		at = w.v.pointer(at+target.Addr(w.v.at.Fragment.Next)) &^ 1
	}
}

// codeRangeList accepts a pointer to a list of ranges of code.
func (v *slotProver) codeRangeList(at target.Addr) bool {
	if v.at.Section.Next == layout.Absent {
		return false
	}
	found := false
	section := v.pointer(at)
	for range limits.RangeSections {
		if section == 0 || v.jit != 0 && v.readyToRun != 0 && found || !v.codeSection(section) {
			break
		}
		found = true
		section = v.pointer(section + target.Addr(v.at.Section.Next))
	}
	return found
}

// codeSection reports whether a RangeSection is at a, and records its manager: the JIT manager for a heap of
// compiled code, the ReadyToRun manager for an image.
func (v *slotProver) codeSection(a target.Addr) bool {
	o := &v.at.Section
	if a == 0 || o.JitManager == layout.Absent {
		return false
	}
	rd := layout.Reader{Mem: v.r.mem, Base: a}
	code := target.Range{Start: rd.Ptr(o.Begin), End: rd.Ptr(o.End)}
	manager, heap, module := rd.Ptr(o.JitManager), rd.Ptr(o.HeapList), rd.Ptr(o.R2RModule)
	if rd.Err != nil || code.Size() == 0 || code.End < code.Start || manager == 0 || !v.hasVTable(manager) {
		return false
	}
	if heap != 0 && v.at.CodeHeap.Start != layout.Absent && code.Contains(v.pointer(heap+target.Addr(v.at.CodeHeap.Start))) {
		v.jit = manager
		return true
	}
	if module != 0 {
		if _, err := v.r.readModule(module); err == nil {
			v.readyToRun = manager
			return true
		}
	}
	return heap == 0 && module == 0
}

// proveVTables finds the vtables: each is the first word of an object of its class.
func (v *slotProver) proveVTables() {
	words := map[string]target.Addr{"Module": v.coreLib()}
	for class, variable := range map[string]string{"EEJitManager": "EEJitManager", "ReadyToRunJitManager": "ReadyToRunJitManager",
		"AppDomain": "AppDomain", "SystemDomain": "SystemDomain"} {
		words[class] = v.variable(variable)
	}
	v.codeHeaps(words)
	for _, slot := range v.places.slots {
		if object := words[slot.Name]; slot.VTable && object != 0 {
			word := v.pointer(object)
			v.places.look(slot.Index, weightProof, func(at target.Addr) bool { return at == word })
		}
	}
}

// variable returns the value of a variable with a known place, or 0.
func (v *slotProver) variable(name string) target.Addr {
	if a, err := v.r.layout.Variable(name); err == nil {
		return v.pointer(a)
	}
	for _, slot := range v.places.slots {
		if slot.Name == name && !slot.VTable {
			if a, err := v.places.address(slot.Index); err == nil {
				return v.pointer(a)
			}
		}
	}
	return 0
}

// coreLib returns the module of System.Object.
func (v *slotProver) coreLib() target.Addr {
	if domain := v.variable("SystemDomain"); domain != 0 {
		if assembly := v.pointer(domain + target.Addr(v.r.off.SystemDomain.SystemAssembly)); assembly != 0 {
			return v.pointer(assembly + target.Addr(v.r.off.Assembly.Module))
		}
	}
	return 0
}

// codeHeaps adds a heap of each class of heaps for compiled code.
func (v *slotProver) codeHeaps(words map[string]target.Addr) {
	const tried = 64
	o, err := v.r.loaderLayout()
	manager := v.variable("EEJitManager")
	if err != nil || manager == 0 || o.JitManager.CodeHeaps == layout.Absent {
		return
	}
	node := v.pointer(manager + target.Addr(o.JitManager.CodeHeaps))
	for range tried {
		if node == 0 {
			return
		}
		if h := v.r.codeHeap(o, node); h.Addr != 0 && h.Err == nil {
			words[h.Kind.String()] = h.Addr
		}
		node = v.pointer(node + target.Addr(o.CodeHeapNode.Next))
	}
}

// hintFrames examines the explicit frames of the threads. A frame's content hints at its class; other data can
// look alike.
func (v *slotProver) hintFrames() {
	const threads, frames = 256, 64
	l, err := v.frameMembers()
	if err != nil || !slices.ContainsFunc(v.places.slots, func(s layout.Slot) bool { return s.VTable && frameKinds[s.Name] != FrameUnknown }) {
		return
	}
	n := 0
	for at := range v.threads {
		t, err := v.r.readThread(at)
		if err != nil {
			continue
		}
		if n++; n > threads {
			return
		}
		frame := t.Frame
		for range frames {
			if frame == 0 || !t.Stack.Contains(frame) {
				break
			}
			v.hintFrame(l, &t, frame)
			next := v.pointer(frame + target.Addr(l.Frame.Next))
			if next <= frame {
				break
			}
			frame = next
		}
	}
}

func (v *slotProver) frameMembers() (*frameOffsets, error) {
	f := &frameOffsets{}
	return f, v.r.layout.BindAll(f)
}

func (v *slotProver) hintFrame(l *frameOffsets, t *Thread, frame target.Addr) {
	place := slices.Index(v.places.table.values, v.pointer(frame))
	if place < 0 {
		return
	}
	var kind FrameKind
	switch {
	case v.looksInlined(l, t, frame):
		kind = FrameInlinedCall
	case v.looksHelper(l, t, frame):
		kind = FrameHelper
	default:
		return
	}
	for _, slot := range v.places.slots {
		if slot.VTable && frameKinds[slot.Name] == kind {
			v.places.see(slotSight{slot.Index, place, weightHint})
		}
	}
}

// looksInlined reports whether the frame looks like an InlinedCallFrame: the call returns to code outside of
// the runtime, with a stack pointer below the frame and a frame pointer above it.
func (v *slotProver) looksInlined(l *frameOffsets, t *Thread, frame target.Addr) bool {
	rd := layout.Reader{Mem: v.r.mem, Base: frame}
	ip, sp, fp := rd.Ptr(l.Inlined.ReturnAddress), rd.Ptr(l.Inlined.CallSiteSP), rd.Ptr(l.Inlined.FP)
	return rd.Err == nil && ip != 0 && !t.Stack.Contains(ip) && !v.runtime.Contains(ip) &&
		t.Stack.Contains(sp) && sp <= frame && t.Stack.Contains(fp) && fp > frame
}

// looksHelper reports whether the frame looks like a HelperMethodFrame: it holds captured registers of the
// runtime's function.
func (v *slotProver) looksHelper(l *frameOffsets, t *Thread, frame target.Addr) bool {
	if l.Helper.CaptureRIP == layout.Absent {
		return false
	}
	rd := layout.Reader{Mem: v.r.mem, Base: frame}
	ip, sp := rd.Ptr(l.Helper.CaptureRIP), rd.Ptr(l.Helper.CaptureRSP)
	return rd.Err == nil && v.runtime.Contains(ip) && t.Stack.Contains(sp) && sp < frame
}
