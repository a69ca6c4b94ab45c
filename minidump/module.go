package minidump

import (
	"fmt"
	"sort"

	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// Sizes of MINIDUMP_MODULE, MINIDUMP_UNLOADED_MODULE_LIST and
// MINIDUMP_UNLOADED_MODULE.
const (
	moduleSize             = 108
	unloadedModuleListSize = 12
	unloadedModuleSize     = 24
)

// VS_FIXEDFILEINFO.dwSignature (verrsrc.h): what lies there is a version.
const fixedFileInfoSignature = 0xfeef04bd

// A CodeView record of the form RSDS has a GUID and an age before the path.
const (
	codeViewRSDS     = "RSDS"
	codeViewRSDSSize = 24
)

// moduleList is the module list and the first module of the dump's own order,
// which is the program itself.
type moduleList struct {
	sorted  []target.Module
	program string
}

// Modules implements target.Target. A module's Size and SizeOfImage are those
// of the module list; Mappings is empty: the loader of Windows maps an image
// as a whole. The caller must not change the slice.
func (f *File) Modules() []target.Module { return f.modules.get(f.loadModules).sorted }

func (f *File) loadModules(n *notes) moduleList {
	s, ok := f.section(ModuleListStream, n)
	if !ok {
		n.add(fmt.Errorf("minidump: module list: %w", target.ErrNotInDump))
		return moduleList{}
	}
	t := s.list(moduleSize, limits.Modules, n)
	r := f.names(s.name)
	modules := make([]target.Module, 0, t.len())
	for i := range t.len() {
		modules = append(modules, f.module(t.at(i), r, n))
	}
	list := moduleList{sorted: modules}
	if len(modules) > 0 {
		list.program = modules[0].Path
	}
	sort.SliceStable(modules, func(i, j int) bool { return modules[i].Base < modules[j].Base })
	for i := 1; i < len(modules); i++ {
		if p, m := &modules[i-1], &modules[i]; p.Contains(m.Base) {
			n.add(target.Corruptf("minidump: modules %q at %#x and %q at %#x overlap", p.Path, uint64(p.Base), m.Path, uint64(m.Base)))
		}
	}
	return list
}

// module decodes the MINIDUMP_MODULE e.
func (f *File) module(e []byte, r *nameReader, n *notes) target.Module {
	size := le.Uint32(e[8:])
	m := target.Module{
		Base:          f.addr(le.Uint64(e)),
		Listed:        true,
		Size:          uint64(size),
		SizeOfImage:   size,
		CheckSum:      le.Uint32(e[12:]),
		TimeDateStamp: le.Uint32(e[16:]),
	}
	var err error
	if m.Path, err = r.string(le.Uint32(e[20:])); err != nil {
		n.add(fmt.Errorf("module at %#x: name: %w", uint64(m.Base), err))
	}
	if v := e[24:]; le.Uint32(v) == fixedFileInfoSignature {
		high, low := le.Uint32(v[8:]), le.Uint32(v[12:])
		m.Version = [4]uint16{uint16(high >> 16), uint16(high), uint16(low >> 16), uint16(low)}
	}
	if m.PDB, err = r.pdb(locationAt(e[76:])); err != nil {
		n.add(fmt.Errorf("module at %#x: CodeView record: %w", uint64(m.Base), err))
	}
	return m
}

// pdb reads the CodeView record at loc. Records of other forms than RSDS
// identify no file that .NET images have; they give nil, as no record does.
func (r *nameReader) pdb(loc location) (*target.PDBID, error) {
	if loc.size == 0 {
		return nil, nil
	}
	if loc.size > codeViewRSDSSize+limits.PathBytes {
		return nil, &FormatError{Stream: r.stream, Off: int64(loc.rva), Msg: fmt.Sprintf("CodeView record of %d bytes", loc.size)}
	}
	b, err := r.bytes(loc.rva, int64(loc.size))
	if err != nil {
		return nil, err
	}
	if len(b) < codeViewRSDSSize || string(b[:4]) != codeViewRSDS {
		return nil, nil
	}
	return &target.PDBID{
		GUID: [16]byte(b[4:20]),
		Age:  le.Uint32(b[20:]),
		Path: decodeBytes(b[codeViewRSDSSize:]),
	}, nil
}

// An UnloadedModule is an image that was unloaded before the dump was written
// (MINIDUMP_UNLOADED_MODULE). Its addresses may since belong to another.
type UnloadedModule struct {
	Base          target.Addr
	Size          uint32 // bytes
	CheckSum      uint32
	TimeDateStamp uint32
	Path          string
}

// UnloadedModules lists the unloaded modules in the dump's order. The caller
// must not change the slice.
func (f *File) UnloadedModules() []UnloadedModule { return f.unloaded.get(f.loadUnloaded) }

func (f *File) loadUnloaded(n *notes) []UnloadedModule {
	s, ok := f.section(UnloadedModuleListStream, n)
	if !ok {
		return nil
	}
	t := s.headed(unloadedModuleListSize, unloadedModuleSize, false, limits.Modules, n)
	r := f.names(s.name)
	out := make([]UnloadedModule, t.len())
	for i := range out {
		e := t.at(i)
		path, err := r.string(le.Uint32(e[20:]))
		if err != nil {
			n.add(fmt.Errorf("unloaded module at %#x: name: %w", le.Uint64(e), err))
		}
		out[i] = UnloadedModule{
			Base:          f.addr(le.Uint64(e)),
			Size:          le.Uint32(e[8:]),
			CheckSum:      le.Uint32(e[12:]),
			TimeDateStamp: le.Uint32(e[16:]),
			Path:          path,
		}
	}
	return out
}
