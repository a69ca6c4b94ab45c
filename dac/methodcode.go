package dac

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Tier says with how much optimization a body was compiled (codeversion.h,
// NativeCodeVersion::OptimizationTier, and what the DAC adds to it).
type Tier uint8

// The tiers.
const (
	TierUnknown Tier = iota
	TierMinOptJitted
	TierOptimized
	TierQuickJitted
	TierOptimizedTier1
	TierOptimizedTier1OSR
	TierReadyToRun
	TierQuickJittedInstrumented
	TierOptimizedTier1Instrumented
)

// String is SOS's word for the tier.
func (t Tier) String() string {
	names := [...]string{"Unknown Tier", "MinOptJitted", "Optimized", "QuickJitted", "OptimizedTier1", "OptimizedTier1OSR",
		"ReadyToRun", "QuickJitted + Instrumented", "OptimizedTier1 + Instrumented"}
	return names[min(int(t), len(names)-1)]
}

// nodeTiers translates the runtime's numbers (OptimizationTier0, 1, 1OSR,
// Optimized, 0Instrumented, 1Instrumented).
var nodeTiers = [...]Tier{TierQuickJitted, TierOptimizedTier1, TierOptimizedTier1OSR, TierOptimized,
	TierQuickJittedInstrumented, TierOptimizedTier1Instrumented}

// A CodeVersion is one body of a method.
type CodeVersion struct {
	Node   target.Addr // NativeCodeVersionNode, 0 for the default version
	Code   target.Addr // 0 while it is not compiled
	Tier   Tier
	Active bool // what new calls run
}

// The flags of versions (codeversion.h).
const (
	defaultVersionActive = 4 // of a MethodDescVersioningState
	nodeActive           = 1 // of a NativeCodeVersionNode
)

// CodeVersions returns the bodies of m, the default version first. With an
// error it returns what it found.
func (r *Runtime) CodeVersions(m *MethodDesc) ([]CodeVersion, error) {
	c, err := r.codeLayout()
	if err != nil {
		return nil, err
	}
	code, err := r.defaultCode(c, m)
	if err != nil {
		return nil, fmt.Errorf("code of method %016x: %w", uint64(m.Addr), err)
	}
	out := []CodeVersion{{Code: code, Tier: r.defaultTier(c, m, code), Active: true}}
	state, err := r.versioningState(c, m)
	if err != nil || state == 0 {
		return out, err
	}
	rd := reader{mem: r.mem, base: state}
	flags, node := rd.u8(c.Versioning.Flags), rd.ptr(c.Versioning.First)
	if rd.err != nil {
		return out, rd.err
	}
	if out[0].Active = flags&defaultVersionActive != 0; !out[0].Active {
		out[0].Active = node == 0
	}
	return r.versionNodes(c, m, node, out)
}

// versionNodes appends the versions of the list that starts at node.
func (r *Runtime) versionNodes(c *codeLayout, m *MethodDesc, node target.Addr, out []CodeVersion) ([]CodeVersion, error) {
	o, active := &c.VersionNode, out[0].Active
	for range limits.CodeVersions {
		if node == 0 {
			out[0].Active = out[0].Active || !active // the runtime names none: the default one
			return out, nil
		}
		rd := reader{mem: r.mem, base: node}
		v := CodeVersion{Node: node, Code: rd.ptr(o.NativeCode), Active: rd.u32(o.Flags)&nodeActive != 0}
		owner := rd.ptr(o.MethodDesc)
		if o.Tier != layout.Absent {
			v.Tier = TierUnknown
			if n := rd.u32(o.Tier); int64(n) < int64(len(nodeTiers)) {
				v.Tier = nodeTiers[n]
			}
		}
		next := rd.ptr(o.Next)
		if rd.err != nil {
			return out, rd.err
		}
		if owner != m.Addr {
			return out, target.Corruptf("code version %016x of method %016x names method %016x", uint64(node), uint64(m.Addr), uint64(owner))
		}
		active = active || v.Active
		out, node = append(out, v), next
	}
	return out, target.Corruptf("method %016x has code versions without end", uint64(m.Addr))
}

// defaultCode is the code of the version that every method has.
func (r *Runtime) defaultCode(c *codeLayout, m *MethodDesc) (target.Addr, error) {
	if c.hasCodeSlot(m) {
		return target.Pointer(r.mem, m.optional(c, 0))
	}
	// Without a slot for it the entry point is the code, once there is code.
	entry, err := r.MethodEntry(m)
	if err != nil || entry == 0 {
		return 0, err
	}
	if r.HasRuntimeCode(m, entry) {
		return entry, nil
	}
	info, err := r.MethodAt(entry)
	if err != nil || info.Method != m || info.Start != entry {
		return 0, nil
	}
	return entry, nil
}

// defaultTier is the tier of the default version, which has no node that would
// say it: that of its image, or what the method is eligible for.
func (r *Runtime) defaultTier(c *codeLayout, m *MethodDesc, code target.Addr) Tier {
	if s, err := r.rangeSection(c, code); code != 0 && err == nil && s.Kind == CodeReadyToRun {
		return TierReadyToRun
	}
	if c.tiered.of(m) {
		return r.firstTier(m)
	}
	if m.Kind == MethodIL || m.Kind == MethodInstantiated {
		if mod, err := m.Module(); err == nil && mod.optimizationsDisabled() {
			return TierMinOptJitted
		}
	}
	return TierOptimized
}

// firstTier is the tier that a method with several starts at. Some are compiled
// with optimizations at once (tieredcompilation.cpp,
// GetInitialOptimizationTier): those that native code calls, and, where the
// runtime does not replace the code of a running loop, those with loops.
func (r *Runtime) firstTier(m *MethodDesc) Tier {
	if mod, err := m.Module(); err == nil && mod.hasAttribute(m.Token, "System.Runtime.InteropServices.UnmanagedCallersOnlyAttribute", nil) {
		return TierOptimized
	}
	quick, err := r.layout.Uint("QuickJitForLoops")
	if err != nil || quick != 0 {
		return TierQuickJitted
	}
	body, err := r.IL(m)
	if err == nil && hasLoop(body.Code) {
		return TierOptimized
	}
	return TierQuickJitted
}

// hasLoop reports whether IL branches backwards.
func hasLoop(code []byte) bool {
	for in, err := range metadata.Instructions(code) {
		if err != nil {
			return false
		}
		switch in.Kind {
		case metadata.OperandBranch8, metadata.OperandBranch32:
			if in.Target() <= in.Offset {
				return true
			}
		case metadata.OperandSwitch:
			for t := range in.Targets() {
				if t <= in.Offset {
					return true
				}
			}
		}
	}
	return false
}

// disableOptimizations is the bit of DebuggableAttribute.DebuggingModes.
const disableOptimizations = 0x100

// optimizationsDisabled reports whether the module's assembly was built for
// debugging (System.Diagnostics.DebuggableAttribute).
func (m *Module) optimizationsDisabled() bool {
	return m.hasAttribute(metadata.NewToken(metadata.TableAssembly, 1), "System.Diagnostics.DebuggableAttribute", func(b []byte) bool {
		// A prolog of two bytes, then the modes, or two booleans in the old form:
		// the bit is in the same place.
		return len(b) >= 6 && (uint16(b[2])|uint16(b[3])<<8)&disableOptimizations != 0
	})
}

// hasAttribute reports whether a token has a custom attribute of that type
// whose value, if value is not nil, it accepts.
func (m *Module) hasAttribute(t metadata.Token, name string, value func([]byte) bool) bool {
	md, err := m.Metadata()
	if err != nil {
		return false
	}
	rows, err := md.CustomAttributes(t)
	if err != nil {
		return false
	}
	for rid, err := range rows.All() {
		if err != nil {
			continue
		}
		row, err := md.CustomAttribute(rid)
		if err != nil {
			continue
		}
		typ, err := md.AttributeType(row)
		if err != nil {
			continue
		}
		if got, err := md.TypeFullName(typ); err != nil || got != name {
			continue
		}
		b, err := md.Blob(row.Value)
		return err == nil && (value == nil || value(b))
	}
	return false
}

// versioningState is the address of the method's MethodDescVersioningState, 0
// if it never had a second version.
func (r *Runtime) versioningState(c *codeLayout, m *MethodDesc) (target.Addr, error) {
	if c.MethodDesc.CodeData != layout.Absent {
		data, err := r.ptr(m.Addr, c.MethodDesc.CodeData, "MethodDesc.CodeData")
		if err != nil || data == 0 {
			return 0, err
		}
		return r.ptr(data, c.CodeData.Versioning, "MethodDescCodeData.VersioningState")
	}
	if c.AppDomain.VersioningStates == layout.Absent || c.SHash.Table == layout.Absent {
		return 0, nil // no layout has it: the default version is what is known
	}
	states, err := r.code.versions.get(func() (map[target.Addr]target.Addr, error) { return r.readVersioningStates(c) })
	return states[m.Addr], err
}

// readVersioningStates reads the hash table of runtimes before 9, from methods
// to their states.
func (r *Runtime) readVersioningStates(c *codeLayout) (map[target.Addr]target.Addr, error) {
	domain, err := r.globalPointer("AppDomain")
	if err != nil {
		return nil, err
	}
	rd := reader{mem: r.mem, base: domain + target.Addr(c.AppDomain.VersioningStates)}
	table, size := rd.ptr(c.SHash.Table), rd.u32(c.SHash.Size)
	if rd.err != nil || table == 0 {
		return nil, rd.err
	}
	if size > limits.VersioningStates {
		return nil, target.Corruptf("%d slots for the versions of methods", size)
	}
	out := map[target.Addr]target.Addr{}
	var missing error
	for i := range size {
		state, err := target.Pointer(r.mem, table+target.Addr(8*i))
		if err != nil {
			return out, err
		}
		if state == 0 || state == ^target.Addr(0) { // empty, or deleted
			continue
		}
		method, err := r.ptr(state, c.Versioning.MethodDesc, "MethodDescVersioningState.MethodDesc")
		if err != nil {
			missing = err
			continue
		}
		out[method] = state
	}
	return out, missing
}

// NativeCode is the code that calls of m run now, 0 if it was never compiled.
func (r *Runtime) NativeCode(m *MethodDesc) (target.Addr, error) {
	versions, err := r.CodeVersions(m)
	for _, v := range versions {
		if v.Active {
			return v.Code, nil
		}
	}
	if len(versions) > 0 && err == nil {
		return versions[0].Code, nil
	}
	return 0, err
}

// A MethodSlot is one row of a type's table of methods.
type MethodSlot struct {
	Slot   int
	Method *MethodDesc
	Entry  target.Addr // where calls go, 0 if the runtime has not made it yet
}

// MethodSlots returns the methods of a type: those of its virtual slots, which
// it can inherit, of its other slots, and then those that it declares without a
// slot in the type. With an error it returns what it found.
func (r *Runtime) MethodSlots(mt *MethodTable) ([]MethodSlot, error) {
	var failed error
	keep := func(err error) {
		if err != nil && failed == nil {
			failed = err
		}
	}
	virtual, err := r.virtualMethods(mt)
	keep(err)
	out := make([]MethodSlot, 0, len(virtual))
	for slot, m := range virtual {
		if m == nil {
			continue
		}
		entry, err := r.slotEntry(mt, m, slot)
		keep(err)
		out = append(out, MethodSlot{slot, m, entry})
	}
	class, err := r.EEClass(mt)
	if err != nil {
		return out, err
	}
	inType, start := int(mt.NumVirtuals), len(out)
	if mt.Canonical == mt.Addr { // only the canonical type has the array of the other slots
		inType += class.NumNonVirtualSlots
	}
	for m, err := range r.Methods(mt) {
		if keep(err); err != nil || m.Slot < mt.NumVirtuals {
			continue
		}
		entry, err := r.slotEntry(mt, m, int(m.Slot))
		keep(err)
		out = append(out, MethodSlot{int(m.Slot), m, entry})
	}
	slices.SortStableFunc(out[start:], func(a, b MethodSlot) int { return min(a.Slot, inType) - min(b.Slot, inType) })
	return out, failed
}

// virtualMethods finds the method of each virtual slot: that of the most
// derived type in the chain of base classes which has one for the slot.
func (r *Runtime) virtualMethods(mt *MethodTable) ([]*MethodDesc, error) {
	out := make([]*MethodDesc, mt.NumVirtuals)
	left := len(out)
	var failed error
	for range limits.ParentChain {
		for m, err := range r.Methods(mt) {
			if err != nil {
				if failed == nil {
					failed = err
				}
				continue
			}
			for _, slot := range r.slotsOf(m) {
				if slot < len(out) && out[slot] == nil {
					out[slot] = m
					left--
				}
			}
		}
		if left == 0 || mt.Parent == 0 {
			return out, failed
		}
		var err error
		if mt, err = r.TrustedMethodTable(mt.Parent); err != nil {
			return out, err
		}
	}
	return out, target.Corruptf("the base classes of %016x have no end", uint64(mt.Addr))
}

// slotsOf lists the slots that m fills: its own and those of the methods that
// it implements (methodimpl.h: their number, then the slots).
func (r *Runtime) slotsOf(m *MethodDesc) []int {
	out := []int{int(m.Slot)}
	if m.Flags&mdMethodImpl == 0 {
		return out
	}
	c, err := r.codeLayout()
	if err != nil {
		return out
	}
	at, err := target.Pointer(r.mem, m.optional(c, mdMethodImpl))
	if err != nil || at == 0 {
		return out
	}
	n, err := target.Uint32(r.mem, at)
	if err != nil || n > limits.FieldsPerType {
		return out
	}
	for i := range n {
		slot, err := target.Uint32(r.mem, at+target.Addr(4*(i+1)))
		if err != nil {
			return out
		}
		out = append(out, int(slot))
	}
	return out
}

// MethodEntry is the entry point of a method through the slot of the type that
// declares it, 0 if the runtime has not made one.
func (r *Runtime) MethodEntry(m *MethodDesc) (target.Addr, error) {
	mt, err := r.TrustedMethodTable(m.MethodTable)
	if err != nil {
		return 0, err
	}
	return r.slotEntry(mt, m, int(m.Slot))
}

// slotEntry reads a slot (layouts.md, section 8): virtual ones through the
// vtable's chunks of eight, the others in the MethodDesc or in an array of the
// canonical type.
func (r *Runtime) slotEntry(mt *MethodTable, m *MethodDesc, slot int) (target.Addr, error) {
	c, err := r.codeLayout()
	if err != nil {
		return 0, err
	}
	if slot < int(mt.NumVirtuals) {
		chunk, err := target.Pointer(r.mem, mt.Addr+target.Addr(r.off.MethodTableSize.Size+8*(slot/vtableChunk)))
		if err != nil {
			return 0, err
		}
		return target.Pointer(r.mem, chunk+target.Addr(8*(slot%vtableChunk)))
	}
	if m.Flags&mdNonVtableSlot != 0 {
		return target.Pointer(r.mem, m.optional(c, mdNonVtableSlot))
	}
	canon, err := r.TrustedMethodTable(mt.Canonical)
	if err != nil {
		return 0, err
	}
	return r.nonVirtualEntry(canon, slot)
}

// vtableChunk is the number of slots in a chunk of a vtable
// (methodtable.h, VTABLE_SLOTS_PER_CHUNK).
const vtableChunk = 8

// mtf2SingleNonVirtual marks a type, before 9, with one slot that is not virtual:
// it stands where the pointer to the array would be.
const mtf2SingleNonVirtual = 0x4000

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

// HasRuntimeCode reports whether calls of m end in the runtime itself.
func (r *Runtime) HasRuntimeCode(m *MethodDesc, entry target.Addr) bool {
	return m.Kind == MethodFCall && r.inst.Module.Contains(entry)
}
