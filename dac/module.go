package dac

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Module is a managed module (ceeload.h). Its methods read the dump when they are called and cache their
// results. It is safe for concurrent use. Verified on 3.1, 6, 8, 9 and 10.
type Module struct {
	Addr       target.Addr
	Assembly   target.Addr
	PEAssembly target.Addr
	Flags      uint32

	r       *Runtime
	image   lazy.Value[*image.Image]
	proof   lazy.Value[Proof]
	base    lazy.Value[target.Range]
	path    lazy.Value[string]
	meta    lazy.Value[*metadata.Metadata]
	pdb     lazy.Value[*PDB]
	build   lazy.Value[string]
	blobs   lazy.Value[map[metadata.Token]target.Addr]
	maps    [MapILVersions + 1]lazy.Value[[]lookupPart]
	defined lazy.Value[map[target.Addr]uint32]
	agreed  sync.Map // classToken -> struct{}: their members were compared
	arities sync.Map // metadata.Token of a generic type -> int
	where   MetadataSource
}

// A MetadataSource locates the metadata of a module.
type MetadataSource struct {
	Addr target.Addr // in the target, 0 if all of it came from a file
	Size uint64
	Path string // file that completed the dump, or ""
}

// Module returns the module at a. The proof is the runtime's list of loaded modules or the module's vtable. If
// parts of the list are not in the dump, an image of the process at the module's place suffices; otherwise the
// error is target.ErrNotInDump. It returns a *target.AddressError if something contradicts, such as a vtable
// outside the runtime, with a *ForeignError for a module of another runtime.
func (r *Runtime) Module(a target.Addr) (*Module, error) {
	m, err := r.provenModule(a)
	return m, target.WrongAddress(err)
}

// provenModule is Module for an address in the process's memory: one that is wrong is target.ErrCorrupt.
func (r *Runtime) provenModule(a target.Addr) (*Module, error) {
	if canonical(a) {
		if other := r.owner(a); other != nil {
			return nil, &ForeignError{Addr: a, What: "Module", Owner: other}
		}
	}
	m, err := r.TrustedModule(a)
	if err == nil {
		_, err = m.proved()
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// proved returns the proof of the module, or an error without one.
func (m *Module) proved() (Proof, error) { return m.proof.Get(m.prove) }

// TrustedModule returns the module at an address in the runtime's own structures. It does not require a proof.
func (r *Runtime) TrustedModule(a target.Addr) (*Module, error) {
	if err := r.Check(FeatureModules); err != nil {
		return nil, err
	}
	if m, ok := r.modules.Load(a); ok {
		return m.(*Module), nil
	}
	m, err := r.readModule(a)
	if err != nil {
		return nil, fmt.Errorf("Module %016x: %w", uint64(a), err)
	}
	kept, _ := r.modules.LoadOrStore(a, m)
	return kept.(*Module), nil
}

func (r *Runtime) readModule(a target.Addr) (*Module, error) {
	if !canonical(a) {
		return nil, target.Corruptf("not a Module")
	}
	o := &r.off.Module
	rd := layout.Reader{Mem: r.mem, Base: a}
	m := &Module{Addr: a, r: r, Assembly: rd.Ptr(o.Assembly), Flags: rd.U32(o.Flags), PEAssembly: rd.Ptr(o.PEAssembly)}
	if rd.Err != nil {
		return nil, rd.Err
	}
	if err := m.namedByAssembly(); err != nil && !errors.Is(err, target.ErrNotInDump) {
		return nil, err
	}
	return m, nil
}

// namedByAssembly returns an error if the module's assembly refers to another module: in .NET Core an assembly
// has one. Agreement proves nothing, because a MethodTable and its EEClass refer to each other as well.
func (m *Module) namedByAssembly() error {
	back, err := m.r.ptr(m.Assembly, m.r.off.Assembly.Module, "Assembly.Module")
	if err == nil && back != m.Addr {
		err = target.Corruptf("its Assembly %016x names the Module %016x", uint64(m.Assembly), uint64(back))
	}
	return err
}

// prove finds the proof of the module.
func (m *Module) prove() (Proof, error) {
	loaded, err := m.r.Modules()
	if slices.Contains(loaded, m) {
		return Proof{Strength: Listed, By: "the list of assemblies"}, nil
	}
	class, vtErr := m.class()
	switch {
	case vtErr != nil:
		return Proof{}, vtErr
	case class != "":
		return Proof{Strength: Consistent, By: "its vtable"}, nil
	case err != nil && m.hasImage():
		return Proof{Strength: Consistent, By: "its image", Missing: err}, nil
	case err == nil:
		err = target.Corruptf("the runtime has not loaded it")
	}
	return Proof{}, fmt.Errorf("Module %016x: nothing proves that it is one: %w", uint64(m.Addr), err)
}

// hasImage reports whether the process has loaded an image at the module's address.
func (m *Module) hasImage() bool {
	at, err := m.Image()
	if err != nil || at.Start == 0 {
		return false
	}
	tm := target.ModuleAt(m.r.Target().Modules(), at.Start)
	return tm != nil && tm.Base == at.Start
}

// moduleClasses lists the classes of modules; their first word is a vtable (ceeload.h).
var moduleClasses = []string{"Module", "EditAndContinueModule", "ReflectionModule"}

// class returns the class in moduleClasses with the vtable in the module's first word, or "" if the layout
// lacks it. It returns target.ErrCorrupt for a first word outside the runtime's image.
func (m *Module) class() (string, error) {
	vt, err := target.Pointer(m.r.mem, m.Addr)
	if err != nil {
		return "", err
	}
	if !m.r.inst.Module.Contains(vt) {
		return "", target.Corruptf("Module %016x: the vtable %016x is not the runtime's", uint64(m.Addr), uint64(vt))
	}
	for class, at := range m.r.layout.VTables {
		if vt == at && slices.Contains(moduleClasses, class) {
			return class, nil
		}
	}
	return "", nil
}

// LoaderAllocator returns the address of the allocator of the module's structures. Before 8 all modules share
// one, and the layout lacks the member.
func (m *Module) LoaderAllocator() (target.Addr, error) {
	return m.r.ptr(m.Addr, m.r.off.Module.LoaderAllocator, "Module.LoaderAllocator")
}

// Path returns the path from which the module was loaded, or "" for a module in memory.
func (m *Module) Path() (string, error) { return m.path.Get(m.readPath) }

func (m *Module) readPath() (string, error) {
	r := m.r
	unread := error(&layout.Error{Type: "PEImage", Field: "Path"})
	if r.off.Module.Path != layout.Absent {
		p, err := r.ptr(m.Addr, r.off.Module.Path, "Module.Path")
		if err == nil && p == 0 {
			return "", m.deniesNoPath()
		}
		var s string
		if err == nil {
			s, err = target.UTF16String(r.mem, p, limits.PathBytes)
		}
		if err == nil {
			return s, nil
		}
		unread = err
	}
	if m.PEAssembly == 0 {
		return "", nil
	}
	img, err := r.ptr(m.PEAssembly, r.off.PEAssembly.Image, "PEAssembly.PEImage")
	if err == nil && img == 0 {
		return "", nil // dynamic
	}
	var p target.Addr
	if off := r.off.PEImage.Path; err == nil && off == layout.Absent { // since 11
		err = unread
	} else if err == nil {
		p, err = r.ptr(img, off, "PEImage.Path")
	}
	if err == nil {
		if p == 0 {
			return "", nil
		}
		var s string
		if s, err = target.UTF16String(r.mem, p, limits.PathBytes); err == nil {
			return s, nil
		}
	}
	if !errors.Is(err, target.ErrNotInDump) {
		return "", err
	}
	// Partial dumps lack paths; the dump's own module list has them.
	if base, berr := m.Image(); berr == nil {
		if tm := target.ModuleAt(r.Target().Modules(), base.Start); tm != nil {
			return tm.Path, nil
		}
	}
	return "", fmt.Errorf("path of Module %016x: %w", uint64(m.Addr), err)
}

// deniesNoPath returns an error if the image of a module without a path has one.
func (m *Module) deniesNoPath() error {
	img, err := m.peImage()
	if err != nil || img == 0 || m.r.off.PEImage.Path == layout.Absent {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	if p, err := m.r.ptr(img, m.r.off.PEImage.Path, "PEImage.Path"); err != nil || p == 0 {
		return nil //nolint:nilerr // nor here
	} else if path, err := target.UTF16String(m.r.mem, p, limits.PathBytes); err != nil || path == "" {
		return nil //nolint:nilerr // nor here
	}
	return target.Corruptf("Module %016x has no path, and its image has one", uint64(m.Addr))
}

// SimpleName returns the name of the module's assembly, "System.Console".
func (m *Module) SimpleName() (string, error) {
	p, err := m.r.ptr(m.Addr, m.r.off.Module.SimpleName, "Module.SimpleName")
	if err == nil && p != 0 {
		if s, err := target.CString(m.r.mem, p, limits.IdentifierBytes); err == nil {
			return s, nil
		}
	}
	if md, err := m.Metadata(); err == nil {
		if row, err := md.Assembly(1); err == nil {
			if name, err := md.String(row.Name); err == nil {
				return name, nil
			}
		}
	}
	full, err := m.Path()
	if err != nil {
		return "", err
	}
	base := target.BaseName(full)
	return strings.TrimSuffix(base, path.Ext(base)), nil
}

// Image returns the range of the module's image in the target. Start is 0 for a dynamic module. End is Start if
// the length is unknown.
func (m *Module) Image() (target.Range, error) { return m.base.Get(m.readImage) }

func (m *Module) readImage() (target.Range, error) {
	r := m.r
	var base target.Addr
	var err error
	if r.off.Module.Base != layout.Absent {
		base, err = r.ptr(m.Addr, r.off.Module.Base, "Module.Base")
		if err == nil && base == 0 {
			return target.Range{}, nil
		}
	}
	lay, lerr := m.peLayout()
	if lerr != nil {
		if base != 0 {
			return target.Range{Start: base, End: base}, nil
		}
		if err == nil {
			err = lerr
		}
		return target.Range{}, err
	}
	if lay == 0 {
		return target.Range{Start: base, End: base}, nil
	}
	rd := layout.Reader{Mem: r.mem, Base: lay}
	lbase, size := rd.Ptr(r.off.PEImageLayout.Base), rd.U32(r.off.PEImageLayout.Size)
	if rd.Err != nil && base == 0 {
		return target.Range{}, rd.Err
	}
	if base == 0 {
		base = lbase
	}
	return target.RangeAt(base, uint64(size)), nil
}

// peImage returns the address of the module's PEImage, or 0.
func (m *Module) peImage() (target.Addr, error) {
	if m.PEAssembly == 0 {
		return 0, nil
	}
	return m.r.ptr(m.PEAssembly, m.r.off.PEAssembly.Image, "PEAssembly.PEImage")
}

// peLayout returns the address of the module's PEImageLayout, or 0.
func (m *Module) peLayout() (target.Addr, error) {
	img, err := m.peImage()
	if err != nil || img == 0 {
		return 0, err
	}
	return m.r.ptr(img, m.r.off.PEImage.Layout, "PEImage.LoadedImageLayout")
}

// IsDynamic reports whether Reflection.Emit made the module. From 11 on its assembly is marked; before, its
// first word is the vtable of ReflectionModule.
func (m *Module) IsDynamic() (bool, error) {
	if off := m.r.off.Assembly.IsDynamic; off != layout.Absent && m.Assembly != 0 {
		mark, err := target.Uint8(m.r.mem, m.Assembly+target.Addr(off))
		return mark != 0, err
	}
	vt, err := target.Pointer(m.r.mem, m.Addr)
	if err != nil {
		return false, err
	}
	for class, at := range m.r.layout.VTables {
		if class == "ReflectionModule" {
			return vt == at, nil
		}
	}
	return false, &layout.Error{Type: "vtable ReflectionModule"}
}

// imageModule returns the module's image as package image needs it.
func (m *Module) imageModule() (*target.Module, error) {
	at, err := m.Image()
	if err != nil {
		return nil, err
	}
	if at.Start == 0 {
		return nil, target.Unsupportedf("module %016x has no image: it was made in memory", uint64(m.Addr))
	}
	tm := &target.Module{Base: at.Start, Size: at.Size()}
	if listed := target.ModuleAt(m.r.Target().Modules(), at.Start); listed != nil && listed.Base == at.Start {
		if listed.Path != "" {
			return listed, nil
		}
		*tm = *listed // found by its headers; only the runtime identifies it
	}
	p, _ := m.Path() // the image is readable without a path
	tm.Path = p
	if offset, err := m.BundleOffset(); err == nil && offset != 0 {
		tm.Bundle = &target.InBundle{Offset: offset}
		if p == "" {
			tm.Path, _ = m.fileName()
		}
		if m.r.inst.SingleFile {
			tm.Bundle.Program = m.r.inst.Module.Path
		}
	}
	return tm, nil
}

// BundleOffset returns the offset in bytes of the module's file in the file of a single-file app. It is 0 for a
// module with its own file, or without a file.
func (m *Module) BundleOffset() (uint64, error) {
	if m.r.off.PEImage.BundleOffset == layout.Absent {
		return 0, &layout.Error{Type: "PEImage", Field: "BundleOffset"}
	}
	img, err := m.peImage()
	if err != nil || img == 0 {
		return 0, err
	}
	if at := m.r.off.PEImage.Probe; at != layout.Absent && m.r.off.ProbeResult.Type != layout.Absent {
		kind, err := target.Uint32(m.r.mem, img+target.Addr(at+m.r.off.ProbeResult.Type))
		if err != nil || kind != probedInBundle {
			return 0, err // the member is not initialized
		}
	}
	p, err := m.r.ptr(img, m.r.off.PEImage.BundleOffset, "PEImage.BundleOffset")
	if err == nil && p > limits.ModuleFile {
		err = target.Corruptf("module %016x is %d bytes into a file", uint64(m.Addr), uint64(p))
	}
	return uint64(p), err
}

// probedInBundle is ProbeExtensionResult::Type::Bundle (bundle.h) since 10.
const probedInBundle = 1

// fileName returns the last part of the path under which the runtime searched the module. An assembly in a
// bundle has a file name but no path. It returns "" for a module loaded from bytes, and if the layout lacks the
// member.
func (m *Module) fileName() (string, error) {
	r := m.r
	at, off := m.Addr, r.off.Module.FileName
	if off == layout.Absent { // before 9
		var err error
		if at, err = m.peImage(); err != nil || at == 0 {
			return "", err
		}
		off = r.off.PEImage.FileName
	}
	if off == layout.Absent {
		return "", nil
	}
	p, err := r.ptr(at, off, "Module.FileName")
	if err != nil || p == 0 {
		return "", err
	}
	return target.UTF16String(r.mem, p, limits.PathBytes)
}

// buildName identifies the module's build by the dump alone: time stamp and size, or the id of its PDB. It is the
// same with and without module files.
func (m *Module) buildName() (string, error) {
	return m.build.Get(func() (string, error) {
		tm, err := m.imageModule()
		if err != nil {
			return "", err
		}
		if id := image.IdentityOf(m.r.Target(), tm); id.TimeDateStamp != 0 && id.SizeOfImage != 0 {
			return id.String(), nil
		}
		pdb := tm.PDB
		if pdb == nil {
			im, err := image.OpenMemory(m.r.Target(), tm)
			if err != nil {
				return "", err
			}
			id, err := im.PDB()
			if err != nil {
				return "", err
			}
			pdb = &id
		}
		return fmt.Sprintf("pdb %s age %x", pdb.GUID, pdb.Age), nil
	})
}

// PEImage opens the module's image in the target, or its file if the headers are not in the dump.
func (m *Module) PEImage() (*image.Image, error) {
	return m.image.Get(func() (*image.Image, error) {
		tm, err := m.imageModule()
		if err != nil {
			return nil, err
		}
		return image.OpenMemory(m.r.mem, tm)
	})
}

// Metadata returns the module's metadata from the target's memory, or from the module's file if parts are not
// in the dump.
func (m *Module) Metadata() (*metadata.Metadata, error) {
	return m.meta.Get(func() (*metadata.Metadata, error) {
		md, err := m.readMetadata()
		if err != nil {
			return nil, fmt.Errorf("metadata of %s: %w", m.Label(), err)
		}
		return md, nil
	})
}

// MetadataSource returns where Metadata found the metadata. It is zero if Metadata failed.
func (m *Module) MetadataSource() MetadataSource {
	if _, err := m.Metadata(); err != nil {
		return MetadataSource{}
	}
	return m.where
}

// Label names the module in messages: the last part of its path, or its address.
func (m *Module) Label() string {
	if p, err := m.Path(); err == nil && p != "" {
		return target.BaseName(p)
	}
	return fmt.Sprintf("module %016x", uint64(m.Addr))
}

// metadataAddr returns the address of metadata in the target, or 0 if unknown: in a flat image it is not at its
// RVA.
func metadataAddr(img *image.Image, blob image.Metadata) target.Addr {
	a, err := img.Address(blob.RVA)
	if err != nil {
		return 0
	}
	return a
}

func (m *Module) readMetadata() (*metadata.Metadata, error) {
	at, err := m.Image()
	if err != nil {
		return nil, err
	}
	if at.Start == 0 {
		return m.dynamicMetadata()
	}
	img, err := m.PEImage()
	var blob image.Metadata
	if err == nil {
		blob, err = img.Metadata()
	}
	if err == nil && len(blob.Gaps) == 0 {
		m.where = MetadataSource{Addr: metadataAddr(img, blob), Size: uint64(len(blob.Data))}
		return metadata.Parse(blob.Data, metadata.Owner(m), metadata.Sparse(observed(m.r.mem, m.where.Addr, nil)))
	}
	// The dump's copy is incomplete. A file that is proved to be the same completes it.
	if file, ferr := m.openFile(img); ferr == nil {
		if fb, ferr := file.Metadata(); ferr == nil {
			m.where = MetadataSource{Size: uint64(len(fb.Data)), Path: file.Path()}
			if err == nil {
				m.where.Addr = metadataAddr(img, blob)
			}
			return metadata.Parse(fb.Data, metadata.Owner(m))
		}
	} else if err != nil {
		return nil, fmt.Errorf("%w; and no file has it: %w", err, ferr)
	}
	if err != nil {
		return nil, err
	}
	m.where = MetadataSource{Addr: metadataAddr(img, blob), Size: uint64(len(blob.Data))}
	return metadata.Parse(blob.Data, metadata.Sparse(observed(m.r.mem, m.where.Addr, outsideGaps(blob.Gaps))), metadata.Owner(m))
}

// A MetadataObserver is memory that observes which bytes of metadata are used: the metadata is read at once, and its rows
// later. ObserveMetadata returns a function for the metadata at an address, which is called with offsets in it.
type MetadataObserver interface {
	ObserveMetadata(at target.Addr) func(off, n int)
}

// observed returns available, which may be nil, for the metadata at a in mem. It reports uses to an observer, if there is one.
func observed(mem target.Memory, a target.Addr, available func(off, n int) bool) func(off, n int) bool {
	o, ok := mem.(MetadataObserver)
	if !ok || a == 0 {
		return available
	}
	use := o.ObserveMetadata(a)
	return func(off, n int) bool {
		use(off, n)
		return available == nil || available(off, n)
	}
}

// outsideGaps returns a function that reports whether a part of a blob is outside all gaps.
func outsideGaps(gaps []image.Gap) func(off, n int) bool {
	return func(off, n int) bool {
		// gaps are sorted: the first that ends after off decides
		i := sort.Search(len(gaps), func(i int) bool { return gaps[i].Off+gaps[i].Len > off })
		return i == len(gaps) || gaps[i].Off >= off+n
	}
}

// openFile opens the module's file on this machine. img is the module's image in the target, or nil. It returns
// target.ErrNotInDump if module files are not in use.
func (m *Module) openFile(img *image.Image) (*image.Image, error) {
	if m.r.files == nil {
		return nil, target.ErrNotInDump
	}
	tm, err := m.imageModule()
	if err != nil {
		return nil, err
	}
	return m.r.files.File(tm, img)
}

// openFileOf opens the file of another module of m's process on this machine, such as the composite image with m's
// code. It returns target.ErrNotInDump if module files are not in use.
func (m *Module) openFileOf(tm *target.Module) (*image.Image, error) {
	if m.r.files == nil {
		return nil, target.ErrNotInDump
	}
	return m.r.files.File(tm, nil)
}

// dynamicMetadata reads the metadata that the runtime saved for debuggers from a Reflection.Emit module: its
// size, followed by the metadata.
func (m *Module) dynamicMetadata() (*metadata.Metadata, error) {
	r := m.r
	p, err := r.ptr(m.Addr, r.off.Module.DynamicMetadata, "Module.DynamicMetadata")
	if err != nil {
		return nil, err
	}
	if p == 0 {
		return nil, target.Unsupportedf("the module was made in memory and the runtime saved no metadata of it")
	}
	size, err := r.u32(p, r.off.DynamicMetadata.Size, "DynamicMetadata.Size")
	if err != nil {
		return nil, err
	}
	if uint64(size) > limits.MetadataSize || !target.Available(r.mem, p, 4) {
		return nil, target.Corruptf("dynamic metadata of %d bytes", size)
	}
	at := p + target.Addr(r.off.DynamicMetadata.Data)
	// Check the size against the dump before allocating.
	if uint64(len(r.mem.Span(at))) < uint64(size) && !target.Available(r.mem, at+target.Addr(size)-1, 1) {
		return nil, &target.MemoryError{Addr: at, Size: int(size), Err: target.ErrNotInDump}
	}
	b, err := target.Bytes(r.mem, at, int(size))
	if err != nil {
		return nil, err
	}
	m.where = MetadataSource{Addr: at, Size: uint64(size)}
	return metadata.Parse(b, metadata.Owner(m))
}

// A Map is one of a module's tables from metadata rows to structures.
type Map int

// The lookup maps of a Module (ceeload.h, LookupMap).
const (
	MapTypeDef Map = iota
	MapTypeRef
	MapMethodDef
	MapFieldDef
	MapMemberRef
	MapFileRef
	MapAssemblyRef
	MapILVersions // methods to ILCodeVersioningState; only for methods with replaced IL
)

// MapAddr returns the address of a lookup map. It is part of the Module.
func (m *Module) MapAddr(k Map) (target.Addr, error) {
	o := &m.r.off.Module
	off := [...]int{o.TypeDefs, o.TypeRefs, o.MethodDefs, o.FieldDefs, o.MemberRefs, o.FileRefs, o.AssemblyRefs, o.ILVersions}[k]
	if off == layout.Absent {
		return 0, &layout.Error{Type: "Module", Field: fmt.Sprintf("lookup map %d", k)}
	}
	return m.Addr + target.Addr(off), nil
}

// Lookup returns the entry of a row in a lookup map, or 0 if the entry is empty.
func (m *Module) Lookup(k Map, rid uint32) (target.Addr, error) {
	parts, err := m.lookupParts(k)
	i, ok := slices.BinarySearchFunc(parts, rid, lookupPart.compare)
	if !ok {
		return 0, err
	}
	v, err := target.Pointer(m.r.mem, parts[i].table+target.Addr(8*(rid-parts[i].first)))
	return v &^ parts[i].mask, err
}

// lookupParts returns the parts of a lookup map, by row. If a part is unreadable or repeated, or if the rows are too many,
// it returns the parts before that one and the error.
func (m *Module) lookupParts(k Map) ([]lookupPart, error) {
	return m.maps[k].Get(func() (parts []lookupPart, err error) {
		at, err := m.MapAddr(k)
		if err != nil {
			return nil, err
		}
		first, chain := uint32(0), cycle{}
		for at != 0 {
			if chain.closes(at) || len(parts) == limits.LookupMapParts {
				return parts, target.Corruptf("lookup map of module %016x has no end", uint64(m.Addr))
			}
			part, err := m.r.lookupPart(at)
			if err == nil && part.count > limits.LookupMapEntries-first {
				err = target.Corruptf("lookup map of module %016x has more than %d entries", uint64(m.Addr), limits.LookupMapEntries)
			}
			if err != nil {
				return parts, err
			}
			part.first = first
			parts = append(parts, part)
			first, at = first+part.count, part.next
		}
		return parts, nil
	})
}

type lookupPart struct {
	next, table target.Addr
	first       uint32 // row of its first entry
	count       uint32
	mask        target.Addr
}

// compare orders p and a row: it returns 0 if p has an entry for the row.
func (p lookupPart) compare(rid uint32) int {
	switch {
	case rid < p.first:
		return 1
	case rid-p.first >= p.count:
		return -1
	}
	return 0
}

func (r *Runtime) lookupPart(at target.Addr) (lookupPart, error) {
	o := &r.off.LookupMap
	rd := layout.Reader{Mem: r.mem, Base: at}
	p := lookupPart{next: rd.Ptr(o.Next), table: rd.Ptr(o.TableData), count: rd.U32(o.Count), mask: rd.Ptr(o.Mask)}
	if rd.Err == nil && p.count > limits.LookupMapEntries {
		return p, target.Corruptf("lookup map at %#x has %d entries", uint64(at), p.count)
	}
	return p, rd.Err
}

// Entries iterates over the filled entries of a lookup map. It yields an error for an unreadable part and
// continues. It ends with target.ErrCorrupt if the map has more rows than the metadata.
func (m *Module) Entries(k Map) iter.Seq2[MapEntry, error] {
	return func(yield func(MapEntry, error) bool) {
		rows := m.rows(k)
		parts, err := m.lookupParts(k)
		for i := range parts {
			if !m.entries(&parts[i], rows, yield) {
				return
			}
		}
		if err != nil {
			yield(MapEntry{}, err)
		}
	}
}

// entries yields the entries of one part. It returns false to stop.
func (m *Module) entries(part *lookupPart, rows uint32, yield func(MapEntry, error) bool) bool {
	w := target.NewWindow(m.r.mem)
	for i := range part.count {
		row := part.first + i
		v, err := w.Uint64(part.table + target.Addr(8*i))
		if err != nil {
			return yield(MapEntry{Row: row}, err)
		}
		a := target.Addr(v) &^ part.mask
		if a != 0 && row > rows {
			yield(MapEntry{Row: row}, target.Corruptf("lookup map of module %016x has row %d of %d", uint64(m.Addr), row, rows))
			return false
		}
		if a != 0 && !yield(MapEntry{row, a}, nil) {
			return false
		}
	}
	return true
}

// mapTables lists the metadata tables that index the maps.
var mapTables = [...]metadata.TableID{metadata.TableTypeDef, metadata.TableTypeRef, metadata.TableMethodDef, metadata.TableField,
	metadata.TableMemberRef, metadata.TableFile, metadata.TableAssemblyRef, metadata.TableMethodDef}

// rows returns the largest number of rows of a lookup map: the metadata's, if it is known and cannot change.
func (m *Module) rows(k Map) uint32 {
	at, err := m.Image()
	if err != nil || at.Start == 0 || m.Flags&moduleEdited != 0 {
		return limits.LookupMapEntries // made or changed at run time: the metadata may be older than the map
	}
	md, err := m.Metadata()
	if err != nil {
		return limits.LookupMapEntries
	}
	return md.RowCount(mapTables[k])
}

// mayHave reports whether the module can have a token: its metadata has the row, or is unreadable.
func (m *Module) mayHave(t metadata.Token) bool {
	if m.Flags&moduleEdited != 0 {
		return true
	}
	md, err := m.Metadata()
	if err != nil {
		return true
	}
	if at, err := m.Image(); err != nil || at.Start == 0 {
		return true // types and methods are added at run time
	}
	return t.Row() <= md.RowCount(t.Table())
}

// moduleEdited is the bit of Module::m_dwTransientFlags for a module with code that can be edited while it runs
// (ceeload.h, IS_EDIT_AND_CONTINUE).
const moduleEdited = 0x8

// editable reports whether the code and metadata of the module can be changed while it runs (Edit and Continue,
// hot reload). The changes are not read: the image has the original code.
func (m *Module) editable() bool { return m.Flags&moduleEdited != 0 }

// A MapEntry is one filled entry of a lookup map.
type MapEntry struct {
	Row   uint32
	Value target.Addr
}
