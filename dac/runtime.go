// Package dac reads the structures of a .NET runtime from a dumped process: types, modules, threads, frames,
// exceptions, methods and their code. It replaces the runtime's own data-access library (the "DAC"), and its names are
// the runtime's: MethodTable, EEClass, MethodDesc. It does not read objects (package objects) or the GC heap (package
// heap), and does not walk stacks (package stackwalk).
//
// Start at Find, which returns the runtimes of a process, and Instance.Open, which chooses the layout of one
// and returns a Runtime. A layout (package internal/files/layout) has the offsets of members; no code depends
// on a version. kind.go shows what NativeAOT does differently (nativeaot*.go).
//
// CodeOf returns the CodeReader of a Runtime. It finds the method at an address (CodeReader.MethodAt), the versions of its
// code, its names, signature and IL, the compiler's records about the code, and source lines.
//
// A Runtime and a CodeReader are safe for concurrent use.
//
// Stability: stable.
package dac

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Runtime is one CLR of a dumped process, opened with a layout that fits it.
type Runtime struct {
	inst   *Instance
	tgt    target.Target
	mem    target.Memory
	layout layout.Layout
	off    offsets
	files  ModuleFiles
	probes []Probe
	places *slotPlaces // of the globals in the runtime's table; may be nil

	measuredOn string // major version of the layout's tables, "8.0"
	lender     string // processor of the layout's table, if the process has another

	impl      kind
	lacks     [features]error // why the runtime lacks each Feature, nil if it has it
	known     WellKnown
	consts    constants
	mts       mtCache
	modules   sync.Map // target.Addr -> *Module
	names     nameCache
	threads   lazy.Value[threadList]
	assembled lazy.Value[[]*Module]
	above     sync.Map // *perRuntime -> any: values of keptPerRuntime
	frames    lazy.Value[*frameLayout]
	built     lazy.Value[*constructedIndex]
	corTypes  lazy.Value[map[metadata.ElementType]corType]
	loader    lazy.Value[*loaderOffsets]
	gcChain   lazy.Value[int] // offset of the chain of GCFrames in Thread
	syncLocks lazy.Value[syncLocks]
	managed   sync.Map     // places of fields; see bindManaged
	pdbBytes  atomic.Int64 // of the embedded PDBs that are kept
}

// A ModuleFiles finds the files of modules on this machine. Implementations verify a file before they return
// it.
type ModuleFiles interface {
	// File opens the file of m. Its error lists the places that were searched. img is the image of m in the
	// target, or nil.
	File(m *target.Module, img *image.Image) (*image.Image, error)
}

// WellKnown holds MethodTables that the runtime's globals identify, 0 for unknown ones.
type WellKnown struct {
	Object, String, Exception, Free target.Addr
}

// constants are numbers of the layout that readers use often.
type constants struct {
	canonTag         uint64 // of MethodTable.EEClassOrCanonMT
	objectMask       uint64 // bits of an object's first word that do not belong to the MethodTable's address
	tokenInFlags2    bool
	collectible      uint32
	thinLockOwner    uint32 // mask
	thinLockEntries  uint32 // mask of the recursion
	thinLockShift    uint   // of the recursion
	objectHeaderSize int
}

// Instance returns the runtime as Find found it.
func (r *Runtime) Instance() *Instance { return r.inst }

// Target returns the process.
func (r *Runtime) Target() target.Target { return r.tgt }

// Memory returns the process's memory, completed with read-only parts of module files.
func (r *Runtime) Memory() target.Memory { return r.mem }

// Layout returns the layout of the runtime's structures.
func (r *Runtime) Layout() Layout { return &r.layout }

// A Layout has the offsets, sizes and addresses of a runtime's structures. They come from a contract descriptor
// and the tables of known builds. Methods return target.ErrUnsupported for a missing member. DescribeLayout
// lists all members.
type Layout interface {
	// Bind sets the fields with layout tags of the struct that into points to. Each gets the offset of a member
	// of the structure typ. BindAll does so for each struct in into, by structure.
	Bind(typ string, into any) error
	BindAll(into any) error
	// Offset returns the offset of a member in its structure, and Size the size of a structure, in bytes.
	Offset(typ, field string) (int, error)
	Size(typ string) (int, error)
	// Variable returns the address of a variable of the runtime.
	Variable(name string) (target.Addr, error)
	// Uint returns a number, and Text a string. Constant decodes any other constant into v, as encoding/json
	// does.
	Uint(name string) (uint64, error)
	Text(name string) (string, error)
	Constant(name string, v any) error
	// Sources lists the sources of the layout in the order of precedence.
	Sources() []string
}

// Probes lists the checks that the layout passed when the runtime was opened.
func (r *Runtime) Probes() []Probe { return slices.Clone(r.probes) }

// WellKnown returns the MethodTables that the runtime's globals identify.
func (r *Runtime) WellKnown() WellKnown { return r.known }

// newRuntime opens inst with l. It fails if l lacks a required member or global.
func newRuntime(inst *Instance, mem target.Memory, l *layout.Layout, files ModuleFiles) (*Runtime, error) {
	r := &Runtime{inst: inst, tgt: inst.tgt, mem: mem, layout: *l, files: files}
	r.impl = clr{r}
	if err := r.off.bind(l); err != nil {
		return nil, err
	}
	for f, contract := range contractOf {
		r.lacks[f] = l.Refused(contract)
	}
	if err := r.readConstants(); err != nil {
		return nil, err
	}
	var err error
	for _, g := range []struct {
		name string
		dst  *target.Addr
	}{
		{"ObjectMethodTable", &r.known.Object},
		{"StringMethodTable", &r.known.String},
		{"ExceptionMethodTable", &r.known.Exception},
		{"FreeObjectMethodTable", &r.known.Free},
	} {
		if *g.dst, err = r.GlobalPointer(g.name); err != nil && (g.name == "ObjectMethodTable" || g.name == "FreeObjectMethodTable") {
			return nil, err
		}
	}
	return r, nil
}

func (r *Runtime) readConstants() error {
	c := &r.consts
	for _, k := range []struct {
		name string
		set  func(uint64)
	}{
		{"CanonMTTagMask", func(v uint64) { c.canonTag = v }},
		{"ObjectToMethodTableUnmask", func(v uint64) { c.objectMask = v }},
		{"MTFlagCollectible", func(v uint64) { c.collectible = uint32(v) }},
		{"ObjectHeaderSize", func(v uint64) { c.objectHeaderSize = int(v) }},
	} {
		v, err := r.layout.Uint(k.name)
		if err != nil {
			if k.name == "ObjectHeaderSize" || k.name == "ObjectToMethodTableUnmask" {
				// The descriptor of 9 lacks both. They follow from the 64-bit ABI: one pointer before the
				// object, and three low bits for the GC's marks.
				v = map[string]uint64{"ObjectHeaderSize": 8, "ObjectToMethodTableUnmask": 7}[k.name]
			} else {
				return err
			}
		}
		k.set(v)
	}
	if err := r.thinLockMasks(); err != nil {
		return err
	}
	return r.layout.Constant("TypeTokenInFlags2", &c.tokenInFlags2)
}

// thinLockMasks reads the parts of a thin lock: the runtime's own masks (contract SyncBlock, since 11), or the
// numbers of bits in the table.
func (r *Runtime) thinLockMasks() error {
	c := &r.consts
	number := func(name string, dst *uint64) (err error) {
		*dst, err = r.layout.Uint(name)
		return err
	}
	var owner, entries, shift uint64
	if number("SyncBlockMaskLockThreadId", &owner) == nil && number("SyncBlockMaskLockRecursionLevel", &entries) == nil && number("SyncBlockRecursionLevelShift", &shift) == nil {
		c.thinLockOwner, c.thinLockEntries, c.thinLockShift = uint32(owner), uint32(entries), uint(shift)&31
		return nil
	}
	var ownerBits, entryBits uint64
	if err := errors.Join(number("ThinLockThreadIdBits", &ownerBits), number("ThinLockRecursionBits", &entryBits)); err != nil {
		return err
	}
	c.thinLockShift = uint(ownerBits) & 31
	c.thinLockOwner = 1<<c.thinLockShift - 1
	c.thinLockEntries = (1<<(entryBits&31) - 1) << c.thinLockShift
	return nil
}

// GlobalPointer reads the runtime's pointer variable that the layout calls name.
func (r *Runtime) GlobalPointer(name string) (target.Addr, error) {
	at, err := r.layout.Variable(name)
	if err != nil {
		return 0, err
	}
	return target.Pointer(r.mem, at)
}

// ptr reads the pointer member at offset off of the structure at a.
func (r *Runtime) ptr(a target.Addr, off int, what string) (target.Addr, error) {
	if off == layout.Absent {
		return 0, r.absent(what)
	}
	return layout.Pointer(r.mem, a, off, what)
}

// u32 reads the 32-bit member at offset off of the structure at a.
func (r *Runtime) u32(a target.Addr, off int, what string) (uint32, error) {
	if off == layout.Absent {
		return 0, r.absent(what)
	}
	return layout.Uint32(r.mem, a, off, what)
}

// absent returns the error for a member that the layout lacks ("Thread.GCFrame").
func (r *Runtime) absent(member string) error {
	typ, field, _ := strings.Cut(member, ".")
	_, err := r.layout.Offset(typ, field)
	return cmp.Or(err, error(&layout.Error{Type: member}))
}

// keptPerRuntime returns a function that returns the T of a runtime. The first call for a runtime makes the T,
// which lives as long as the runtime. Readers with shared state are kept so:
//
//	var readers = keptPerRuntime(newReader)
//
// If two calls make a T at the same time, one T is dropped. make should only allocate.
func keptPerRuntime[T any](make func(*Runtime) *T) func(*Runtime) *T {
	key := new(perRuntime)
	return func(r *Runtime) *T {
		if v, ok := r.above.Load(key); ok {
			return v.(*T)
		}
		v, _ := r.above.LoadOrStore(key, make(r))
		return v.(*T)
	}
}

// A perRuntime identifies one call of keptPerRuntime.
type perRuntime struct{ _ byte }
