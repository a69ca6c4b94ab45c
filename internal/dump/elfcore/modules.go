package elfcore

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// findModules lists the images in the process.
//
// NT_FILE names every mapped file: programs and libraries, and also locale archives, time zone and
// ICU data, shared memory, and the memory file that .NET maps its code through. All of them are
// regions; only images are modules:
//
//   - The mappings of one path form one image as long as they can be its parts; see imageRun.add. A
//     file that is mapped twice, such as a managed assembly that is mapped flat and section by
//     section, is two modules.
//   - An image is a module if its first page begins with an ELF or PE header. If that page is not
//     in the dump, the file must be the program or have the name of a library (.so, .so.N, .dll,
//     .exe). If the page is damaged, the file must have such a name; a library of ELF must be mapped
//     in parts, too.
//
// Without NT_FILE the modules are the dynamic linker's list and the segments that begin with an ELF
// or PE header.
func (b *builder) findModules() {
	if b.files != nil {
		b.modulesOfFiles()
	} else {
		b.modulesWithoutFiles()
	}
	slices.SortStableFunc(b.Modules, func(x, y target.Module) int { return cmp.Compare(x.Base, y.Base) })
	before := len(b.Modules)
	b.Modules = slices.CompactFunc(b.Modules, func(x, y target.Module) bool { return x.Base == y.Base })
	if n := before - len(b.Modules); n > 0 {
		b.Warn(target.Corruptf("%d modules overlap others: the first of each counts", n))
	}
	if len(b.Modules) > limits.Modules {
		b.Warn(target.Limitf("%d modules: the first %d are listed", len(b.Modules), limits.Modules))
		b.Modules = b.Modules[:limits.Modules:limits.Modules]
	}
	// The header of a flat file gives the size of the loaded image, which is larger. Modules don't
	// overlap.
	for i := range b.Modules[:max(0, len(b.Modules)-1)] {
		m := &b.Modules[i]
		m.Size = min(m.Size, uint64(b.Modules[i+1].Base-m.Base))
	}
	b.leaveOutVDSO()
}

// leaveOutVDSO sets the gap of the module around the vDSO (AT_SYSINFO_EHDR): the kernel may place
// it between two segments of the dynamic linker.
func (b *builder) leaveOutVDSO() {
	v, ok := b.aux(auxVDSO)
	at := target.Addr(v)
	m := target.ModuleAt(b.Modules, at)
	if !ok || m == nil || m.Base == at || slices.ContainsFunc(m.Mappings, func(p target.Mapping) bool { return p.Start <= at && at < p.End }) {
		return
	}
	for _, s := range b.loads {
		if end := s.addr + target.Addr(s.memSize); s.addr <= at && at < end {
			m.Gap = target.Range{Start: at, End: end}
			return
		}
	}
}

// An imageRun collects the mappings of one image.
type imageRun struct {
	path string
	base target.Addr
	head imageHeader
	maps []target.Mapping
	last int // index of the last mapping among all mappings
}

// smallAlign is the maximum distance between two mappings of a file's start in one image. It is the
// section alignment of precompiled .NET assemblies, which equals the largest page size of their
// machines.
const smallAlign = 64 << 10

// add adds the mapping m with an index, unless it begins another image.
//
// If the header of the image is in the dump, it decides. Otherwise the mappings must follow each
// other in the address space and in the file; an offset may go back by at most the page that two
// segments share. The start of the file may be repeated immediately: a linker lets two segments
// share a page of the file, and the first section of an assembly begins in the page of its headers.
func (r *imageRun) add(m target.Mapping, index int, page uint64) bool {
	in, known := r.head.holds(r.base, r.maps[0], m, page)
	if !known {
		prev := r.maps[len(r.maps)-1]
		switch {
		case index != r.last+1 || m.Offset != 0 && m.Offset+page < prev.Offset || m.Offset == 0 && prev.Offset != 0:
		case m.Offset == 0:
			in = uint64(m.Start-prev.Start) <= smallAlign && (m.End-m.Start != prev.End-prev.Start || r.sharesPage(m, prev, page))
		default:
			in = true
		}
	}
	if in {
		r.maps, r.last = append(r.maps, m), index
	}
	return in
}

// sharesPage reports whether m and prev, which map the first page of a file alike, are parts of one image. If a whole
// small library fits in a page, its segments are mapped one after the other. Sections of an assembly are mapped at
// their alignment, with unmapped pages between, so a file that is mapped twice as a whole differs from it.
func (r *imageRun) sharesPage(m, prev target.Mapping, page uint64) bool {
	if uint64(m.End-m.Start) != page {
		return false
	}
	if namedLikePE(r.path) {
		return m.Start > prev.End
	}
	return page > smallestPage
}

// modulesOfFiles builds modules from NT_FILE.
func (b *builder) modulesOfFiles() {
	open := map[string]*imageRun{}
	var runs []*imageRun
	for i, m := range b.files {
		if r := open[m.path]; r != nil {
			if r.head.kind == imageUnread && m.Offset == 0 && r.maps[0].Offset == 0 {
				if head, ok := b.headerInLaterSegment(r.base, m.Mapping); ok {
					r.head = head
				}
			}
			if r.add(m.Mapping, i, b.page) {
				continue
			}
		}
		r := b.newRun(i)
		open[m.path] = r
		runs = append(runs, r)
	}
	for _, r := range runs {
		if b.isModule(r) {
			b.Modules = append(b.Modules, r.module(b.page))
		}
	}
}

// newRun begins an image with mapping i. If the mapping is not the start of the file, the image
// begins that far below it, provided that nothing else is mapped there.
func (b *builder) newRun(i int) *imageRun {
	m := b.files[i]
	r := &imageRun{path: m.path, base: m.Start, maps: []target.Mapping{m.Mapping}, last: i}
	if m.Offset != 0 {
		below := target.Addr(0)
		if i > 0 {
			below = b.files[i-1].End
		}
		if uint64(m.Start) >= m.Offset && m.Start-target.Addr(m.Offset) >= below {
			r.base = m.Start - target.Addr(m.Offset)
		}
		return r
	}
	r.head = b.readImageHeader(r.base)
	switch {
	case r.head.wrong:
		b.Warn(target.Corruptf("%s at %016x has a segment of impossible size", r.path, uint64(r.base)))
	case r.head.kind == imageNone && (namedLikePE(r.path) || namedLikeImage(r.path) && b.inParts(i)):
		b.Warn(target.Corruptf("%s at %016x does not begin with the header of an image", r.path, uint64(r.base)))
		r.head = imageHeader{}
	}
	return r
}

// inParts reports whether mapping i is followed by a mapping of a later part of its file, as an image is loaded. Whether
// one of them is executable is unknown where createdump left out code.
func (b *builder) inParts(i int) bool {
	return i+1 < len(b.files) && b.files[i+1].path == b.files[i].path && b.files[i+1].Offset > b.files[i].Offset
}

func (b *builder) isModule(r *imageRun) bool {
	switch r.head.kind {
	case imageELF, imagePE:
		return true
	case imageNone:
		return false
	}
	return namedLikeImage(r.path) || b.isProgram(r)
}

// isProgram reports whether r is the program of the process.
func (b *builder) isProgram(r *imageRun) bool {
	a, ok := b.aux(auxProgHeaders)
	if !ok {
		a, ok = b.aux(auxEntry)
	}
	return ok && slices.ContainsFunc(r.maps, func(m target.Mapping) bool { return m.Start <= target.Addr(a) && target.Addr(a) < m.End })
}

// namedLikeImage reports whether a path has the name of a library or program, ignoring the kernel's
// mark for deleted files.
func namedLikeImage(name string) bool {
	_, version, ok := strings.Cut(lowerName(name), ".so")
	return ok && strings.Trim(version, ".0123456789") == "" || namedLikePE(name)
}

// namedLikePE reports whether a path has the name of a PE image, such as an assembly.
func namedLikePE(name string) bool {
	name = lowerName(name)
	return strings.HasSuffix(name, ".dll") || strings.HasSuffix(name, ".exe")
}

func lowerName(name string) string {
	return strings.ToLower(path.Base(strings.TrimSuffix(name, " (deleted)")))
}

func (r *imageRun) module(page uint64) target.Module {
	m := target.Module{Base: r.base, Path: r.path, Mappings: r.maps}
	m.Size = uint64(r.maps[len(r.maps)-1].End - r.base)
	switch r.head.kind {
	case imageELF:
		// The end of a loaded image, its .bss, is memory without a file.
		if !r.head.isFlat(r.maps[0], page) {
			m.Size = max(m.Size, r.head.size)
		}
	case imagePE:
		m.TimeDateStamp, m.SizeOfImage, m.CheckSum = r.head.stamp, uint32(r.head.size), r.head.checkSum
	}
	return m
}
