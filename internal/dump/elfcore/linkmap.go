package elfcore

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Tags of the dynamic section (elf.h, DT_*).
const (
	dynNull    = 0
	dynStrTab  = 5
	dynSoName  = 14
	dynDebug   = 21
	dynEntries = 512 // an upper bound of the entries
)

// The program header of the program header table itself.
const progSelf = 6

// Offsets in r_debug and link_map (link.h) on 64-bit machines.
const (
	debugMap    = 8
	linkAddr    = 0
	linkName    = 8
	linkDynamic = 16
	linkNext    = 24
)

// modulesWithoutFiles finds modules in a core without NT_FILE.
func (b *builder) modulesWithoutFiles() {
	found := map[target.Addr]bool{}
	b.modulesOfLinker(found)
	var last scannedPE
	for _, s := range b.loads {
		if found[s.addr] || len(b.Modules) >= limits.Modules {
			continue
		}
		head := b.readImageHeader(s.addr)
		if head.size == 0 || last.repeats(s.addr, &head, b.page) {
			continue
		}
		if base, ok := b.sectionOf(s.addr, &head); ok {
			s.addr, s.memSize = base, b.page
		}
		if found[s.addr] {
			continue
		}
		found[s.addr] = true
		m := target.Module{Base: s.addr, Size: head.size, Path: b.soName(s.addr, &head)}
		if head.kind == imagePE {
			last = scannedPE{s, head}
			m.TimeDateStamp, m.SizeOfImage, m.CheckSum = head.stamp, uint32(head.size), head.checkSum
		}
		b.Modules = append(b.Modules, m)
	}
}

// A scannedPE is a PE image that was found by its header at the start of a segment.
type scannedPE struct {
	start  segment
	header imageHeader
}

// repeats reports whether the header at a is this image's, visible again at the start of one of its
// sections. The first section of a precompiled .NET assembly begins in the page of the headers.
func (p *scannedPE) repeats(a target.Addr, h *imageHeader, page uint64) bool {
	return h.kind == imagePE && p.header.kind == imagePE &&
		h.stamp == p.header.stamp && h.size == p.header.size && h.checkSum == p.header.checkSum &&
		uint64(a-p.start.addr) < p.header.size && p.start.memSize <= pageUp(p.header.first, page)
}

// sectionOf finds the base of the PE image that has a section at a, if h is the image's header
// visible again there (see repeats). The page of the headers may then be in a segment that begins
// before it.
func (b *builder) sectionOf(a target.Addr, h *imageHeader) (target.Addr, bool) {
	if h.kind != imagePE {
		return 0, false
	}
	for _, s := range b.peSections(a) {
		if s.off >= b.page || s.fileSize == 0 || uint64(s.addr) <= s.off {
			continue
		}
		below := s.addr - target.Addr(s.off) // a is the file's start, so the section is at a + s.off
		if below > a {
			continue
		}
		same := b.readImageHeader(a - below)
		if same.kind == imagePE && same.stamp == h.stamp && same.size == h.size && same.checkSum == h.checkSum {
			return a - below, true
		}
	}
	return 0, false
}

// modulesOfLinker follows the dynamic linker's list of objects: AT_PHDR points to the program's
// headers, these to its dynamic section, DT_DEBUG to r_debug, and r_debug to the list.
func (b *builder) modulesOfLinker(found map[target.Addr]bool) {
	seen := map[target.Addr]bool{}
	link, ok := b.firstLink()
	for ; ok && link != 0; link, ok = b.pointer(link + linkNext) {
		if seen[link] || len(seen) == limits.LinkMap {
			b.Warn(target.Corruptf("the dynamic linker's list of objects has no end: the first %d were looked at", len(seen)))
			return
		}
		seen[link] = true
		b.addLink(link, found)
	}
}

func (b *builder) pointer(a target.Addr) (target.Addr, bool) {
	p, err := target.Pointer(b, a)
	return p, err == nil
}

func (b *builder) firstLink() (target.Addr, bool) {
	headers, ok := b.aux(auxProgHeaders)
	count, _ := b.aux(auxProgCount)
	if !ok || count == 0 || count > maxImageSegments {
		return 0, false
	}
	table, err := target.Bytes(b, target.Addr(headers), int(count)*progSize)
	if err != nil {
		return 0, false
	}
	segments := decodeSegments(table)
	self := slices.IndexFunc(segments, func(s segment) bool { return s.typ == progSelf })
	dynamic := slices.IndexFunc(segments, func(s segment) bool { return s.typ == progDynamic })
	if self < 0 || dynamic < 0 {
		return 0, false
	}
	bias := target.Addr(headers) - segments[self].addr
	debug, ok := b.dynamicEntry(bias+segments[dynamic].addr, dynDebug)
	if !ok || debug == 0 {
		return 0, false
	}
	return b.pointer(target.Addr(debug) + debugMap)
}

// dynamicEntry returns the value of an entry of the dynamic section at a.
func (b *builder) dynamicEntry(a target.Addr, tag uint64) (uint64, bool) {
	for i := range target.Addr(dynEntries) {
		t, err := target.Uint64(b, a+16*i)
		if err != nil || t == dynNull {
			break
		}
		if t == tag {
			v, err := target.Uint64(b, a+16*i+8)
			return v, err == nil
		}
	}
	return 0, false
}

// addLink adds the module of a link_map. l_addr is the offset between addresses in memory and in
// the file. It equals the base, except for a program linked to a fixed address; AT_PHDR gives its
// base.
func (b *builder) addLink(link target.Addr, found map[target.Addr]bool) {
	base, ok := b.pointer(link + linkAddr)
	if !ok || len(b.Modules) >= limits.Modules {
		return
	}
	if base == 0 {
		headers, _ := b.aux(auxProgHeaders)
		base = target.Addr(headers) &^ (smallestPage - 1)
	}
	if found[base] {
		return
	}
	head := b.readImageHeader(base)
	if head.kind != imageELF && head.kind != imageUnread {
		return
	}
	m := target.Module{Base: base, Size: head.size}
	if a, ok := b.pointer(link + linkName); ok {
		m.Path, _ = target.CString(b, a, limits.PathBytes)
	}
	if m.Path == "" && b.containsProgram(base, head.size) {
		m.Path = b.execName()
	}
	if m.Size == 0 {
		// The dynamic section is in the writable part, near the end.
		dynamic, _ := b.pointer(link + linkDynamic)
		m.Size = b.sizeUpTo(base, dynamic)
	}
	found[base] = true
	b.Modules = append(b.Modules, m)
}

func (b *builder) containsProgram(base target.Addr, size uint64) bool {
	headers, ok := b.aux(auxProgHeaders)
	return ok && headers-uint64(base) < max(size, smallestPage)
}

// execName returns the name by which the program was started.
func (b *builder) execName() string {
	a, ok := b.aux(auxExecName)
	if !ok {
		return ""
	}
	name, _ := target.CString(b, target.Addr(a), limits.PathBytes)
	return name
}

// sizeUpTo returns the size of an image without a header in the dump: up to the end of the segment
// that contains a.
func (b *builder) sizeUpTo(base, a target.Addr) uint64 {
	i, found := slices.BinarySearchFunc(b.loads, a, func(s segment, a target.Addr) int { return cmp.Compare(s.addr, a) })
	if !found {
		i--
	}
	if i >= 0 && a >= base && b.loads[i].addr >= base && uint64(a-b.loads[i].addr) < b.loads[i].memSize {
		return min(uint64(b.loads[i].addr-base)+b.loads[i].memSize, maxImageSize)
	}
	return smallestPage
}

// soName returns DT_SONAME of an ELF image if it is in the dump.
func (b *builder) soName(base target.Addr, head *imageHeader) string {
	for _, s := range b.imageSegments(base) {
		if s.typ != progDynamic || head.kind != imageELF {
			continue
		}
		a := target.Addr(head.bias) + s.addr
		table, ok := b.dynamicEntry(a, dynStrTab)
		off, ok2 := b.dynamicEntry(a, dynSoName)
		if !ok || !ok2 {
			return ""
		}
		// The dynamic linker relocates DT_STRTAB only in a writable section.
		if table < uint64(base) {
			table += head.bias
		}
		name, _ := target.CString(b, target.Addr(table+off), limits.PathBytes)
		return name
	}
	return ""
}
