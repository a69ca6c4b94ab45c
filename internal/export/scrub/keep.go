package scrub

import (
	"cmp"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/sosgo/sosgo/target"
)

// keptPage is the size in bytes of the pieces that marks are stored in.
const keptPage = 4096

// A page has a mark for each byte.
type page [keptPage / 64]uint64

// marks records the bytes of the process that commands read. It is safe for concurrent use.
type marks struct {
	mu        sync.RWMutex
	pages     map[target.Addr]*page
	isPointer func(uint64) bool
	all       bool // also texts, and reads of objects
}

// add marks n bytes.
func (m *marks) add(a target.Addr, n int) {
	if n <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for ; n > 0; n, a = n-1, a+1 {
		base := a &^ (keptPage - 1)
		p := m.pages[base]
		if p == nil {
			p = new(page)
			m.pages[base] = p
		}
		for ; n > 0 && a&^(keptPage-1) == base; n, a = n-1, a+1 {
			p[(a-base)/64] |= 1 << ((a - base) % 64)
		}
		n, a = n+1, a-1
	}
}

// page returns the marks of the page that contains a, or nil.
func (m *marks) page(a target.Addr) *page {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.pages[a&^(keptPage-1)]
}

// isMarked reports whether the byte at a is marked.
func (p *page) isMarked(a target.Addr) bool {
	i := a & (keptPage - 1)
	return p != nil && p[i/64]>>(i%64)&1 != 0
}

// hasIn reports whether a byte of the word at a is marked.
func (p *page) hasIn(a target.Addr) bool {
	i := a & (keptPage - 1)
	return p != nil && p[i/64]>>(i%64)&0xff != 0
}

// Reads of at most exactRead bytes are of fields, and reads of objects of at most fieldRead. Reads of more than
// scanRead bytes of a stack search it, and reads of more than searchRead bytes of a native library. Texts are read in pieces of textRead bytes (target.CString and
// UTF16String).
const (
	fieldRead  = 16
	exactRead  = 64
	scanRead   = 16 << 10
	searchRead = 32 << 10
	textRead   = 256
)

// Runs of at least so many printable characters are text.
const textRun, wideRun = 6, 4

func printable(b byte) bool { return b >= 0x20 && b < 0x7f || b == '\t' || b == '\n' || b == '\r' }

// textAt returns the number of bytes of the text at the start of b, up to its NUL, or 0.
func textAt(b []byte, least int) int {
	n := 0
	for n < len(b) && (printable(b[n]) || b[n] >= 0x80) {
		n++
	}
	wide := 0
	for wide+1 < len(b) && b[wide+1] == 0 && printable(b[wide]) {
		wide += 2
	}
	if n > 1 && n >= least && (n == len(b) || b[n] == 0) && printable(b[0]) && utf8.Valid(b[:n]) || n == 1 && least == 1 && wide <= 2 {
		return min(n+1, len(b))
	}
	if n = wide; n/2 >= least && n > 0 {
		for n+1 < len(b) && (b[n] != 0 || b[n+1] != 0) { // characters of other scripts
			n += 2
		}
		return min(n+2, len(b))
	}
	return 0
}

// note marks the bytes of a read, if they are a structure or a text. It does not mark other texts beside it.
func (m *marks) note(a target.Addr, b []byte) {
	if m.all {
		m.add(a, len(b))
		return
	}
	if n := m.foreign(b); len(b) <= exactRead {
		m.fields(a+target.Addr(n), b[n:])
		return
	}
	least := wideRun
	if len(b) == textRead {
		least = 1
	}
	if n := textAt(b, least); n > 0 && !m.isPointer(le.Uint64(b)) {
		m.add(a, n)
		return
	}
	for at := 0; at < len(b); {
		n := runAt(b, at)
		if n > 0 {
			at += n
			continue
		}
		end := at + 1
		for end < len(b) && runAt(b, end) == 0 {
			end++
		}
		m.add(a+target.Addr(at), end-at)
		at = end
	}
}

// fields marks a structure of at most exactRead bytes. A text in several words means that the reader searched a
// structure that is not there.
func (m *marks) fields(a target.Addr, b []byte) {
	if len(b) <= wordSize {
		m.add(a, len(b))
		return
	}
	isHeader := len(b) == 2*wordSize // of a block of memory; a longer read can be a text with a known length
	for word := range slices.Chunk(b, wordSize) {
		if !m.isText(word) && !(isHeader && isWide(word)) {
			m.add(a, len(word))
		}
		a += target.Addr(len(word))
	}
}

// isText reports whether a word contains a run of text and is not a pointer.
func (m *marks) isText(word []byte) bool {
	if len(word) < wordSize || m.isPointer(le.Uint64(word)) {
		return false
	}
	n := 0
	for _, c := range word {
		if n++; !printable(c) {
			n = 0
		}
		if n >= textRun {
			return true
		}
	}
	return false
}

// isWide reports whether a word is nothing but text in UTF-16.
func isWide(word []byte) bool {
	for i, c := range word {
		if isHigh := i%2 == 1; isHigh && c != 0 || !isHigh && !printable(c) {
			return false
		}
	}
	return true
}

// foreign returns the number of bytes of a read that do not belong to the block: the header of a block of
// malloc starts with the end of the preceding block, if that is in use (glibc, malloc.c: PREV_INUSE).
func (m *marks) foreign(b []byte) int {
	const header, inUse, most = 16, 1, 1 << 40
	if len(b) != header {
		return 0
	}
	if before, size := le.Uint64(b), le.Uint64(b[wordSize:]); size&inUse == 0 || size >= most || isSmall(before) || m.isPointer(before) {
		return 0
	}
	return wordSize
}

// runAt returns the length in bytes of the run of text at b[at], or 0.
func runAt(b []byte, at int) int {
	if at > 0 && printable(b[at-1]) && printable(b[at]) {
		return 0 // in the middle of a shorter one
	}
	n := 0
	for at+n < len(b) && printable(b[at+n]) {
		n++
	}
	if n >= textRun {
		return n
	}
	for n = 0; at+n+1 < len(b) && printable(b[at+n]) && b[at+n+1] == 0; {
		n += 2
	}
	if n/2 >= wideRun {
		return n
	}
	return 0
}

// A recorder is a process that records the reads that decide what stays.
type recorder struct {
	target.Target

	areas *areas
	marks *marks
	// alone is set if no module files are used. Otherwise they have the memory of areaFile, which is compared with them.
	alone bool
	// blobs are the metadata of modules, by address: readers copy all of it, and an observed says what they use.
	blobs []target.Range
}

// note records a read of asked bytes. The dump has b. It may extend from memory that stays into other
// memory.
func (r *recorder) note(a target.Addr, b []byte, asked int) {
	at := r.areas.at(a)
	for at.kind == areaKeep && at.End-a < target.Addr(len(b)) {
		a, b = at.End, b[at.End-a:]
		at = r.areas.at(a)
	}
	switch at.kind {
	case areaHeap:
		if len(b) <= fieldRead || r.marks.all {
			r.marks.add(a, len(b))
		}
	case areaStack:
		if len(b) <= scanRead || r.marks.all {
			r.marks.note(a, b)
		}
	case areaWords:
		r.marks.note(a, b)
	case areaFile:
		search := at.native && asked > searchRead // for the version, which markVersions has found
		if r.alone && !search && !(asked > exactRead && r.inBlob(a)) {
			r.marks.note(a, b)
		}
	}
}

// inBlob reports whether a is in the metadata of a module.
func (r *recorder) inBlob(a target.Addr) bool {
	i, _ := slices.BinarySearchFunc(r.blobs, a, func(r target.Range, a target.Addr) int { return cmp.Compare(r.End, a+1) })
	return i < len(r.blobs) && r.blobs[i].Contains(a)
}

// An observed is memory that records which bytes of metadata are used. It implements dac.MetadataObserver.
type observed struct {
	target.Memory

	marks *marks
}

// NextStored implements target.SparseMemory.
func (o observed) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(o.Memory, a)
}

// Search reads memory that is only searched; see target.Searching.
func (o observed) Search(p []byte, a target.Addr) (int, error) {
	return target.Searching(o.Memory).ReadMemory(p, a)
}

// Claims returns the memory that the process had.
func (o observed) Claims() *target.Claims { return target.ClaimsOf(o.Memory) }

// ObserveMetadata implements dac.MetadataObserver.
func (o observed) ObserveMetadata(at target.Addr) func(off, n int) {
	return func(off, n int) { o.marks.add(at+target.Addr(off), n) }
}

// ReadMemory implements target.Memory.
func (r *recorder) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := r.Target.ReadMemory(p, a)
	r.note(a, p[:n], len(p))
	return n, err
}

// mostLent is the size in bytes of the largest read that View lends a copy for. Callers of View accept that it lends nothing.
const mostLent = 1 << 20

// View implements target.Memory. It lends a copy if the dump lends nothing: a target.Window would else read more than it is
// asked for.
func (r *recorder) View(a target.Addr, n int) ([]byte, bool) {
	b, ok := r.Target.View(a, n)
	if !ok && n > 0 && n <= mostLent {
		b = target.UpTo(r.Target, a, n)
		ok = len(b) == n
	}
	if !ok {
		return nil, false
	}
	r.note(a, b, n)
	return b, true
}

// Holds reports whether the dump has the memory; see target.Available. For a dump that is scrubbed that is no read, because the
// memory stays, with other content.
func (r *recorder) Holds(a target.Addr, n int) bool {
	b, err := target.Bytes(r.Target, a, n)
	if err == nil && r.marks.all {
		r.note(a, b, n)
	}
	return err == nil
}

// lentWords is the number of bytes of recorded memory that Span lends. Callers request more with the size they
// need. lentBlock is the number of bytes that it copies of other memory.
const lentWords, lentBlock = 8, 4096

// Span implements target.Memory. What it lends decides which reads are recorded, so it is the same for a dump that is not mapped,
// which lends nothing: of recorded memory a word, of other memory at least fieldRead bytes, unless the area or the stored memory ends.
func (r *recorder) Span(a target.Addr) []byte {
	at := r.areas.at(a)
	least, most := fieldRead, lentBlock
	if at.kind == areaWords || at.kind == areaFile || at.kind == areaStack {
		least, most = lentWords, lentWords
	}
	b := r.Target.Span(a)
	if len(b) < least { // also where memory goes on that the file has elsewhere
		b = target.UpTo(r.Target, a, most)
	}
	if b = b[:at.through(a, len(b))]; len(b) == 0 {
		return nil
	}
	switch at.kind {
	case areaWords, areaFile:
		if b = b[:min(len(b), lentWords)]; !r.marks.all && (r.marks.isText(b) || isWide(b)) {
			return nil // callers read it on demand
		}
		r.note(a, b, len(b))
	case areaStack: // such reads search for pointers
		b = b[:min(len(b), lentWords)]
		if r.marks.all {
			r.note(a, b, len(b))
		}
	}
	return b
}

// Search reads memory that is only searched; see target.Searching. For a dump that is shrunk that is a read: the next search needs
// the memory.
func (r *recorder) Search(p []byte, a target.Addr) (int, error) {
	if r.marks.all {
		return r.ReadMemory(p, a)
	}
	return r.Target.ReadMemory(p, a)
}

// NextStored implements target.SparseMemory.
func (r *recorder) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(r.Target, a)
}

// Claims returns the memory that the process had.
func (r *recorder) Claims() *target.Claims { return target.ClaimsOf(r.Target) }

// A recordingFile records the reads of a dump's file while it is opened.
type recordingFile struct {
	target.Source

	note func(off int64, b []byte)
}

// ReadAt implements io.ReaderAt.
func (f *recordingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.Source.ReadAt(p, off)
	f.note(off, p[:n])
	return n, err
}

// Bytes implements target.Source. It lends nothing, so that each read has its own size.
func (f *recordingFile) Bytes(int64, int) []byte { return nil }

// An areaKind is a way to treat memory.
type areaKind uint8

const (
	areaWords areaKind = iota // pointers and what commands read stay
	areaStack                 // the same, on a stack
	areaKeep                  // everything stays
	areaZero                  // everything is cleared
	areaHeap                  // objects of the GC heap
	areaFile                  // a module's file has it, too
)

// An area is memory with one treatment.
type area struct {
	target.Range
	kind   areaKind
	heap   *objectIndex // for areaHeap
	native bool         // for areaFile: the file is not a managed module's
}

// areas are the areas of a process, by address and disjoint. Memory between them is unknown: areaWords.
type areas []area

// at returns the area that contains a, or one of areaWords up to the next.
func (l areas) at(a target.Addr) area {
	i, found := slices.BinarySearchFunc(l, a, func(r area, a target.Addr) int {
		switch {
		case r.Start > a:
			return 1
		case r.End <= a:
			return -1
		}
		return 0
	})
	switch {
	case found:
		return l[i]
	case i < len(l):
		return area{Range: target.Range{Start: a, End: l[i].Start}}
	}
	return area{Range: target.Range{Start: a, End: ^target.Addr(0)}}
}

// through returns how many of the n bytes at a lie in the area that contains a. The last area reaches the end of the address space, which no
// Range can express.
func (r area) through(a target.Addr, n int) int {
	if r.End == ^target.Addr(0) {
		return n
	}
	return int(min(uint64(n), uint64(r.End-a)))
}

// overlay puts areas, which may overlap, over the areas of l. The first of them counts.
func (l areas) overlay(top []area) areas {
	slices.SortStableFunc(top, func(x, y area) int {
		switch {
		case x.Start < y.Start:
			return -1
		case x.Start > y.Start:
			return 1
		}
		return 0
	})
	var out areas
	add := func(a area) {
		if a.Start < a.End {
			out = append(out, a)
		}
	}
	var at target.Addr // everything below is done
	below := func(end target.Addr) {
		for len(l) > 0 && l[0].Start < end {
			a := l[0]
			a.Start = max(a.Start, at)
			if a.End > end {
				a.End = end
				add(a)
				return
			}
			add(a)
			l = l[1:]
		}
	}
	for _, t := range top {
		t.Start = max(t.Start, at)
		if t.Start >= t.End {
			continue
		}
		below(t.Start)
		add(t)
		at = t.End
		for len(l) > 0 && l[0].End <= at {
			l = l[1:]
		}
	}
	below(^target.Addr(0))
	return out
}
