package scrub

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Shrink writes the dump of d to w without the memory that is not needed to explain the process. A mark in the
// new file replaces omitted memory; reads of it fail with target.ErrLeftOut. Shrink copies a dump that was
// shrunk before.
func Shrink(ctx context.Context, d *process.Dump, w io.Writer, o Options) (*answer.Shrunk, error) {
	out := &answer.Shrunk{Kinds: []answer.ShrunkKind{}}
	s, err := newShrinker(ctx, d, out)
	if err != nil {
		return nil, err
	}
	out.Size = d.File().Size
	wr := &writer{src: s.src, size: s.size, job: s.job, jobs: d.Jobs(), done: o.Progress, fill: s.fill}
	if o.Compress {
		wr.level = zstd.SpeedBetterCompression
	}
	if out.Written, err = wr.write(ctx, w); err != nil {
		return nil, err
	}
	for i := range s.counts {
		if n := s.counts[i].Load(); n > 0 {
			out.LeftOut += n
			out.Kinds = append(out.Kinds, answer.ShrunkKind{Kind: sparedKinds[i], Bytes: n})
		}
	}
	return out, nil
}

// Kinds of omitted memory.
const (
	spareStrings = iota
	spareArrays
	spareFields
	spareFree
	spareNative // from here on outside of objects
	spareStacks
	spareUnused
	spareFiles
	spareUnseen
)

var sparedKinds = [...]string{"strings", "arrays of numbers", "numbers in objects", "free blocks", "native memory", "unused parts of stacks", "unused memory of the heap",
	"pages that module files have", "pages that module files may have: they are not available"}

// A shrinker produces the file of a dump without the omitted memory.
type shrinker struct {
	src    target.Source
	job    *job
	layout *layout
	mark   leftout.Mark
	at     int64  // offset where the block is inserted
	block  []byte // the note and the structures that lead to it
	stays  []piece
	size   int64 // bytes of the new file
	counts [len(sparedKinds)]atomic.Uint64
	// files are modules with pages that their files have. withFiles is set if files of modules were found.
	files     []target.Module
	withFiles bool
	// counted is set when a look at all memory has counted what is left out.
	counted bool
}

// newShrinker decides what is left out.
func newShrinker(ctx context.Context, d *process.Dump, out *answer.Shrunk) (*shrinker, error) {
	f := d.File()
	if f.Content() == nil {
		return nil, target.Unsupportedf("a target that is no dump's")
	}
	s := &shrinker{src: target.ReaderAtSource(f.Content(), f.Size), job: &job{control: map[uint64]bool{}}, layout: &layout{}}
	if f.LeftOut() {
		out.Before = true
		s.keep(nil)
		return s, nil
	}
	e, err := readContainer(f, s.src)
	if err != nil {
		return nil, err
	}
	if s.job.disguise, err = newDisguise(nil); err != nil {
		return nil, err
	}
	if _, err := e.edits(s.job); err != nil { // adds the structures
		return nil, err
	}
	mem, _ := memmap.New(s.src, slices.Clone(e.ranges))
	if err := sharesBytes(mem.Ranges()); err != nil {
		return nil, err
	}
	if s.mark, err = freshMark(f, s.src, mem.Ranges()); err != nil {
		return nil, err
	}
	j := s.job
	j.marks = &marks{pages: map[target.Addr]*page{}, all: true}
	runtimes, err := s.findRuntimes(ctx, d, out)
	if err != nil {
		return nil, err
	}
	if err := s.learn(ctx, d, mem.Ranges(), runtimes); err != nil {
		return nil, err
	}
	s.layout = newLayout(e.structures, mem.Ranges(), nil, f.Size)
	note := leftout.Note{Mark: s.mark}
	var gone []span
	if _, mini := f.Target.(*minidump.File); mini {
		s.at, s.block, s.layout.edits, err = markMinidump(e, note)
	} else {
		var check *fileCheck
		if check, err = s.newFileCheck(d); err != nil {
			return nil, err
		}
		if note.Runs, gone, err = s.unstored(ctx, d.Jobs(), check); err != nil {
			return nil, err
		}
		s.at, s.block, s.layout.edits, err = markELF(s.src, note, gone)
	}
	s.keep(gone)
	return s, err
}

// findRuntimes opens the runtimes, finds the objects with memory to omit, and collects the areas. If a heap
// cannot be read, all of it is kept.
func (s *shrinker) findRuntimes(ctx context.Context, d *process.Dump, out *answer.Shrunk) (list []*runtimeOf, err error) {
	all, _ := regionAreas(d.File())
	var images []area
	for _, m := range d.Target().Modules() { // with what the process wrote to them
		images = append(images, area{Range: target.RangeAt(m.Base, m.Size), kind: areaKeep})
	}
	var known, heaps []area
	for i, inst := range d.Runtimes() {
		v, err := d.Process(strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		r := &runtimeOf{view: v, module: inst.Module}
		if r.rt, err = v.Runtime(); err != nil {
			return nil, err
		}
		if r.heap, err = v.Heap(); err != nil {
			return nil, err
		}
		reader, err := v.Objects()
		if err != nil {
			return nil, err
		}
		r.planner = newPlanner(reader, r.heap)
		r.planner.choose = r.planner.spare
		r.indexes, err = index(ctx, r.planner, heap.ScanOptions{Jobs: d.Jobs()})
		if ctx.Err() != nil {
			return nil, err
		}
		out.Note(err)
		list = append(list, r)
		known = append(known, r.runtimeAreas()...)
		heaps = append(heaps, r.heapAreas()...)
	}
	for _, t := range d.Target().Threads() { // used parts of stacks
		known = append(known, area{Range: t.Stack, kind: areaKeep})
	}
	if len(list) == 0 {
		return nil, target.Unsupportedf("the process has no runtime: what is needed of its memory is unknown")
	}
	s.job.areas = all.overlay(images).overlay(known).overlay(s.inFiles(d, list)).overlay(heaps)
	return list, nil
}

// inFiles returns the memory that module files have. The dump must identify the file, so that readers can prove theirs to
// be it. Memory that the process can write to is not in the file.
// The image of a NativeAOT program stays: it has the names of all types.
func (s *shrinker) inFiles(d *process.Dump, runtimes []*runtimeOf) []area {
	var found, writable []area
	t := d.File()
	managed, program := map[target.Addr]bool{}, map[target.Addr]bool{}
	for _, r := range runtimes {
		if r.rt.Check(dac.FeatureModules) != nil {
			program[r.module.Base] = true
		}
		modules, _ := r.rt.KnownModules() // the readable ones
		for _, m := range modules {
			if at, err := m.Image(); err == nil {
				managed[at.Start] = true
			}
		}
	}
	for _, m := range t.Modules() {
		if _, err := d.ModuleFile(&m); err == nil {
			s.withFiles = true
		}
		ranges, err := identified(t, &m)
		if err != nil || program[m.Base] {
			continue
		}
		s.files = append(s.files, m)
		for _, r := range ranges {
			found = append(found, area{Range: r, kind: areaFile, native: !managed[m.Base]})
		}
	}
	for r := range t.Regions() {
		if r.Prot&target.ProtWrite != 0 {
			writable = append(writable, area{Range: target.RangeAt(r.Start, r.Size), kind: areaKeep})
		}
	}
	return slices.DeleteFunc(areas(nil).overlay(found).overlay(writable), func(a area) bool { return a.kind != areaFile })
}

// identified returns the ranges of a module that its file has, if the dump records which file that is.
func identified(mem target.Memory, m *target.Module) ([]target.Range, error) {
	if id := image.IdentityOf(mem, m); m.Path == "" || !id.Known() {
		return nil, target.Unsupportedf("nothing in the dump identifies its file")
	}
	return image.InFile(mem, m)
}

// learn marks the reads of opening the dump, of proving module files to be the dump's, and of questions: with the module
// files that were found, and without any.
func (s *shrinker) learn(ctx context.Context, d *process.Dump, stored []memmap.Range, runtimes []*runtimeOf) error {
	j, questions := s.job, slices.Concat(structure, reasons)
	if err := j.learn(ctx, d.File(), s.src, stored); err != nil {
		return err
	}
	if s.withFiles || len(s.files) == 0 {
		over := func() (*process.Dump, error) {
			return d.Over(&recorder{Target: d.File(), areas: &j.areas, marks: j.marks})
		}
		if err := j.ask(ctx, over, runtimes, questions); err != nil {
			return err
		}
	}
	if len(s.files) == 0 {
		return nil
	}
	r := &recorder{Target: d.File(), areas: &j.areas, marks: j.marks, alone: true}
	for _, of := range runtimes {
		r.blobs = append(r.blobs, of.metadata(observed{d.File(), j.marks})...)
	}
	r.blobs = joinRanges(r.blobs)
	for i := range s.files {
		_, _ = identified(r, &s.files[i])
	}
	alone := func() (*process.Dump, error) {
		return d.OverAlone(r, func(mem target.Memory) target.Memory { return observed{mem, j.marks} })
	}
	return j.ask(ctx, alone, runtimes, questions)
}

// metadata returns the places of the modules' metadata, and marks what identifies a module.
func (r *runtimeOf) metadata(seen observed) (out []target.Range) {
	modules, _ := r.rt.KnownModules() // the readable ones
	for _, m := range modules {
		at := m.MetadataSource()
		if at.Addr == 0 {
			continue
		}
		out = append(out, target.RangeAt(at.Addr, at.Size))
		b, gaps, err := image.ReadSparse(seen, at.Addr, int(at.Size))
		if err != nil {
			continue
		}
		see := seen.ObserveMetadata(at.Addr)
		md, err := metadata.Parse(b, metadata.Sparse(func(off, n int) bool {
			see(off, n)
			return !slices.ContainsFunc(gaps, func(g image.Gap) bool { return g.Off < off+n && off < g.Off+g.Len })
		}))
		if err != nil {
			continue
		}
		if row, err := md.Module(1); err == nil {
			_, _ = md.GUID(row.MVID)
		}
		if row, err := md.Assembly(1); err == nil {
			_, _ = md.String(row.Name)
		}
	}
	return out
}

// sharesBytes returns an error if two ranges of memory share bytes of the file: a mark in one would be data in
// the other.
func sharesBytes(stored []memmap.Range) error {
	byOffset := slices.Clone(stored)
	slices.SortStableFunc(byOffset, func(a, b memmap.Range) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(byOffset); i++ {
		if before := &byOffset[i-1]; before.Offset+int64(before.Size) > byOffset[i].Offset {
			return target.Unsupportedf("the memory at %#x and that at %#x are the same bytes of the file", uint64(before.Addr), uint64(byOffset[i].Addr))
		}
	}
	return nil
}

// freshMark returns a mark that does not occur in the memory of the dump.
func freshMark(f *dump.File, src target.Source, stored []memmap.Range) (leftout.Mark, error) {
	print, err := f.Fingerprint()
	if err != nil {
		return 0, err
	}
	const attempts = 16
	for i := range uint64(attempts) {
		m := leftout.NewMark(le.Uint64(print) + i<<32)
		if found, err := hasWord(src, stored, m.Bytes()); err != nil || !found {
			return m, err
		}
	}
	return 0, target.Unsupportedf("the memory of the dump has each of %d marks by chance", attempts)
}

// hasWord reports whether the stored memory contains a word, at any offset.
func hasWord(src target.Source, stored []memmap.Range, word []byte) (bool, error) {
	var buf []byte
	for i := range stored {
		r := &stored[i]
		for at := uint64(0); at < r.Size; at += chunkSize {
			n := int(min(r.Size-at, chunkSize+uint64(len(word))-1))
			b := src.Bytes(r.Offset+int64(at), n)
			if b == nil {
				if buf == nil {
					buf = make([]byte, chunkSize+len(word))
				}
				b = buf[:n]
				if err := readFull(src, b, r.Offset+int64(at)); err != nil {
					return false, err
				}
			}
			if bytes.Contains(b, word) {
				return true, nil
			}
		}
	}
	return false, nil
}

// readFull reads all of b at off.
func readFull(src target.Source, b []byte, off int64) error {
	n, err := src.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// fill produces the bytes at off of the new file.
func (s *shrinker) fill(b []byte, off int64) error {
	if off < s.at {
		n := min(int64(len(b)), s.at-off)
		if err := s.content(b[:n], off); err != nil {
			return err
		}
		b, off = b[n:], off+n
	}
	if end := s.at + int64(len(s.block)); len(b) > 0 && off < end {
		n := int64(copy(b, s.block[off-s.at:]))
		b, off = b[n:], off+n
	}
	if len(b) == 0 {
		return nil
	}
	off -= int64(len(s.block))
	i, found := slices.BinarySearchFunc(s.stays, off, func(p piece, off int64) int { return cmp.Compare(p.at, off) })
	if !found {
		i--
	}
	for ; len(b) > 0 && i < len(s.stays); i++ {
		p := &s.stays[i]
		skip := off - p.at
		n := min(int64(len(b)), p.size-skip)
		if err := s.content(b[:n], p.off+skip); err != nil {
			return err
		}
		b, off = b[n:], off+n
	}
	return nil
}

// content produces the bytes at off of the dump, shrunk.
func (s *shrinker) content(b []byte, off int64) error {
	if err := readFull(s.src, b, off); err != nil {
		return err
	}
	end := off + int64(len(b))
	for _, p := range s.layout.spansIn(off, end) {
		if !p.memory {
			continue
		}
		from, to := max(p.off, off), min(p.off+p.size, end)
		s.memory(b[from-off:to-off], p.addr+target.Addr(from-p.off))
	}
	s.layout.edit(b, off)
	return nil
}

// memory omits words of b, the memory at a.
func (s *shrinker) memory(b []byte, a target.Addr) {
	for len(b) > 0 {
		r := s.job.areas.at(a)
		n := r.through(a, len(b))
		part, here := b[:n], target.RangeAt(a, uint64(n))
		switch r.kind {
		case areaWords:
			s.drop(part, a, here, spareNative)
		case areaStack:
			s.drop(part, a, here, spareStacks)
		case areaZero:
			s.drop(part, a, here, spareUnused)
		case areaHeap:
			s.objects(r.heap, part, a)
		}
		a, b = here.End, b[n:]
	}
}

// drop omits the words of r in b, the memory at a, unless they were read. Outside of objects it keeps a whole
// page if a byte of it was read: the rest may belong to the same structure, which another command needs. Zeros
// there stay, too: they cost nothing.
func (s *shrinker) drop(b []byte, a target.Addr, r target.Range, kind int) {
	at := (max(r.Start, a) + wordSize - 1) &^ (wordSize - 1)
	end := min(r.End, a+target.Addr(len(b))) &^ (wordSize - 1)
	native := kind >= spareNative
	n := uint64(0)
	for at < end {
		p := s.job.marks.page(at)
		stop := min(end, at&^(keptPage-1)+keptPage)
		if native && p != nil {
			at = stop
			continue
		}
		for ; at < stop; at += wordSize {
			w := b[at-a:][:wordSize]
			if p.hasIn(at) || native && le.Uint64(w) == 0 {
				continue
			}
			le.PutUint64(w, uint64(s.mark))
			n += wordSize
		}
	}
	if !s.counted {
		s.counts[kind].Add(n)
	}
}

// objects omits parts of the objects in b, the memory at a. Memory between objects stays.
func (s *shrinker) objects(x *objectIndex, b []byte, a target.Addr) {
	if x == nil {
		return
	}
	if first, ok := x.lastBefore(a); ok {
		s.object(x, b, a, first)
	}
	x.each(a, a+target.Addr(len(b)), func(o target.Addr) { s.object(x, b, a, o) })
}

// object omits parts of one object. Its first two words stay, so that it and the next object can be found.
func (s *shrinker) object(x *objectIndex, b []byte, a, o target.Addr) {
	head, err := target.Bytes(x.p.h.Memory(), o, headerSize+wordSize)
	if err != nil {
		return
	}
	p := x.p.plans.Get(target.Addr(le.Uint64(head)) &^ (wordSize - 1))
	if p == nil || x.p.kept[o] {
		return
	}
	length := uint64(0)
	if p.comp > 0 {
		length = uint64(le.Uint32(head[headerSize:]))
	}
	size := min(max(p.base+p.comp*length, 3*wordSize), uint64(x.objects.End-o))
	end := o + target.Addr((size+wordSize-1)&^(wordSize-1)) - wordSize // the next object's header follows
	drop := func(off, n uint64, kind int) {
		if start := o + target.Addr(off); start < end {
			s.drop(b, a, target.Range{Start: start, End: min(start+target.Addr(n), end)}, kind)
		}
	}
	switch p.kind {
	case planFree:
		drop(headerSize+wordSize, size, spareFree)
	case planString:
		drop(p.data, size, spareStrings)
	case planNumbers:
		drop(p.data, size, spareArrays)
	case planParts:
		if p.comp == 0 {
			length = 1
		}
		first := uint64(0)
		if start := o + target.Addr(p.data); p.comp > 0 && a > start {
			first = uint64(a-start) / p.comp
		}
		for i := first; i < length; i++ {
			off := p.data + i*p.comp
			if e := o + target.Addr(off); e >= min(end, a+target.Addr(len(b))) {
				break
			}
			for _, q := range p.parts {
				drop(off+q.off, q.size, spareFields)
			}
		}
	}
}

// spare returns the plan for omitting parts of a type's objects.
func (p *planner) spare(o *heap.Object) plan {
	mt := o.Type
	switch {
	case o.Free:
		return plan{kind: planFree}
	case mt.Addr == p.h.Runtime().WellKnown().String:
		chars, _, err := p.h.Runtime().StringChars(o.Addr)
		if err != nil {
			return plan{}
		}
		return plan{kind: planString, data: uint64(chars - o.Addr)}
	}
	t, err := p.r.TrustedType(mt.Addr)
	if err != nil || mt.HasComponents() && !mt.IsArray() {
		return plan{}
	}
	if !mt.IsArray() {
		size := uint64(mt.BaseSize) - min(uint64(mt.BaseSize), headerSize+wordSize)
		_, keeps := p.parts(t, nil, size)
		return plan{kind: planParts, parts: p.spareWords(t, headerSize, size), keeps: keeps}.orNone()
	}
	data, size := uint64(mt.BaseSize)-min(uint64(mt.BaseSize), wordSize), uint64(mt.ComponentSize)
	element, err := t.Element()
	if err != nil {
		return plan{}
	}
	elem, err := element.ElementType()
	leaf := objects.Leaf{Type: elem}
	switch {
	case err != nil || leaf.IsReference() || isNative(elem):
		return plan{}
	case leaf.Size() > 0 || p.isSpare(element):
		return plan{kind: planNumbers, data: data}
	case size%wordSize != 0 || data%wordSize != 0:
		return plan{}
	}
	return plan{kind: planParts, data: data, parts: p.spareWords(element, 0, size)}.orNone()
}

// isNative reports whether a value may be an address outside the heap.
func isNative(e metadata.ElementType) bool {
	return e == metadata.ElementI || e == metadata.ElementU || e == metadata.ElementPtr || e == metadata.ElementFnPtr
}

// isSpare reports whether structs of a type contain only data of the program.
func (p *planner) isSpare(t *objects.Type) bool {
	if name, err := t.ManagedName(); err == nil && slices.Contains(numeric, name) {
		return true
	}
	framework := isFramework(t)
	leaves, err := t.Leaves()
	return err == nil && len(leaves) > 0 && !slices.ContainsFunc(leaves, func(l objects.Leaf) bool { return !isSpareLeaf(&l, framework) })
}

// isFramework reports whether a type belongs to .NET, or to an unknown module.
func isFramework(t *objects.Type) bool {
	m, err := t.Module()
	if err != nil {
		return true
	}
	name, err := m.SimpleName()
	return err != nil || ofFramework(name)
}

// isSpareLeaf reports whether a leaf is data of the program. In a type of .NET only leaves of type arguments
// are.
func isSpareLeaf(l *objects.Leaf, framework bool) bool {
	if l.IsReference() || isNative(l.Type) {
		return false
	}
	if framework {
		s := l.Field.Signature()
		return s != nil && s.Unmodified() != nil && s.Unmodified().Kind == metadata.ElementVar
	}
	return isValue(l)
}

// largestSpare is the size in bytes from which on structs stay completely.
const largestSpare = 64 << 10

// spareWords returns the words that contain only data of the program in a struct of size bytes, which starts
// base bytes after its object. The first words of an object stay.
func (p *planner) spareWords(t *objects.Type, base, size uint64) (out []part) {
	leaves, err := t.Leaves()
	if err != nil || size > largestSpare {
		return nil
	}
	const data, other = 1, 2
	use := make([]byte, base+size)
	framework := isFramework(t)
	for i := range leaves {
		l := &leaves[i]
		from := base + l.Offset
		if l.Offset > size || l.Size() > size-l.Offset {
			return nil
		}
		kind := byte(other)
		if isSpareLeaf(l, framework) {
			kind = data
		}
		for k := range use[from : from+l.Size()] {
			use[from+uint64(k)] |= kind
		}
	}
	for at := base &^ (wordSize - 1); at+wordSize <= uint64(len(use)); at += wordSize {
		word := use[at : at+wordSize]
		if base > 0 && at < headerSize+wordSize || bytes.IndexByte(word, data) < 0 || bytes.ContainsFunc(word, func(r rune) bool { return r > data }) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].off+out[n-1].size == at {
			out[n-1].size += wordSize
		} else {
			out = append(out, part{off: at, size: wordSize})
		}
	}
	return out
}
