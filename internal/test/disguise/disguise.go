// Package disguise opens dumps of .NET 10 as if their runtime were .NET 11: with a contract
// descriptor of version 2, string versions, a sub-descriptor of the GC, other names, and structures
// with another meaning (dotnet/runtime src/coreclr/vm/datadescriptor and
// src/coreclr/gc/datadescriptor, summer 2026). It overwrites memory that a runtime of 11 would have
// written differently. All facts of the case must hold for a disguised dump. Start reading at Open.
package disguise

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// renamed are members with another name in 11.
var renamed = map[string]string{
	"Thread.StackBase": "CachedStackBase", "Thread.StackLimit": "CachedStackLimit", "Thread.GCHandle": "ExposedObject",
	"AppDomain.DomainAssemblyList": "AssemblyList", "FramedMethodFrame.MethodDesc": "MethodDescPtr", "DynamicHelperFrame.Flags": "DynamicHelperFrameFlags",
	"HandleTableMap.Buckets": "BucketsPtr", "TableSegment.UserData": "RgUserData", "TableSegment.Values": "RgValue", "SyncBlock.Link": "LinkNext",
}

// dropped are types and members that no contract of 11 has.
var dropped = words(`GcDacVars DomainAssembly ArrayClass StackTraceArray StackTraceElement LCGMethodResolver TailCallArgBuffer ProtectValueClassFrame
	ValueClassInfo SHash DynamicILBlobEntry GCHandle GCFrame
	MethodTable.InterfaceMap MethodTableAuxiliaryData.ExposedClassObject MethodTableAuxiliaryData.size DynamicStaticsInfo.MethodTable
	PEImage.Path PEImage.BundleOffset PEImage.FileName DynamicMethodDesc.Resolver Thread.StrongGCHandle Thread.GCFrame Thread.TailCallArgBuffer
	Assembly.PEAssembly Assembly.LoaderAllocator SyncBlock.LockState SyncBlock.Recursion SyncBlock.HoldingThreadId
	SyncBlock.HoldingOSThreadId SyncBlock.TransientPrecious SyncBlock.SyncIndex SyncBlockCache.SyncTableSize
	LoaderHeap.AllocPtr HandleTableMap.MaxIndex TableSegment.size TableSegment.BlockType TableSegment.HandleTable
	LoaderCodeHeap.FirstBlock`)

// ofGC are the types of the GC's sub-descriptor.
var ofGC = words(`HeapSegment OomHistory HandleTableMap HandleTableBucket HandleTable TableSegment`)

// Globals in the descriptor of 10 but not of 11, and globals of tables that 11 has in its
// descriptor.
var (
	droppedGlobals = words(`MethodDescSizeTable ObjectHeaderSize`)
	addedGlobals   = map[string]string{"EEJitManager": "EEJitManagerAddress", "SyncBlockCache": "SyncBlockCache", "GlobalAllocContext": "GlobalAllocContext"}
)

func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// contracts are the contracts of .NET 11. DebugInfo keeps the version of 10, because the dump's
// debug information has its form.
var contracts = map[string]any{
	"AuxiliarySymbols": "c1", "CodeVersions": "c1", "DacStreams": "c1", "Debugger": "c1", "DebugInfo": 1, "EcmaMetadata": "c1", "Exception": "c1",
	"ExecutionManager": "c2", "GCInfo": "c1", "Loader": "c1", "Object": "c1", "PlatformMetadata": "c1", "PrecodeStubs": "c3", "ReJIT": "c1", "RuntimeInfo": "c1",
	"RuntimeTypeSystem": "c1", "SHash": "c1", "Signature": "c1", "StackWalk": "c1", "StressLog": "c2", "SyncBlock": "c1", "Thread": "c1",
}

// A descriptor is a contract descriptor under construction.
type descriptor struct {
	Version        int                       `json:"version"`
	Baseline       string                    `json:"baseline"`
	Types          map[string]map[string]any `json:"types"`
	Globals        map[string]any            `json:"globals"`
	Contracts      map[string]any            `json:"contracts"`
	SubDescriptors map[string]any            `json:"subDescriptors,omitempty"`

	pointers []target.Addr
}

func newDescriptor() *descriptor {
	return &descriptor{Version: 2, Baseline: "empty", Types: map[string]map[string]any{}, Globals: map[string]any{}, Contracts: map[string]any{}, pointers: []target.Addr{0}}
}

func (d *descriptor) member(typ, field string, v any) {
	if d.Types[typ] == nil {
		d.Types[typ] = map[string]any{}
	}
	d.Types[typ][field] = v
}

// variable adds a pointer to the pointer data and returns the JSON of its global.
func (d *descriptor) variable(a target.Addr) any {
	d.pointers = append(d.pointers, a)
	return []any{[]int{len(d.pointers) - 1}, "pointer"}
}

// An eleven is a dump of 10 that is being disguised.
type eleven struct {
	t      testing.TB
	view   *sosgo.View
	rt     *dac.Runtime
	l      *layout.Layout
	main   *descriptor
	gc     *descriptor
	damage []testcase.Damage
	free   target.Addr // address of the next new memory

	changes Changes
}

// region is the address of new memory; no process uses it. New is the address for callers' memory.
const (
	region = target.Addr(0x5e0000000000)
	New    = region + 1<<32
)

// Open opens the dump at path in the form of .NET 11. Waits of threads are recorded as in 10.
func Open(t testing.TB, path string, o sosgo.Options) *sosgo.Dump {
	t.Helper()
	return OpenWith(t, path, o, Changes{})
}

// Changes are further differences from a dump of 10.
type Changes struct {
	// Monitors converts the monitors that threads wait for to Locks. Some types of the class
	// library are lost, because they get the names of types that 10 does not have.
	Monitors bool
	Fields   map[string]map[string]string // by type: other names of fields
	Types    map[string]string            // other names of types, without their namespaces
	Damage   []testcase.Damage            // overwritten memory, or new memory from New on
	Members  map[string]map[string]int    // by type: members that are not in 10
	Globals  map[string]uint64            // numbers that are not in 10
	Versions map[string]any               // of contracts
}

// OpenWith opens the dump at path in the form of .NET 11, with changes.
func OpenWith(t testing.TB, path string, o sosgo.Options, c Changes) *sosgo.Dump {
	t.Helper()
	file := testcase.Plain(path)
	plain, err := sosgo.Open(file, o)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	v, err := plain.View("")
	if err != nil {
		t.Fatal(err)
	}
	rt, err := v.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	e := &eleven{t: t, view: v, rt: rt, l: rt.Layout().(*layout.Layout), main: newDescriptor(), gc: newDescriptor(), free: region, changes: c}
	if err := e.disguise(); err != nil {
		t.Fatal(err)
	}
	for typ, fields := range c.Fields {
		if _, err := e.rename(typ, "", fields); err != nil {
			t.Fatal(err)
		}
	}
	for typ, name := range c.Types {
		if _, err := e.rename(typ, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	e.damage = append(e.damage, c.Damage...)
	o.WrapMemory = func(m target.Memory) target.Memory {
		over := &testcase.Overlay{Memory: extended{m, e.damage}}
		over.Set(e.damage...)
		return over
	}
	packed := file != path
	if inst := rt.Instance(); len(inst.Identity.BuildID) == 0 {
		file = ofUnknownBuild(t, file, &inst.Module)
	}
	d, err := sosgo.Open(file, o)
	if err != nil {
		t.Fatal(err)
	}
	d.File().Path = path
	if packed {
		d.File().Compressed = "zstd"
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// extended is a memory with new regions; their bytes are in the overlay.
type extended struct {
	target.Memory
	damage []testcase.Damage
}

func (m extended) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := m.Memory.ReadMemory(p, a)
	if err != nil && a >= region {
		for _, d := range m.damage {
			if a >= d.At && a+target.Addr(len(p)) <= d.At+target.Addr(len(d.Bytes)) {
				return len(p), nil
			}
		}
	}
	return n, err
}

// NextStored implements target.SparseMemory. Otherwise a search for stored pages would read each
// word of each hole.
func (m extended) NextStored(a target.Addr) (target.Addr, bool) {
	next, ok := target.NextStored(m.Memory, a)
	for _, d := range m.damage {
		if end := d.At + target.Addr(len(d.Bytes)); d.At >= region && end > a && (!ok || max(a, d.At) < next) {
			next, ok = max(a, d.At), true
		}
	}
	return next, ok
}

// add puts bytes into new memory and returns their address.
func (e *eleven) add(b []byte) target.Addr {
	at := e.free
	e.damage = append(e.damage, testcase.Damage{At: at, Bytes: b})
	e.free += target.Addr(len(b)+15) &^ 15
	return at
}

func (e *eleven) write(at target.Addr, words ...uint64) {
	e.damage = append(e.damage, testcase.Words(at, words...))
}

func (e *eleven) disguise() error {
	e.types()
	if err := e.variables(); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{{"GC", e.collector}, {"exceptions", e.exceptions}, {"assemblies", e.assemblies}, {"sync blocks", e.syncBlocks}, {"descriptors", e.publish}} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// types distributes the members of the layout to the descriptors.
func (e *eleven) types() {
	maps.Copy(e.main.Contracts, contracts)
	maps.Copy(e.main.Contracts, e.changes.Versions)
	e.gc.Contracts["GC"] = "c1"
	for _, m := range e.l.Members() {
		typ, field, ok := strings.Cut(m.Name, ".")
		if !ok || strings.Contains(typ, " ") || dropped[typ] || dropped[m.Name] || e.changes.Monitors && strings.Contains(m.Name, "DebugBlocking") {
			continue
		}
		v, err := strconv.Atoi(m.Value)
		if err != nil {
			continue
		}
		if field == "size" {
			field = "!"
		}
		if n := renamed[m.Name]; n != "" {
			field = n
		}
		to := e.main
		if ofGC[typ] {
			to = e.gc
		}
		to.member(typ, field, v)
	}
	for typ, members := range e.changes.Members {
		for name, at := range members {
			e.main.member(typ, name, at)
		}
	}
	for name, v := range e.changes.Globals {
		e.main.Globals[name] = v
	}
	e.main.member("SyncBlock", "Lock", 8)
	e.main.member("SyncBlock", "ThinLock", 0)
	if off, err := e.l.Offset("Assembly", "IsCollectible"); err == nil {
		e.main.member("Assembly", "IsDynamic", off+1) // assembly.hpp
	}
	if off, err := e.l.Offset("LoaderCodeHeap", "FirstBlock"); err == nil {
		if first, err := e.l.Offset("LoaderHeap", "FirstBlock"); err == nil {
			e.main.member("LoaderCodeHeap", "LoaderHeap", off-first)
		}
	}
}

func (e *eleven) variables() error {
	for name, g := range e.l.Globals {
		switch {
		case droppedGlobals[name]:
		case g.Direct && g.Text != "":
			e.main.Globals[name] = []any{g.Text, "string"}
		case g.Direct:
			e.main.Globals[name] = []any{fmt.Sprintf("%#x", g.Value), "uint64"}
		case addedGlobals[name] != "":
			e.main.Globals[addedGlobals[name]] = e.main.variable(g.Addr)
		case name != "GcDacVars" && name != "HeapType" && name != "ReadyToRunJitManager":
			e.main.Globals[name] = e.main.variable(g.Addr)
		}
	}
	owner, err := e.l.Uint("ThinLockThreadIdBits")
	if err != nil {
		return err
	}
	entries, err := e.l.Uint("ThinLockRecursionBits")
	if err != nil {
		return err
	}
	e.main.Globals["SyncBlockMaskLockThreadId"] = uint64(1)<<owner - 1
	e.main.Globals["SyncBlockMaskLockRecursionLevel"] = (uint64(1)<<entries - 1) << owner
	e.main.Globals["SyncBlockRecursionLevelShift"] = owner
	const arrayBaseSize = 24 // header, MethodTable and length of an array without elements
	e.main.Globals["ArrayBaseSize"] = arrayBaseSize
	return nil
}

// gcVariables are the variables of the GC in both versions, by their names in GcDacVars.
var gcVariables = map[string]string{
	"AllocAllocated": "GCHeapAllocAllocated", "EphemeralHeapSegment": "GCHeapEphemeralHeapSegment", "FinalizeQueue": "GCHeapFinalizeQueue",
	"GenerationTable": "GCHeapGenerationTable", "OomInfo": "GCHeapOomData", "StructuresInvalidCount": "StructureInvalidCount", "MaxGen": "MaxGeneration",
	"DynamicAdaptationMode": "DynamicAdaptationMode", "NHeaps": "NumHeaps", "GHeaps": "Heaps",
	"CurrentGCState": "CurrentGCState", "GlobalMechanisms": "GCGlobalMechanisms", "CompactReasons": "GCHeapCompactReasons",
}

// gcHeapFields are the entries of GCHeapFieldOffsets (dac_gcheap_fields.h).
var gcHeapFields = map[string]int{"AllocAllocated": 0, "EphemeralHeapSegment": 1, "FinalizeQueue": 2, "OomData": 3, "CompactReasons": 5, "GenerationTable": 18}

// collector moves the content of GcDacVars to the GC's descriptor.
func (e *eleven) collector() error {
	mem := e.rt.Memory()
	at, err := e.rt.GlobalPointer("GcDacVars")
	if err != nil {
		return err
	}
	field := func(name string) (target.Addr, error) {
		off, err := e.l.Offset("GcDacVars", name)
		return at + target.Addr(off), err
	}
	server := false
	if a, err := e.l.Variable("HeapType"); err == nil {
		kind, err := target.Uint32(mem, a)
		if err != nil {
			return err
		}
		server = kind == 2
	}
	for name, global := range gcVariables {
		a, err := field(name)
		if err != nil {
			return err
		}
		p, err := target.Pointer(mem, a)
		if err == nil && p != 0 && (!server || !strings.HasPrefix(global, "GCHeap")) {
			e.gc.Globals[global] = e.gc.variable(p)
		}
	}
	if err := e.generations(field); err != nil {
		return err
	}
	kinds := "workstation,regions,background,"
	if server {
		kinds = "server, regions,, dynamic_heap"
		if err := e.serverHeap(field); err != nil {
			return err
		}
	}
	e.gc.Globals["GCIdentifiers"] = []any{kinds, "string"}
	e.gc.Globals["GlobalMechanismsLength"], e.gc.Globals["CompactReasonsLength"] = []any{6, "uint32"}, []any{11, "uint32"}
	return e.handles(field)
}

func (e *eleven) generations(field func(string) (target.Addr, error)) error {
	mem := e.rt.Memory()
	a, err := field("TotalGenerationCount")
	if err != nil {
		return err
	}
	n, err := target.Uint32(mem, a)
	if err != nil {
		return err
	}
	e.gc.Globals["TotalGenerationCount"] = []any{n, "uint32"}
	if a, err = field("GenerationSize"); err != nil {
		return err
	}
	size, err := target.Uint64(mem, a)
	if err != nil {
		return err
	}
	e.gc.member("Generation", "!", size)
	var offsets [3]int32
	if err := e.l.Constant("GenerationFieldOffsets", &offsets); err != nil {
		return err
	}
	if a, err = field("GenerationFieldOffsets"); err == nil {
		if p, err := target.Pointer(mem, a); err == nil {
			if b, err := target.Bytes(mem, p, 12); err == nil {
				for i := range offsets {
					offsets[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
				}
			}
		}
	}
	e.gc.member("Generation", "AllocationContext", offsets[0])
	e.gc.member("Generation", "StartSegment", offsets[1])
	if offsets[2] >= 0 {
		e.gc.member("Generation", "AllocationStart", offsets[2])
	}
	e.gc.member("CFinalize", "FillPointers", 0)
	return nil
}

func (e *eleven) serverHeap(field func(string) (target.Addr, error)) error {
	a, err := field("GCHeapFieldOffsets")
	if err != nil {
		return err
	}
	p, err := target.Pointer(e.rt.Memory(), a)
	if err != nil {
		return err
	}
	for name, k := range gcHeapFields {
		off, err := target.Uint32(e.rt.Memory(), p+target.Addr(4*k))
		if err != nil {
			return err
		}
		e.gc.member("GCHeap", name, int32(off))
	}
	return nil
}

// handles publishes the map of handle tables. In 11 all maps have one length, so the dump may have
// only one map.
func (e *eleven) handles(field func(string) (target.Addr, error)) error {
	mem := e.rt.Memory()
	a, err := field("HandleTableMap")
	if err != nil {
		return err
	}
	p, err := target.Pointer(mem, a)
	if err != nil {
		return err
	}
	off, err := e.l.Offset("HandleTableMap", "MaxIndex")
	if err != nil {
		return err
	}
	n, err := target.Uint32(mem, p+target.Addr(off))
	if err != nil {
		n = 10 // without handles any length is valid
	}
	e.gc.Globals["HandleTableMap"] = e.gc.variable(p)
	e.gc.Globals["InitialHandleTableArraySize"] = []any{n, "uint32"}
	return nil
}

// exceptions replaces handles to exception objects by the objects.
func (e *eleven) exceptions() error {
	threads, err := e.rt.Threads()
	if err != nil {
		return err
	}
	off, err := e.l.Offset("ExceptionInfo", "ThrownObject")
	if err != nil {
		return err
	}
	for i := range threads {
		states, _ := e.rt.ExceptionStates(&threads[i])
		for _, s := range states {
			if s.Thrown != 0 {
				e.write(s.Addr+target.Addr(off), uint64(s.Thrown))
			}
		}
	}
	return nil
}

// assemblies replaces the DomainAssemblys in the list of assemblies by Assemblys.
func (e *eleven) assemblies() error {
	mem := e.rt.Memory()
	domain, err := e.rt.GlobalPointer("AppDomain")
	if err != nil {
		return err
	}
	var o struct {
		AppDomain struct {
			List int `layout:"DomainAssemblyList"`
		}
		ArrayListBase struct {
			Count int `layout:"Count"`
			First int `layout:"FirstBlock"`
		}
		ArrayListBlock struct {
			Next  int `layout:"Next"`
			Size  int `layout:"Size"`
			Items int `layout:"ArrayStart"`
		}
		DomainAssembly struct {
			Assembly int `layout:"Assembly"`
		}
	}
	if err := e.l.BindAll(&o); err != nil {
		return err
	}
	list := domain + target.Addr(o.AppDomain.List)
	for block := list + target.Addr(o.ArrayListBase.First); block != 0; {
		size, err := target.Uint32(mem, block+target.Addr(o.ArrayListBlock.Size))
		if err != nil {
			return err
		}
		for i := range target.Addr(size) {
			slot := block + target.Addr(o.ArrayListBlock.Items) + 8*i
			item, err := target.Pointer(mem, slot)
			if err != nil || item == 0 {
				continue
			}
			assembly, err := target.Pointer(mem, item+target.Addr(o.DomainAssembly.Assembly))
			if err == nil {
				e.write(slot, uint64(assembly))
			}
		}
		if block, err = target.Pointer(mem, block+target.Addr(o.ArrayListBlock.Next)); err != nil {
			return err
		}
	}
	return nil
}

// syncBlocks replaces locks without waiters by thin locks, which 11 keeps in a sync block until
// threads compete, and the others by handles to Locks.
func (e *eleven) syncBlocks() error {
	owner, err := e.l.Uint("ThinLockThreadIdBits")
	if err != nil {
		return err
	}
	var locks map[target.Addr]target.Addr
	if e.changes.Monitors {
		if locks, err = e.managedMonitors(); err != nil {
			return err
		}
	}
	for b, err := range e.rt.SyncBlocks() {
		if err != nil || b.Addr == 0 {
			continue
		}
		thin, lock := uint64(0), uint64(0)
		switch {
		case locks[b.Addr] != 0:
			lock = uint64(e.add(binary.LittleEndian.AppendUint64(nil, uint64(locks[b.Addr]))))
		case b.Held:
			thin = uint64(b.OwnerID) | uint64(max(b.Recursion, 1)-1)<<owner
		}
		e.write(b.Addr, thin, lock)
	}
	return nil
}

// publish writes the descriptors and their headers.
func (e *eleven) publish() error {
	inst := e.rt.Instance()
	rva, _, err := inst.Image.Symbol("DotNetRuntimeContractDescriptor")
	if err != nil {
		return err
	}
	_, gcHeader, err := e.header(e.gc)
	if err != nil {
		return err
	}
	header := e.add(gcHeader)
	variable := e.add(binary.LittleEndian.AppendUint64(nil, uint64(header)))
	e.main.SubDescriptors = map[string]any{"GC": e.main.variable(variable)}
	_, mainHeader, err := e.header(e.main)
	if err != nil {
		return err
	}
	e.damage = append(e.damage, testcase.Damage{At: inst.Module.Base + target.Addr(rva), Bytes: mainHeader})
	return e.unknownBuild()
}

// header writes a descriptor's text and pointers and returns their header.
func (e *eleven) header(d *descriptor) (text []byte, header []byte, err error) {
	if text, err = json.Marshal(d); err != nil {
		return nil, nil, err
	}
	var data []byte
	for _, a := range d.pointers {
		data = binary.LittleEndian.AppendUint64(data, uint64(a))
	}
	const magic = 0x0043414443434e44
	header = binary.LittleEndian.AppendUint64(nil, magic)
	header = binary.LittleEndian.AppendUint32(header, 1)
	header = binary.LittleEndian.AppendUint32(header, uint32(len(text)))
	header = binary.LittleEndian.AppendUint64(header, uint64(e.add(text)))
	header = binary.LittleEndian.AppendUint32(header, uint32(len(d.pointers)))
	header = binary.LittleEndian.AppendUint32(header, 0)
	return text, binary.LittleEndian.AppendUint64(header, uint64(e.add(data))), nil
}

// ofUnknownBuild copies a minidump and changes the time stamp that its list of modules has for m, so that the build is in no table.
func ofUnknownBuild(t testing.TB, file string, m *target.Module) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	start := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(m.Base)), m.SizeOfImage) // of a MINIDUMP_MODULE
	at := bytes.Index(raw, start)
	if at < 0 {
		t.Fatalf("%s is not in the list of modules of %s", m.Path, file)
	}
	stamp := raw[at+len(start)+4:]
	binary.LittleEndian.PutUint32(stamp, ^binary.LittleEndian.Uint32(stamp))
	changed := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(changed, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return changed
}

// unknownBuild changes the build id of a runtime that has one, so that it is in no table.
func (e *eleven) unknownBuild() error {
	inst := e.rt.Instance()
	id := inst.Identity.BuildID
	if len(id) == 0 {
		return nil
	}
	const headers = 4096
	b, err := target.Bytes(e.rt.Memory(), inst.Module.Base, headers)
	if err != nil {
		return err
	}
	at := bytes.Index(b, id)
	if at < 0 {
		return fmt.Errorf("the build id is not in the first page of %s", inst.Module.Path)
	}
	other := slices.Clone(id)
	for i := range other {
		other[i] ^= 0xff
	}
	e.damage = append(e.damage, testcase.Damage{At: inst.Module.Base + target.Addr(at), Bytes: other})
	return nil
}
