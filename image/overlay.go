package image

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/target"
)

const (
	// SourceDump is the result of Overlay.Source for bytes of the dump.
	SourceDump = "dump"

	// overlaySpan is the maximum number of bytes of a file that Span lends: to find their end it
	// looks up each page in the dump.
	overlaySpan      = 256 << 10
	overlayProbes    = 64       // number of stored pages that Add compares
	overlayPages     = 16 << 10 // the same of a managed image
	overlayTolerance = 4        // equal pages that are required for each different one
	overlayChanged   = 1        // page of code, or of a native image, that may differ without equal ones: the process can have changed it
)

// An Overlay is a dump's memory completed by module files. The dump has priority. A missing byte is
// taken from the module's file if the loader maps that part of the file unchanged: headers, and ELF
// segments and PE sections that aren't writable, with PE base relocations applied. Ranges that the
// loader writes to (import tables, control-flow guard pointers) stay missing. So do writable
// sections, except for the table of unwind data.
//
// Within a page, the file supplies everything from the first missing byte on.
//
// An Overlay is safe for concurrent use, also while modules are added. The images must stay open
// while it is in use.
type Overlay struct {
	dump  target.Memory
	mu    sync.Mutex // serializes Add
	parts atomic.Pointer[[]part]
}

var _ interface {
	target.Memory
	target.SparseMemory
} = (*Overlay)(nil)

// NewOverlay returns an Overlay over mem without files.
func NewOverlay(mem target.Memory) *Overlay {
	o := &Overlay{dump: mem}
	o.parts.Store(&[]part{})
	return o
}

// A part is a range of addresses with bytes from a file.
type part struct {
	start, end target.Addr
	off        uint64 // of start in the file
	file       *overlayFile
}

type overlayFile struct {
	im     *Image
	base   target.Addr
	delta  uint64                   // added by base relocations
	relocs func() ([]uint32, error) // RVAs of relocated quadwords, ascending
	edited func() []fileRange       // what the writer of a dump may have overwritten
}

// A fileRange is a range of bytes in a file.
type fileRange struct{ off, n uint64 }

// Add lets img, opened from a file, supply the missing bytes of m. If img is not the loaded file,
// because its identity or bytes in the dump differ, Add fails with target.ErrCorrupt and adds
// nothing.
func (o *Overlay) Add(m *target.Module, img *Image) error {
	if img.layout != Flat || img.base != 0 {
		return target.Unsupportedf("overlay: %s is not an image from a file", img.path)
	}
	if err := sameIdentity(o.dump, m, img); err != nil {
		return fmt.Errorf("overlay: %s: %w", img.path, err)
	}
	file := &overlayFile{im: img, base: m.Base, edited: sync.OnceValue(img.debugTexts)}
	parts, err := file.parts(o.dump, m)
	if err == nil {
		err = o.compare(parts)
	}
	if err != nil {
		return fmt.Errorf("overlay: %s: %w", img.path, err)
	}
	parts = o.unchanged(parts)
	o.mu.Lock()
	defer o.mu.Unlock()
	all := mergeParts(append(slices.Clone(*o.parts.Load()), parts...))
	o.parts.Store(&all)
	return nil
}

// pageSums is the memory of a shrunk dump, which records sums of pages that it leaves to module files.
type pageSums interface {
	LeftOut() bool
	PageSum(a target.Addr) (sum uint64, ok bool)
}

// unchanged returns the parts without pages that the process had changed, as far as the dump records sums of them.
func (o *Overlay) unchanged(parts []part) []part {
	sums, ok := o.dump.(pageSums)
	if !ok || !sums.LeftOut() {
		return parts
	}
	var out []part
	var own [pageSize]byte
	for _, p := range parts {
		rest := p
		for a := p.start &^ (pageSize - 1); a < p.end; a += pageSize {
			sum, ok := sums.PageSum(a)
			if !ok || a >= p.start && p.end-a >= pageSize && p.read(own[:], a) == nil && leftout.Sum(own[:]) == sum {
				continue
			}
			out = appendFrom(out, rest, min(max(a, p.start), p.end))
			rest = p.from(min(a+pageSize, p.end))
		}
		out = appendFrom(out, rest, p.end)
	}
	return out
}

// from returns the part from a on.
func (p part) from(a target.Addr) part {
	p.off += uint64(a - p.start)
	p.start = a
	return p
}

// appendFrom appends p up to end, unless it is empty.
func appendFrom(out []part, p part, end target.Addr) []part {
	if p.end = end; p.start < p.end {
		out = append(out, p)
	}
	return out
}

// InFile returns the ranges of m, loaded in mem, that its file has as well: those that an Overlay takes from it. The
// image's headers in mem show them. The process may have changed pages of them nonetheless.
func InFile(mem target.Memory, m *target.Module) ([]target.Range, error) {
	im, err := OpenMemory(mem, m)
	if err != nil {
		return nil, err
	}
	if !im.LayoutKnown() || !im.HasHeaders() {
		return nil, target.Unsupportedf("%s: nothing shows how the image was loaded", m.Path)
	}
	end := uint64(0) // of the file
	for _, e := range im.extents {
		end = max(end, e.off+e.n)
	}
	if im.layout == Flat {
		return []target.Range{target.RangeAt(m.Base, end)}, nil
	}
	file := &overlayFile{im: im, base: m.Base}
	parts, err := file.parts(mem, m)
	if err != nil {
		return nil, err
	}
	var out []target.Range
	for _, p := range mergeParts(parts) {
		out = append(out, target.Range{Start: p.start, End: p.end})
	}
	return out, nil
}

// sameIdentity compares the identity of a module in the dump with its file's.
func sameIdentity(mem target.Memory, m *target.Module, img *Image) error {
	if img.kind == KindPE {
		if m.SizeOfImage != 0 && (m.TimeDateStamp != img.pe.timeDateStamp || m.SizeOfImage != img.pe.sizeOfImage) {
			return target.Corruptf("time stamp %08x, size %#x; the dump's module has %08x, %#x",
				img.pe.timeDateStamp, img.pe.sizeOfImage, m.TimeDateStamp, m.SizeOfImage)
		}
		return nil
	}
	loaded, err := OpenMemory(mem, m)
	if err != nil {
		return nil // Add compares bytes in any case
	}
	want, err := loaded.BuildID()
	if err != nil {
		return nil
	}
	if got, err := img.BuildID(); err != nil || !bytes.Equal(got, want) {
		return target.Corruptf("build id %x; the dump's module has %x", got, want)
	}
	return nil
}

// parts returns the parts of m that the file can supply.
func (f *overlayFile) parts(mem target.Memory, m *target.Module) ([]part, error) {
	im := f.im
	f.relocs = func() ([]uint32, error) { return nil, nil }
	if im.kind == KindELF {
		if d, err := im.elf.dyn(); im.elf.dynamic.Size != 0 && (err != nil || d.textRel) {
			return nil, target.Unsupportedf("text relocations, or a dynamic section that can't be read")
		}
		return f.cut(im.extents, nil), nil
	}
	if im.kind == KindMachO {
		return f.cut(im.extents, nil), nil
	}
	// The bytes in the dump, together with the file's headers, determine the layout.
	probe := *im
	probe.base, probe.raw = m.Base, area{mem, m.Base, ^uint64(m.Base)}
	if l, _ := probe.detectLayout(m); l == Flat {
		return []part{{m.Base, m.Base + target.Addr(im.raw.size), 0, f}}, nil
	}
	f.delta = uint64(m.Base) - im.pe.imageBase
	if f.delta != 0 && im.pe.plus {
		f.relocs = sync.OnceValues(func() ([]uint32, error) { return im.relocations(relocDir64) })
	}
	holes, err := im.loaderWrites(f.delta)
	if err != nil {
		return nil, err
	}
	return f.unwindTable(f.cut(im.extents, holes)), nil
}

// unwindTable appends the table of unwind data if it is in a writable section, as in precompiled
// images of .NET 10 for Linux. The table has no relocations, and nothing writes to it.
func (f *overlayFile) unwindTable(out []part) []part {
	table := f.im.ExceptionDirectory()
	start, end := uint64(table.RVA), uint64(table.RVA)+table.Size
	for _, e := range f.im.extents {
		if e.writable && e.off < f.im.raw.size && table.Size > 0 && start >= e.rva {
			out = f.appendPart(out, e, start, min(end, e.rva+min(e.n, f.im.raw.size-e.off)))
		}
	}
	return out
}

// cut converts the read-only extents, without the ranges in holes, to parts.
func (f *overlayFile) cut(extents []extent, holes []Directory) []part {
	holes = mergeHoles(holes)
	var out []part
	for _, e := range extents {
		if e.writable || e.off >= f.im.raw.size {
			continue
		}
		rva, end := e.rva, e.rva+min(e.n, f.im.raw.size-e.off)
		first, _ := slices.BinarySearchFunc(holes, rva, func(h Directory, v uint64) int {
			if uint64(h.RVA)+h.Size <= v {
				return -1
			}
			return 1
		})
		for _, h := range holes[first:] {
			if uint64(h.RVA) >= end {
				break
			}
			out = f.appendPart(out, e, rva, uint64(h.RVA))
			rva = uint64(h.RVA) + h.Size
		}
		out = f.appendPart(out, e, rva, end)
	}
	return out
}

// mergeHoles sorts holes and joins overlapping ones.
func mergeHoles(holes []Directory) []Directory {
	slices.SortStableFunc(holes, func(a, b Directory) int { return cmp.Compare(a.RVA, b.RVA) })
	out := holes[:0]
	for _, h := range holes {
		if n := len(out); n > 0 && h.RVA <= out[n-1].RVA+RVA(out[n-1].Size) {
			out[n-1].Size = max(out[n-1].Size, uint64(h.RVA-out[n-1].RVA)+h.Size)
		} else {
			out = append(out, h)
		}
	}
	return out
}

func (f *overlayFile) appendPart(out []part, e extent, rva, end uint64) []part {
	if rva >= end || uint64(f.base)+end < uint64(f.base) {
		return out
	}
	return append(out, part{f.base + target.Addr(rva), f.base + target.Addr(end), e.off + rva - e.rva, f})
}

// mergeParts sorts parts by address and cuts a part that overlaps an earlier one.
func mergeParts(parts []part) []part {
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.start, b.start) })
	out := parts[:0]
	var end target.Addr
	for _, p := range parts {
		if p.start < end {
			d := end - p.start
			p.start, p.off = end, p.off+uint64(d)
		}
		if p.start < p.end {
			out, end = append(out, p), p.end
		}
	}
	return out
}

// compare compares stored pages with the file. Headers, metadata and IL must be equal. A few pages of code and of native
// images may differ, because the process can have made them writable: tools patch precompiled methods, and libcoreclr.so
// sets s_gsCookie in .rodata (InitGSCookie in vm/ceemain.cpp). A page with another protection than the file has for it
// proves nothing if it differs. A kernel's core may have only such pages beside the headers: libcoreclr.so of .NET Core 3.1
// makes the page of JIT_WriteBarrier writable (InitThreadManager in vm/threads.cpp).
func (o *Overlay) compare(parts []part) error {
	if len(parts) == 0 {
		return nil
	}
	probes := uint64(overlayProbes)
	code, managed := parts[0].file.im.codeSections()
	if managed {
		probes = overlayPages
	}
	var total uint64
	for _, p := range parts {
		total += uint64(p.end-p.start)/pageSize + 1
	}
	step := (total/probes + 1) * pageSize
	same, patched, different, first := 0, 0, 0, target.Addr(0)
	// If there are many small parts between relocations, only some are compared.
	for i := 0; i < len(parts); i += len(parts)/int(probes) + 1 {
		p := &parts[i]
		for a, ok := target.NextStored(o.dump, p.start); ok && a < p.end; {
			n, equal, err := o.comparePage(p, a)
			switch {
			case err != nil:
				return err
			case n == 0:
			case equal == n:
				same++
			default:
				rva := uint64(a - p.file.base)
				if same > 0 && rva >= pageSize && o.reprotected(p.file, a) {
					break
				}
				if rva < pageSize || managed && !slices.ContainsFunc(code, func(d Directory) bool { return rva-uint64(d.RVA) < d.Size }) {
					different++
				} else {
					patched++
				}
				first = cmp.Or(first, a+target.Addr(equal))
			}
			rest := step - pageSize + uint64(pageRest(uint64(a)))
			if uint64(p.end-a) <= rest {
				break
			}
			a, ok = target.NextStored(o.dump, a+target.Addr(rest))
		}
	}
	if different > 0 || patched > max(overlayChanged, same/overlayTolerance) {
		different += patched
		return target.Corruptf("the dump holds other bytes than the file on %d of %d pages, the first at %v (%#x in the file): not the file that was loaded, or changed in memory",
			different, same+different, first, o.fileOffset(first, parts))
	}
	return nil
}

// reprotected reports whether the process gave the page at a another protection than the ELF file f has for it. It reports
// false if the dump does not record the page as one of a mapped image.
func (o *Overlay) reprotected(f *overlayFile, a target.Addr) bool {
	process, ok := o.dump.(interface {
		Regions() iter.Seq[target.Region]
	})
	if !ok || f.im.kind != KindELF {
		return false
	}
	rva := uint64(a - f.base)
	i := slices.IndexFunc(f.im.sections, func(s Section) bool { return rva-uint64(s.RVA) < s.Size })
	if i < 0 {
		return false
	}
	for r := range process.Regions() {
		if a-r.Start < target.Addr(r.Size) {
			return r.Kind == target.RegionImage && r.Prot != f.im.sections[i].Prot
		}
	}
	return false
}

// codeSections reports whether a PE file is managed, IL alone or precompiled, and returns its sections with code that have
// no metadata.
func (im *Image) codeSections() (code []Directory, managed bool) {
	h, err := im.CLRHeader()
	if err != nil {
		return nil, false
	}
	if _, err := im.ReadyToRun(); err != nil && h.Flags&CLRFlagILOnly == 0 {
		return nil, false // C++/CLI
	}
	for _, s := range im.sections {
		if s.Prot&target.ProtExec != 0 && uint64(h.Metadata.RVA-s.RVA) >= s.Size {
			code = append(code, Directory{RVA: s.RVA, Size: s.Size})
		}
	}
	return code, true
}

// fileOffset returns the offset in the file of the byte at a, which is in one of the parts.
func (o *Overlay) fileOffset(a target.Addr, parts []part) uint64 {
	i := slices.IndexFunc(parts, func(p part) bool { return p.start <= a && a < p.end })
	return parts[i].off + uint64(a-parts[i].start)
}

// comparePage compares the stored bytes from a to the end of its page with the file. n is their
// number, and same how many of them are equal from a on.
func (o *Overlay) comparePage(p *part, a target.Addr) (n, same int, err error) {
	var have, want [pageSize]byte
	n = int(min(uint64(pageRest(uint64(a))), uint64(p.end-a)))
	n, _ = o.dump.ReadMemory(have[:n], a)
	if err := p.read(want[:n], a); err != nil {
		return n, 0, err
	}
	off := p.off + uint64(a-p.start)
	for _, r := range p.file.edited() {
		if from, to := max(r.off, off), min(r.off+r.n, off+uint64(n)); from < to {
			copy(want[from-off:to-off], have[from-off:])
		}
	}
	if bytes.Equal(have[:n], want[:n]) {
		return n, n, nil
	}
	for same < n {
		if have[same] == want[same] {
			same++
			continue
		}
		at := same
		if p.file.im.arch == target.ArchARM64 {
			at = max(same-int((uint64(a)+uint64(same))%4), 0) // the instruction begins there
		}
		planted := breakpointLen(p.file.im.arch, have[at:n])
		if planted == 0 {
			break
		}
		same = at + planted
	}
	return n, same, nil
}

// breakpointLen returns the length of the breakpoint that b begins with, or 0. A debugger writes int3 or, on ARM64, brk
// over the precompiled code of an image.
func breakpointLen(arch target.Arch, b []byte) int {
	const brk, brkOperand = 0xd4200000, 0xffff << 5
	switch {
	case arch == target.ArchAMD64 && b[0] == 0xcc:
		return 1
	case arch == target.ArchARM64 && len(b) >= 4 && le32(b, 0)&^brkOperand == brk:
		return 4
	}
	return 0
}

// find returns the part that contains a, or nil.
func (o *Overlay) find(a target.Addr) *part {
	if o.dump == nil {
		return nil
	}
	parts := *o.parts.Load()
	i, ok := slices.BinarySearchFunc(parts, a, func(p part, a target.Addr) int {
		switch {
		case a < p.start:
			return 1
		case a >= p.end:
			return -1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return &parts[i]
}

// read copies the process's bytes at a, which must be in the part.
func (p *part) read(b []byte, a target.Addr) error {
	if n, err := p.file.im.raw.ReadMemory(b, target.Addr(p.off+uint64(a-p.start))); n < len(b) {
		return err
	}
	return p.file.relocate(b, uint64(a-p.file.base))
}

// ReadMemory implements target.Memory.
func (o *Overlay) ReadMemory(p []byte, a target.Addr) (int, error) {
	return o.read(p, a, o.dump.ReadMemory)
}

// Search reads memory that is only searched; see target.Searching.
func (o *Overlay) Search(p []byte, a target.Addr) (int, error) {
	return o.read(p, a, target.Searching(o.dump).ReadMemory)
}

// read reads memory, of the dump by fromDump.
func (o *Overlay) read(p []byte, a target.Addr, fromDump func([]byte, target.Addr) (int, error)) (int, error) {
	n, err := fromDump(p, a)
	for n < len(p) && errors.Is(err, target.ErrNotInDump) {
		at := a + target.Addr(n)
		pt := o.find(at)
		if pt == nil {
			break
		}
		k := int(min(uint64(len(p)-n), uint64(pt.end-at), uint64(pageRest(uint64(at)))))
		if rerr := pt.read(p[n:n+k], at); rerr != nil {
			return n, &target.MemoryError{Addr: at, Size: len(p) - n, Err: rerr}
		}
		if n += k; n == len(p) {
			return n, nil
		}
		var got int
		got, err = fromDump(p[n:], a+target.Addr(n))
		n += got
	}
	return n, err
}

// View implements target.Memory.
func (o *Overlay) View(a target.Addr, n int) ([]byte, bool) {
	if o.dump == nil {
		return nil, false
	}
	if b, ok := o.dump.View(a, n); ok {
		return b, true
	}
	if b := o.lend(a, n); n > 0 && len(b) == n {
		return b, true
	}
	return nil, false
}

// Holds reports whether the dump or files have all n bytes at a; see target.Available.
func (o *Overlay) Holds(a target.Addr, n int) bool {
	if o.dump == nil {
		return false
	}
	if target.Available(o.dump, a, n) {
		return true
	}
	for _, p := range *o.parts.Load() {
		if p.start < a+target.Addr(max(n, 0)) && a < p.end {
			_, err := target.Bytes(o, a, n)
			return err == nil
		}
	}
	return false
}

// Span implements target.Memory. It lends at most 256 KB of a file.
func (o *Overlay) Span(a target.Addr) []byte {
	if o.dump == nil {
		return nil
	}
	if b := o.dump.Span(a); b != nil {
		return b
	}
	return o.lend(a, overlaySpan)
}

// NextStored implements target.SparseMemory.
func (o *Overlay) NextStored(a target.Addr) (target.Addr, bool) {
	if o.dump == nil {
		return 0, false
	}
	next, ok := target.NextStored(o.dump, a)
	parts := *o.parts.Load()
	i, _ := slices.BinarySearchFunc(parts, a, func(p part, a target.Addr) int {
		if p.end <= a {
			return -1
		}
		return 1
	})
	if i == len(parts) {
		return next, ok
	}
	supplied := max(a, parts[i].start)
	if !ok || supplied < next {
		return supplied, true
	}
	return next, true
}

// lend returns at most limit bytes of a file, up to a stored byte, the end of the part, or a
// relocation.
func (o *Overlay) lend(a target.Addr, limit int) []byte {
	p := o.find(a)
	if p == nil || limit <= 0 {
		return nil
	}
	n := p.file.unrelocatedLen(uint64(a-p.file.base), min(uint64(limit), uint64(p.end-a)))
	var absent uint64
	for absent < n && !o.isStored(a+target.Addr(absent)) {
		absent += uint64(pageRest(uint64(a) + absent))
	}
	b, _ := p.file.im.raw.View(target.Addr(p.off+uint64(a-p.start)), int(min(n, absent)))
	if len(b) == 0 {
		return nil
	}
	return b
}

// isStored reports whether the dump itself has the byte at a.
func (o *Overlay) isStored(a target.Addr) bool {
	if o.dump == nil {
		return false
	}
	if _, ok := o.dump.View(a, 1); ok {
		return true
	}
	var b [1]byte
	_, err := o.dump.ReadMemory(b[:], a)
	return !errors.Is(err, target.ErrNotInDump)
}

// Source returns the source of the byte at a: SourceDump, the path of a file, or "" for a missing
// byte.
func (o *Overlay) Source(a target.Addr) string {
	if o.isStored(a) {
		return SourceDump
	}
	if p := o.find(a); p != nil {
		return p.file.im.path
	}
	return ""
}
