package dac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Tier is the degree of optimization of a compiled body (codeversion.h, NativeCodeVersion::OptimizationTier,
// with the DAC's additions).
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

// String returns SOS's word for the tier.
func (t Tier) String() string {
	names := [...]string{"Unknown Tier", "MinOptJitted", "Optimized", "QuickJitted", "OptimizedTier1", "OptimizedTier1OSR",
		"ReadyToRun", "QuickJitted + Instrumented", "OptimizedTier1 + Instrumented"}
	return names[min(int(t), len(names)-1)]
}

// nodeTiers maps the runtime's numbers (OptimizationTier0, 1, 1OSR, Optimized, 0Instrumented, 1Instrumented).
var nodeTiers = [...]Tier{TierQuickJitted, TierOptimizedTier1, TierOptimizedTier1OSR, TierOptimized,
	TierQuickJittedInstrumented, TierOptimizedTier1Instrumented}

// A CodeVersion is one body of a method.
type CodeVersion struct {
	Node   target.Addr // NativeCodeVersionNode, 0 for the default version
	Code   target.Addr // 0 before it is compiled
	Tier   Tier
	Active bool // new calls run it

	// TierErr is the reason for TierUnknown.
	TierErr error

	// ReJIT is the ReJITID of the IL that the body was compiled from (NativeCodeVersionNode::m_parentId). 0 is
	// the IL of the metadata, as for the default version; a profiler's ReJIT counts from 1.
	ReJIT    uint64
	ReJITErr error // set if the layout or the dump lacks ReJIT
}

// Flags of versions (codeversion.h).
const (
	defaultVersionActive = 4 // in a MethodDescVersioningState
	nodeActive           = 1 // in a NativeCodeVersionNode
)

// CodeVersions returns the bodies of m, the default version first. If some are missing it also returns an
// error.
func (r *CodeReader) CodeVersions(m *MethodDesc) ([]CodeVersion, error) {
	c, err := r.members()
	if err != nil {
		return nil, err
	}
	out, err := r.versionsOf(c, m)
	if len(out) > 0 {
		var terr error
		if out[0].Tier, terr = r.defaultTier(c, m, out[0].Code); terr != nil {
			out[0].Tier, out[0].TierErr = TierUnknown, fmt.Errorf("tier of method %016x: %w", uint64(m.Addr), terr)
		}
	}
	return out, err
}

// versionsOf is CodeVersions without the tier of the default version, which needs the method's IL and
// attributes.
func (r *CodeReader) versionsOf(c *members, m *MethodDesc) ([]CodeVersion, error) {
	code, err := r.defaultCode(c, m)
	if err != nil {
		return nil, fmt.Errorf("code of method %016x: %w", uint64(m.Addr), err)
	}
	out := []CodeVersion{{Code: code, Active: true}}
	state, err := r.versioningState(c, m)
	if err != nil || state == 0 {
		return out, err
	}
	rd := layout.Reader{Mem: r.mem, Base: state}
	flags, node := rd.U8(c.Versioning.Flags), rd.Ptr(c.Versioning.First)
	if rd.Err != nil {
		return out, rd.Err
	}
	if out[0].Active = flags&defaultVersionActive != 0; !out[0].Active {
		out[0].Active = node == 0
	}
	return r.versionNodes(c, m, node, out)
}

// versionNodes appends the versions of the list that starts at node.
func (r *CodeReader) versionNodes(c *members, m *MethodDesc, node target.Addr, out []CodeVersion) ([]CodeVersion, error) {
	o, active := &c.VersionNode, out[0].Active
	for range limits.CodeVersions {
		if node == 0 {
			out[0].Active = out[0].Active || !active // without an active version, the default one is active
			return out, nil
		}
		rd := layout.Reader{Mem: r.mem, Base: node}
		v := CodeVersion{Node: node, Code: rd.Ptr(o.NativeCode), Active: rd.U32(o.Flags)&nodeActive != 0}
		owner := rd.Ptr(o.MethodDesc)
		if o.Tier != layout.Absent {
			v.Tier = TierUnknown
			if n := rd.U32(o.Tier); int64(n) < int64(len(nodeTiers)) {
				v.Tier = nodeTiers[n]
			}
		}
		if v.ReJITErr = (&layout.Error{Type: "NativeCodeVersionNode", Field: "ILVersionId"}); o.ILVersionID != layout.Absent {
			v.ReJIT, v.ReJITErr = rd.U64(o.ILVersionID), nil
		}
		next := rd.Ptr(o.Next)
		if rd.Err != nil {
			return out, rd.Err
		}
		if owner != m.Addr {
			return out, target.Corruptf("code version %016x of method %016x names method %016x", uint64(node), uint64(m.Addr), uint64(owner))
		}
		active = active || v.Active
		out, node = append(out, v), next
	}
	return out, target.Corruptf("method %016x has code versions without end", uint64(m.Addr))
}

// defaultCode returns the code of the default version, which every method has.
func (r *CodeReader) defaultCode(c *members, m *MethodDesc) (target.Addr, error) {
	if c.hasCodeSlot(m) {
		return target.Pointer(r.mem, m.optional(c, 0))
	}
	// Without a slot for it, the entry point is the code once there is code.
	entry, err := r.MethodEntry(m)
	if err != nil || entry == 0 {
		return 0, err
	}
	if r.hasRuntimeCode(m, entry) {
		return entry, nil
	}
	switch info, err := r.MethodAt(entry); {
	case errors.Is(err, ErrNoCode):
		return 0, nil
	case err != nil:
		return 0, err
	case info.Method != m || info.Start != entry:
		return 0, nil
	}
	return entry, nil
}

// defaultTier returns the tier of the default version. No node records it: it follows from the image, or from
// what the method is eligible for.
func (r *CodeReader) defaultTier(c *members, m *MethodDesc, code target.Addr) (Tier, error) {
	if code != 0 {
		s, err := r.rangeSection(c, code)
		switch {
		case err == nil && s.Kind == CodeReadyToRun:
			return TierReadyToRun, nil
		case err != nil && !errors.Is(err, ErrNoCode):
			return TierUnknown, err
		}
	}
	switch {
	case !c.tiered.isSet(m):
	case code == 0:
		return TierQuickJitted, nil // the compiler has not examined it yet
	default:
		return r.firstTier(m)
	}
	if m.Kind != MethodIL && m.Kind != MethodInstantiated {
		return TierOptimized, nil
	}
	mod, err := m.Module()
	if err != nil {
		return TierUnknown, err
	}
	switch debugging, err := optimizationsDisabled(mod); {
	case err != nil:
		return TierUnknown, err
	case debugging:
		return TierMinOptJitted, nil
	}
	return TierOptimized, nil
}

// firstTier returns the first tier of a method with several. Some methods are optimized at once
// (tieredcompilation.cpp, GetInitialOptimizationTier; the compiler's compCanSwitchToOptimized): methods called
// by native code, methods with explicit tail calls, and methods with loops if the runtime does not replace the
// code of a running loop.
func (r *CodeReader) firstTier(m *MethodDesc) (Tier, error) {
	mod, err := m.Module()
	if err != nil {
		return TierUnknown, err
	}
	switch native, err := hasAttribute(mod, m.Token, "System.Runtime.InteropServices.UnmanagedCallersOnlyAttribute", nil); {
	case err != nil:
		return TierUnknown, err
	case native:
		return TierOptimized, nil
	}
	quick, err := r.Runtime().Layout().Uint("QuickJitForLoops")
	loops := err != nil || quick != 0
	body, err := r.IL(m)
	switch {
	case errors.Is(err, ErrNoIL):
		return TierQuickJitted, nil
	case err != nil:
		return TierUnknown, err
	case hasTailCall(body.Code), !loops && hasLoop(body.Code):
		return TierOptimized, nil
	}
	return TierQuickJitted, nil
}

// tailPrefix is the prefix of an explicit tail call (III.2.4).
const tailPrefix metadata.Opcode = 0xfe14

// hasTailCall reports whether IL contains an explicit tail call.
func hasTailCall(code []byte) bool {
	for in, err := range metadata.Instructions(code) {
		if err != nil {
			return false
		}
		if in.Opcode == tailPrefix {
			return true
		}
	}
	return false
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

// disableOptimizations is a bit of DebuggableAttribute.DebuggingModes.
const disableOptimizations = 0x100

// optimizationsDisabled reports whether the module's assembly was built for debugging
// (System.Diagnostics.DebuggableAttribute).
func optimizationsDisabled(m *Module) (bool, error) {
	return hasAttribute(m, metadata.NewToken(metadata.TableAssembly, 1), "System.Diagnostics.DebuggableAttribute", func(b []byte) bool {
		// A prolog of two bytes, then the modes, or two booleans in the old form. The bit is in the same place.
		return len(b) >= 6 && (uint16(b[2])|uint16(b[3])<<8)&disableOptimizations != 0
	})
}

// hasAttribute reports whether a token has a custom attribute of the type. If value is not nil, it must return
// true for the attribute's blob. A module without metadata or an unreadable row is an error unless another row
// decides.
func hasAttribute(m *Module, t metadata.Token, name string, value func([]byte) bool) (bool, error) {
	md, err := m.Metadata()
	if errors.Is(err, target.ErrUnsupported) {
		return false, nil // in memory, and not saved
	}
	if err != nil {
		return false, err
	}
	rows, err := md.CustomAttributes(t)
	if err != nil {
		return false, err
	}
	var missing error
	for rid, err := range rows.All() {
		var b []byte
		var found bool
		if err == nil {
			found, b, err = attributeOf(md, rid, name)
		}
		if found && err == nil {
			return value == nil || value(b), nil
		}
		missing = cmp.Or(missing, err)
	}
	return false, missing
}

// attributeOf reports whether a row is an attribute of that name, and returns its value.
func attributeOf(md *metadata.Metadata, rid uint32, name string) (bool, []byte, error) {
	row, err := md.CustomAttribute(rid)
	if err != nil {
		return false, nil, err
	}
	typ, err := md.AttributeType(row)
	if err != nil {
		return false, nil, err
	}
	if got, err := md.TypeFullName(typ); err != nil || got != name {
		return false, nil, err
	}
	b, err := md.Blob(row.Value)
	return true, b, err
}

// versioningState returns the address of the method's MethodDescVersioningState, or 0 if it never had a second
// version.
func (r *CodeReader) versioningState(c *members, m *MethodDesc) (target.Addr, error) {
	if c.MethodDesc.CodeData != layout.Absent {
		data, err := r.ptr(m.Addr, c.MethodDesc.CodeData, "MethodDesc.CodeData")
		if err != nil || data == 0 {
			return 0, err
		}
		return r.ptr(data, c.CodeData.Versioning, "MethodDescCodeData.VersioningState")
	}
	if c.AppDomain.VersioningStates == layout.Absent || c.SHash.Table == layout.Absent {
		return 0, nil // without a layout, only the default version is known
	}
	states, err := r.versions.Get(func() (map[target.Addr]target.Addr, error) { return r.readVersioningStates(c) })
	return states[m.Addr], err
}

// readVersioningStates reads the hash table from methods to their states (before 9).
func (r *CodeReader) readVersioningStates(c *members) (map[target.Addr]target.Addr, error) {
	domain, err := r.Runtime().GlobalPointer("AppDomain")
	if err != nil {
		return nil, err
	}
	rd := layout.Reader{Mem: r.mem, Base: domain + target.Addr(c.AppDomain.VersioningStates)}
	table, size := rd.Ptr(c.SHash.Table), rd.U32(c.SHash.Size)
	if rd.Err != nil || table == 0 {
		return nil, rd.Err
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

// NativeCode returns the code that calls of m run now, or 0 if m was never compiled.
func (r *CodeReader) NativeCode(m *MethodDesc) (target.Addr, error) {
	c, err := r.members()
	if err != nil {
		return 0, err
	}
	versions, err := r.versionsOf(c, m)
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
	Entry  target.Addr // destination of calls, 0 before the runtime has made it
}

// MethodSlots returns the methods of a type: in its virtual slots, including inherited ones, in its other
// slots, and those that it declares without a slot. It returns the methods found together with an error.
func (r *CodeReader) MethodSlots(mt *MethodTable) ([]MethodSlot, error) {
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
	class, err := r.Runtime().EEClass(mt)
	if err != nil {
		return out, err
	}
	inType, start := int(mt.NumVirtuals), len(out)
	if mt.Canonical == mt.Addr { // only the canonical type has the array of other slots
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

// virtualMethods returns the method in each virtual slot: the one of the most derived base class that fills it.
func (r *CodeReader) virtualMethods(mt *MethodTable) ([]*MethodDesc, error) {
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
		if mt, err = r.Runtime().TrustedMethodTable(mt.Parent); err != nil {
			return out, err
		}
	}
	return out, target.Corruptf("the base classes of %016x have no end", uint64(mt.Addr))
}

// slotsOf lists the slots that m fills: its own, and the slots of the methods that it implements (methodimpl.h:
// their number, then the slots).
func (r *CodeReader) slotsOf(m *MethodDesc) []int {
	out := []int{int(m.Slot)}
	if m.Flags&mdMethodImpl == 0 {
		return out
	}
	c, err := r.members()
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

// MethodEntry returns the entry point of a method through the slot of its declaring type, or 0 before the
// runtime has made it.
func (r *CodeReader) MethodEntry(m *MethodDesc) (target.Addr, error) {
	if m == nil {
		return 0, errNoMethod
	}
	mt, err := r.Runtime().TrustedMethodTable(m.MethodTable)
	if err != nil {
		return 0, err
	}
	return r.slotEntry(mt, m, int(m.Slot))
}

// slotEntry reads the slot of m in mt: the MethodDesc's own, outside the vtable (method.hpp,
// mdfHasNonVtableSlot), or the type's.
func (r *CodeReader) slotEntry(mt *MethodTable, m *MethodDesc, slot int) (target.Addr, error) {
	if slot >= int(mt.NumVirtuals) && m.Flags&mdNonVtableSlot != 0 {
		c, err := r.members()
		if err != nil {
			return 0, err
		}
		return target.Pointer(r.mem, m.optional(c, mdNonVtableSlot))
	}
	return r.Runtime().slotEntry(mt, slot)
}

// hasRuntimeCode reports whether calls of m end in the runtime.
func (r *CodeReader) hasRuntimeCode(m *MethodDesc, entry target.Addr) bool {
	return m != nil && m.Kind == MethodFCall && r.Runtime().Instance().Module.Contains(entry)
}
