package minidump

import (
	"fmt"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Sizes of MINIDUMP_MODULE, MINIDUMP_UNLOADED_MODULE_LIST and MINIDUMP_UNLOADED_MODULE.
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

// A CodeView record of Breakpad for ELF images has the build id, as long as it is (MDCVInfoELF).
const codeViewBuildID = "LEpB"

// moduleList is the module list, and the paths in the dump's own order, the first of which is the program itself.
type moduleList struct {
	sorted []target.Module
	listed []string
}

func (l *moduleList) program() string {
	if len(l.listed) == 0 {
		return ""
	}
	return l.listed[0]
}

// Modules implements target.Target. A module's Size and SizeOfImage are those of the module list. Mappings is empty for a process of
// Windows, whose loader maps an image as a whole, and if the dump has no /proc/PID/maps. The caller must not change the slice.
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
	list := moduleList{sorted: modules, listed: make([]string, len(modules))}
	for i := range modules {
		list.listed[i] = modules[i].Path
	}
	sort.SliceStable(modules, func(i, j int) bool { return modules[i].Base < modules[j].Base })
	for i := 1; i < len(modules); i++ {
		if p, m := &modules[i-1], &modules[i]; p.Contains(m.Base) {
			n.add(target.Corruptf("minidump: modules %q at %#x and %q at %#x overlap", p.Path, uint64(p.Base), m.Path, uint64(m.Base)))
		}
	}
	f.mapped(modules)
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
	if err = f.codeView(&m, r, locationAt(e[76:])); err != nil {
		n.add(fmt.Errorf("module at %#x: CodeView record: %w", uint64(m.Base), err))
	}
	// An ELF or Mach-O image has no SizeOfImage that would identify it. Modules of Wine or of .NET have the stamp of their PE image.
	if f.foreign() && m.TimeDateStamp == 0 {
		m.SizeOfImage = 0
	}
	return m
}

// foreign reports whether the process was one of another system than Windows.
func (f *File) foreign() bool {
	return f.platform.OS != target.OSWindows && f.platform.OS != target.OSUnknown
}

// codeView reads the CodeView record at loc: RSDS, or the build id of an ELF image.
// Records of other forms identify no file that .NET processes load.
func (f *File) codeView(m *target.Module, r *nameReader, loc location) error {
	if loc.size == 0 {
		return nil
	}
	if loc.size > codeViewRSDSSize+limits.PathBytes {
		return &FormatError{Stream: r.stream, Off: int64(loc.rva), Msg: fmt.Sprintf("CodeView record of %d bytes", loc.size)}
	}
	b, err := r.bytes(loc.rva, int64(loc.size))
	if err != nil {
		return err
	}
	switch {
	case len(b) > len(codeViewBuildID) && string(b[:4]) == codeViewBuildID:
		if id := b[len(codeViewBuildID):]; len(id) <= limits.BuildIDBytes && !isZero(id) {
			m.BuildID = slices.Clone(id)
		}
	case len(b) < codeViewRSDSSize || string(b[:4]) != codeViewRSDS:
	case f.foreign() && m.TimeDateStamp == 0:
		m.BuildID, m.BuildIDCut = f.buildID(target.GUID(b[4:20]))
	default:
		m.PDB = &target.PDBID{GUID: target.GUID(b[4:20]), Age: le.Uint32(b[20:]), Path: decodeBytes(b[codeViewRSDSSize:])}
	}
	return nil
}

// buildID converts the GUID of an RSDS record to the image's identity: on macOS its UUID, elsewhere the beginning of its build id. Breakpad
// copied the bytes of a build id as they are; a writer that reads a UUID, such as Crashpad, stores it as a GUID.
func (f *File) buildID(g target.GUID) (id []byte, cut bool) {
	if isZero(g[:]) {
		return nil, false
	}
	_, crashpad := f.stream(CrashpadInfoStream)
	if darwin := f.platform.OS == target.OSDarwin; darwin || crashpad {
		slices.Reverse(g[0:4])
		slices.Reverse(g[4:6])
		slices.Reverse(g[6:8])
		return g[:], !darwin
	}
	return g[:], true
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
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

// UnloadedModules lists the unloaded modules in the dump's order. The caller must not change the slice.
func (f *File) UnloadedModules() []UnloadedModule { return f.unloaded.get(f.loadUnloaded) }

func (f *File) loadUnloaded(n *notes) []UnloadedModule {
	s, ok := f.section(UnloadedModuleListStream, n)
	if !ok {
		return nil
	}
	t := s.headed(unloadedModuleListSize, unloadedModuleSize, false, limits.Modules, n)
	r := f.names(s.name)
	var out []UnloadedModule
	for i := range t.len() {
		e := t.at(i)
		m := UnloadedModule{
			Base:          f.addr(le.Uint64(e)),
			Size:          le.Uint32(e[8:]),
			CheckSum:      le.Uint32(e[12:]),
			TimeDateStamp: le.Uint32(e[16:]),
		}
		if !f.isImage(&m) {
			continue
		}
		var err error
		if m.Path, err = r.string(le.Uint32(e[20:])); err == nil && m.Path != "" {
			out = append(out, m)
		}
	}
	if refused := t.len() - len(out); refused > 0 {
		n.add(target.Corruptf("minidump %s: %d of %d entries can't be images (no possible address, size or name) and are left out", s.name, refused, t.len()))
	}
	return out
}

// isImage reports whether an image can have been where an entry has it: on a page of the process's memory, with a size.
func (f *File) isImage(m *UnloadedModule) bool {
	const page = 4096
	end := uint64(m.Base) + uint64(m.Size)
	if m.Base == 0 || m.Size == 0 || m.Base%page != 0 || end < uint64(m.Base) {
		return false
	}
	if f.platform.Arch.PointerSize() == 4 {
		return end <= 1<<32
	}
	p, err := f.platform.Arch.Processor()
	return err != nil || p.Mappable(target.Addr(end-1))
}
