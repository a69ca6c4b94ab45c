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

// VS_FIXEDFILEINFO.dwSignature (verrsrc.h) precedes a version.
const fixedFileInfoSignature = 0xfeef04bd

// A CodeView record of the form RSDS has a GUID and an age before the path.
const (
	codeViewRSDS     = "RSDS"
	codeViewRSDSSize = 24
)

// Breakpad's CodeView record for ELF images holds the complete build id (MDCVInfoELF).
const codeViewBuildID = "LEpB"

// moduleList is the module list, and the paths in the dump's order. The first path is the program.
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

// Modules implements target.Target. Size and SizeOfImage of a module are from the module list.
// Mappings is empty for a process of Windows, which maps an image as a whole, and if the dump does
// not have /proc/PID/maps. The caller must not change the slice.
func (f *File) Modules() []target.Module { return f.modules.get(f.loadModules).sorted }

func (f *File) loadModules(n *notes) moduleList {
	s, ok := f.section(ModuleListStream, n)
	if !ok {
		n.add(fmt.Errorf("minidump: module list: %w", target.ErrNotInDump))
		return moduleList{}
	}
	t := s.list(moduleSize, bound{elements: limits.Modules}, n)
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
	for i := range modules {
		m := &modules[i]
		if own, ok := f.ownSize(m.Base); ok && own != m.SizeOfImage && (m.SizeOfImage != 0 || !f.isForeign()) {
			n.add(target.Corruptf("minidump: module %q at %#x has %#x bytes in the list of modules, and %#x in its own header", m.Path, uint64(m.Base), m.SizeOfImage, own))
		}
	}
	f.addMappings(modules)
	return list
}

// ownSize returns SizeOfImage in the header of a PE image, if the dump has it. f.ReadMemory would ask for the modules.
func (f *File) ownSize(base target.Addr) (size uint32, ok bool) {
	const newHeader, signature, sizeOfImage = 0x3c, "PE\x00\x00", 24 + 56 // at newHeader: where the signature is
	var dos [newHeader + 4]byte
	if n, _ := f.mem.ReadMemory(dos[:], base); n < len(dos) || dos[0] != 'M' || dos[1] != 'Z' {
		return 0, false
	}
	at := base + target.Addr(le.Uint32(dos[newHeader:]))
	var head [sizeOfImage + 4]byte
	if n, _ := f.mem.ReadMemory(head[:], at); n < len(head) || string(head[:len(signature)]) != signature {
		return 0, false
	}
	return le.Uint32(head[sizeOfImage:]), true
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
	// SizeOfImage does not identify an ELF or Mach-O image. Modules of Wine and .NET have the time
	// stamp of their PE image.
	if f.isForeign() && m.TimeDateStamp == 0 {
		m.SizeOfImage = 0
	}
	return m
}

// isForeign reports whether the process ran on another system than Windows.
func (f *File) isForeign() bool {
	return f.platform.OS != target.OSWindows && f.platform.OS != target.OSUnknown
}

// codeView reads the CodeView record at loc: RSDS, or the build id of an ELF image. It ignores
// other forms, which no file of a .NET process has.
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
	case f.isForeign() && m.TimeDateStamp == 0:
		m.BuildID, m.BuildIDCut = f.buildID(target.GUID(b[4:20]))
	default:
		m.PDB = &target.PDBID{GUID: target.GUID(b[4:20]), Age: le.Uint32(b[20:]), Path: decodeBytes(b[codeViewRSDSSize:])}
	}
	return nil
}

// buildID converts the GUID of an RSDS record to the identity of the image: the UUID on macOS,
// otherwise the beginning of the build id. Breakpad copies the bytes of a build id; writers that
// read a UUID, such as Crashpad, store it as a GUID.
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
// (MINIDUMP_UNLOADED_MODULE). Another image may use its addresses now.
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
	t := s.headedList(unloadedModuleListSize, unloadedModuleSize, false, bound{elements: limits.Modules}, n)
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

// isImage reports whether an entry is a possible image: page-aligned, not empty, and in the
// process's address space.
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
