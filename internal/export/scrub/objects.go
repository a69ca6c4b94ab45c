package scrub

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/addrmap"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A planKind is a treatment of a type's objects.
type planKind uint8

const (
	planNone    planKind = iota // nothing changes
	planString                  // strings
	planText                    // arrays of characters or bytes
	planNumbers                 // arrays of numbers, and unknown components
	planParts                   // objects and arrays of structs that change in parts
	planFree                    // free blocks
)

// A plan is the treatment of a type's objects.
type plan struct {
	kind  planKind
	base  uint64   // bytes of an object without components
	comp  uint64   // bytes of a component
	data  uint64   // offset of the components, or of the fields
	wide  bool     // text of UTF-16
	parts []part   // parts of the object, or of each component
	keeps []uint64 // offsets in the object of references to arrays that stay
}

// A part is changed in each object of a type, or in each element of an array.
type part struct {
	off, size uint64
	do        action
}

type action uint8

const (
	doZero   action = iota
	doWords         // pointers and what commands read stay
	doGap           // so do pointers in parts without a known field, such as the rest of a fixed buffer
	doChar          // a character
	doByte          // a byte of a text
	doCode          // a hash code
	doNative        // a number that may be a pointer
)

// headerSize is the size in bytes of a method table's address at the start of objects. The word before an
// object is its header: unused memory after an object ends before the header of the next.
const headerSize, wordSize, halfHeader = 8, 8, 4

// A planner plans the treatment of objects. It is safe for concurrent use.
type planner struct {
	r       *objects.Reader
	h       *heap.Heap
	numbers bool // numbers are replaced too
	choose  func(*heap.Object) plan
	plans   addrmap.Map[plan]
	kept    map[target.Addr]bool // arrays that stay

	mu      sync.Mutex
	samples []heap.Object // one of each type
}

// planOf returns the plan of an object's type.
func (p *planner) planOf(o *heap.Object) *plan {
	if found := p.plans.Get(o.Type.Addr); found != nil {
		return found
	}
	made := p.choose(o)
	made.base, made.comp = uint64(o.Type.BaseSize), uint64(o.Type.ComponentSize)
	p.mu.Lock()
	p.samples = append(p.samples, *o)
	p.mu.Unlock()
	return p.plans.Add(o.Type.Addr, made)
}

func newPlanner(r *objects.Reader, h *heap.Heap) *planner {
	p := &planner{r: r, h: h, kept: map[target.Addr]bool{}}
	p.choose = p.make
	return p
}

func (p *planner) make(o *heap.Object) plan {
	mt := o.Type
	switch {
	case o.Free:
		return plan{kind: planFree}
	case mt.Addr == p.h.Runtime().WellKnown().String:
		if chars, _, err := p.h.Runtime().StringChars(o.Addr); err == nil {
			return plan{kind: planString, data: uint64(chars - o.Addr), wide: true}
		}
	case mt.IsArray():
		return p.array(mt)
	case mt.HasComponents():
	default:
		t, err := p.r.TrustedType(mt.Addr)
		size := uint64(mt.BaseSize) - min(uint64(mt.BaseSize), headerSize+wordSize)
		parts, keeps := p.parts(t, err, size)
		if is, _ := p.h.Runtime().IsException(mt); is {
			if off, ok := p.h.Runtime().TraceOffset(); ok { // even if the names of fields are missing
				keeps = append(keeps, uint64(off))
			}
		}
		return plan{kind: planParts, data: headerSize, parts: parts, keeps: keeps}.orNone()
	}
	// The components are unknown.
	return plan{kind: planNumbers, data: headerSize + wordSize}
}

func (p plan) orNone() plan {
	if p.kind == planParts && len(p.parts) == 0 {
		p.kind = planNone
	}
	return p
}

// array returns the plan of an array. Its base size includes its header and the word before it.
func (p *planner) array(mt *dac.MethodTable) plan {
	data, size := uint64(mt.BaseSize)-min(uint64(mt.BaseSize), wordSize), uint64(mt.ComponentSize)
	t, err := p.r.TrustedType(mt.Addr)
	var element *objects.Type
	elem := metadata.ElementType(0)
	if err == nil {
		if element, err = t.Element(); err == nil {
			elem, err = element.ElementType()
		}
	}
	switch {
	case size <= 2 && !mt.ContainsPointers() && elem != metadata.ElementBoolean:
		return plan{kind: planText, data: data, wide: size == 2}
	case err == nil && (objects.Leaf{Type: elem}).IsReference():
		return plan{}
	case err == nil && (elem == metadata.ElementI || elem == metadata.ElementU || elem == metadata.ElementPtr):
		return plan{kind: planParts, data: data, parts: []part{{0, size, doNative}}}
	case err == nil && (objects.Leaf{Type: elem}).Size() > 0: // a number
		return plan{kind: planNumbers, data: data}
	case err != nil && mt.ContainsPointers() && size == wordSize:
		return plan{} // references, or structs of one
	}
	if err == nil && !mt.ContainsPointers() {
		if leaves, lerr := element.Leaves(); lerr == nil && len(leaves) == 1 {
			return plan{kind: planNumbers, data: data} // structs of a number
		}
	}
	parts, _ := p.parts(element, err, size)
	return plan{kind: planParts, data: data, parts: parts}.orNone()
}

// parts returns the changes in the fields of a type of size bytes, and the offsets of references to arrays that
// stay. err is why the type is unknown.
func (p *planner) parts(t *objects.Type, err error, size uint64) (out []part, keeps []uint64) {
	var leaves []objects.Leaf
	if err == nil {
		leaves, err = t.Leaves()
	}
	if err != nil {
		return []part{{0, size, doWords}}, nil
	}
	covered := make([]target.Range, 0, len(leaves))
	for i := range leaves {
		l := &leaves[i]
		end := l.Offset + l.Size()
		if end > size {
			continue
		}
		covered = append(covered, target.Range{Start: target.Addr(l.Offset), End: target.Addr(end)})
		if do, ok := p.leaf(l); ok {
			out = append(out, part{l.Offset, l.Size(), do})
		} else if l.IsReference() && isStructure(l.Field.Name) {
			keeps = append(keeps, headerSize+l.Offset)
		}
	}
	slices.SortStableFunc(covered, func(a, b target.Range) int { return cmp.Compare(a.Start, b.Start) })
	at := uint64(0)
	for _, c := range append(covered, target.Range{Start: target.Addr(size), End: target.Addr(size)}) {
		if gap := uint64(c.Start) - min(at, uint64(c.Start)); gap >= wordSize { // less is padding
			out = append(out, part{at, gap, doWords})
		}
		at = max(at, uint64(c.End))
	}
	return out, keeps
}

// isStructure reports whether the array in a field is not data of the program: the numbers of elements in a
// ConcurrentDictionary.
func isStructure(name string) bool { return name == "_countPerLock" || name == "m_countPerLock" }

// leaf returns the change of a leaf, or false.
func (p *planner) leaf(l *objects.Leaf) (action, bool) {
	switch l.Type {
	case metadata.ElementChar:
		return doChar, true
	case metadata.ElementI4, metadata.ElementU4:
		if isCode(l.Field.Name) {
			return doCode, true
		}
	}
	if l.IsReference() || l.Type == metadata.ElementPtr || l.Type == metadata.ElementFnPtr {
		return 0, false
	}
	if n, err := l.Field.Declaring.InlineLength(); err == nil && n > 0 && l.Size() <= 2 {
		return doByte, true // a buffer of bytes
	}
	return doZero, p.numbers && isValue(l)
}

// isCode reports whether a field of a collection has the hash code of a key. Dictionaries do not key hash codes
// of strings, so a key could be guessed from its code.
func isCode(name string) bool {
	switch strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "m_"), "_")) {
	case "hashcode", "hash", "hash_coll", "hashkey":
		return true
	}
	return false
}

// numeric lists structs of the class library that are a number, a time or an id for their users.
var numeric = []string{"System.Decimal", "System.Guid", "System.DateTime", "System.DateTimeOffset", "System.TimeSpan", "System.DateOnly", "System.TimeOnly",
	"System.Half", "System.Int128", "System.UInt128", "System.Numerics.BigInteger", "System.Numerics.Complex"}

// isValue reports whether a leaf is data of the program: a number declared in its own types, a boxed number, a
// type argument, or a part of one of numeric. Fields of the class library and states of async methods are not
// data.
func isValue(l *objects.Leaf) bool {
	name, err := l.Field.Declaring.ManagedName()
	if err != nil {
		return true
	}
	if slices.Contains(numeric, name) || l.Field.Name == "m_value" {
		return true
	}
	if s := l.Field.Signature(); s != nil && s.Unmodified() != nil && s.Unmodified().Kind == metadata.ElementVar {
		return true
	}
	m, err := l.Field.Declaring.Module()
	if err != nil {
		return true
	}
	module, err := m.SimpleName()
	return err != nil || !ofFramework(module) && !strings.HasSuffix(l.Field.Name, "__state") && l.Type != metadata.ElementBoolean
}

// ofFramework reports whether a module with this name belongs to .NET.
func ofFramework(module string) bool {
	name := strings.ToLower(module)
	return strings.HasPrefix(name, "system.") || strings.HasPrefix(name, "microsoft.") || name == "system" || name == "mscorlib" || name == "netstandard"
}

// An objectIndex locates the objects of a segment that change.
type objectIndex struct {
	p       *planner
	objects target.Range
	blocks  []block        // their starts
	gaps    []target.Range // without objects, by address
	unknown []target.Range // damaged or left out
}

// index finds the objects that change in all segments of a heap.
func index(ctx context.Context, p *planner, o heap.ScanOptions) ([]*objectIndex, error) {
	var out []*objectIndex
	bySegment := map[target.Addr]*objectIndex{}
	segments := p.h.Segments()
	for i := range segments {
		s := &segments[i]
		x := &objectIndex{p: p, objects: s.Objects}
		out = append(out, x)
		bySegment[s.Objects.Start] = x
	}
	var last *objectIndex
	var next target.Addr // where an object is expected
	finish := func() {
		if last != nil && next < last.objects.End {
			last.gaps = append(last.gaps, target.Range{Start: next, End: last.objects.End})
		}
	}
	err := heap.Scan(ctx, p.h, nil, o, func() *indexer { return &indexer{p: p} }, func(c *indexer) error {
		for i := range c.runs {
			r := &c.runs[i]
			x := bySegment[r.segment]
			if x == nil {
				continue
			}
			if x != last {
				finish()
				last, next = x, x.objects.Start
			}
			if r.corrupt {
				x.unknown = append(x.unknown, target.Range{Start: r.start, End: r.end})
			} else if next < r.start {
				x.gaps = append(x.gaps, target.Range{Start: next, End: r.start})
			}
			for _, a := range r.changed {
				x.add(a)
			}
			for _, a := range r.kept {
				p.kept[a] = true
			}
			next = max(next, r.end)
		}
		return nil
	})
	finish()
	return out, err
}

// A run is a sequence of objects without gaps, or a place without an object.
type run struct {
	segment    target.Addr
	start, end target.Addr
	changed    []target.Addr
	kept       []target.Addr // arrays that stay
	corrupt    bool
}

// An indexer is the heap.Collector of index.
type indexer struct {
	p    *planner
	runs []run
}

// Objects implements heap.Collector.
func (c *indexer) Objects(s *heap.Segment, batch []heap.Object) {
	for i := range batch {
		o := &batch[i]
		n := len(c.runs)
		if n == 0 || c.runs[n-1].corrupt || c.runs[n-1].segment != s.Objects.Start || c.runs[n-1].end != o.Addr {
			c.runs = append(c.runs, run{segment: s.Objects.Start, start: o.Addr})
			n++
		}
		r := &c.runs[n-1]
		r.end = o.Next()
		plan := c.p.planOf(o)
		if plan.kind != planNone {
			r.changed = append(r.changed, o.Addr)
		}
		for _, off := range plan.keeps {
			r.kept = c.p.keep(r.kept, o.Addr+target.Addr(off))
		}
	}
}

// keep adds the array in the field at a, or the first element of an array of objects.
func (p *planner) keep(list []target.Addr, a target.Addr) []target.Addr {
	ref, err := target.Pointer(p.h.Memory(), a)
	if err != nil || ref == 0 {
		return list
	}
	if o, err := p.h.ObjectAt(ref); err == nil && o.Type.IsArray() && o.Type.ContainsPointers() && o.Length > 0 {
		if ref, err = target.Pointer(p.h.Memory(), ref+headerSize+wordSize); err != nil {
			return list
		}
	}
	return append(list, ref)
}

// Corrupt implements heap.Collector.
func (c *indexer) Corrupt(e *heap.Corruption) {
	c.runs = append(c.runs, run{segment: e.Segment.Objects.Start, start: e.Addr, end: e.Next, corrupt: true})
}

// Reset implements heap.Collector.
func (c *indexer) Reset() { c.runs = c.runs[:0] }

// A block has a bit for each word of blockSize bytes where an object that changes starts.
type block struct {
	n      uint64 // number of blocks from the segment's start
	starts [64]uint64
}

const blockSize = 64 * 64 * wordSize

// add adds an object that changes. Objects come in order.
func (x *objectIndex) add(a target.Addr) {
	off := uint64(a - x.objects.Start)
	if k := len(x.blocks); k == 0 || x.blocks[k-1].n != off/blockSize {
		x.blocks = append(x.blocks, block{n: off / blockSize})
	}
	word := off % blockSize / wordSize
	x.blocks[len(x.blocks)-1].starts[word/64] |= 1 << (word % 64)
}

// block returns the index of the first block from the n-th on.
func (x *objectIndex) block(n uint64) int {
	i, _ := slices.BinarySearchFunc(x.blocks, n, func(b block, n uint64) int { return cmp.Compare(b.n, n) })
	return i
}

// lastBefore returns the last object that changes and starts before a, or false.
func (x *objectIndex) lastBefore(a target.Addr) (target.Addr, bool) {
	if a <= x.objects.Start {
		return 0, false
	}
	last := uint64(a-x.objects.Start) - 1 // the last byte before a
	for i := x.block(last/blockSize+1) - 1; i >= 0; i-- {
		b := &x.blocks[i]
		for k := len(b.starts) - 1; k >= 0; k-- {
			w := b.starts[k]
			if word := last % blockSize / wordSize; b.n == last/blockSize && uint64(k) >= word/64 {
				if uint64(k) > word/64 {
					continue
				}
				w &= 1<<(word%64)<<1 - 1
			}
			if w != 0 {
				return x.objects.Start + target.Addr(b.n*blockSize+(64*uint64(k)+63-uint64(bits.LeadingZeros64(w)))*wordSize), true
			}
		}
	}
	return 0, false
}

// each calls f for the objects that change and start in [a, end), in order.
func (x *objectIndex) each(a, end target.Addr, f func(target.Addr)) {
	a, end = max(a, x.objects.Start), min(end, x.objects.End)
	if a >= end {
		return
	}
	for i := x.block(uint64(a-x.objects.Start) / blockSize); i < len(x.blocks); i++ {
		b := &x.blocks[i]
		for k, w := range b.starts {
			for ; w != 0; w &= w - 1 {
				o := x.objects.Start + target.Addr(b.n*blockSize+(64*uint64(k)+uint64(bits.TrailingZeros64(w)))*wordSize)
				if o >= end {
					return
				}
				if o >= a {
					f(o)
				}
			}
		}
	}
}

// apply changes b, the memory at a.
func (x *objectIndex) apply(j *job, b []byte, a target.Addr) {
	end := a + target.Addr(len(b))
	for _, g := range overlapping(x.unknown, a, end) {
		j.words(slice(b, a, g), max(a, g.Start), 0, &j.counts.Native)
	}
	for _, g := range overlapping(x.gaps, a, end) {
		// The header of the next object stays.
		g = target.Range{Start: max(g.Start-halfHeader, x.objects.Start), End: g.End - halfHeader}
		j.zero(slice(b, a, g), &j.counts.Free)
	}
	if first, ok := x.lastBefore(a); ok {
		x.object(j, b, a, first)
	}
	x.each(a, end, func(o target.Addr) { x.object(j, b, a, o) })
}

// overlapping returns the ranges that overlap [a, end). The list is in order and disjoint.
func overlapping(list []target.Range, a, end target.Addr) []target.Range {
	from, _ := slices.BinarySearchFunc(list, a, func(r target.Range, a target.Addr) int {
		if r.End <= a {
			return -1
		}
		return 1
	})
	to := from
	for to < len(list) && list[to].Start < end+halfHeader {
		to++
	}
	return list[from:to]
}

// slice returns the part of b, the memory at a, that r covers.
func slice(b []byte, a target.Addr, r target.Range) []byte {
	end := a + target.Addr(len(b))
	from, to := max(r.Start, a), min(r.End, end)
	if from >= to {
		return nil
	}
	return b[from-a : to-a]
}

// object changes the part of an object in b, the memory at a.
func (x *objectIndex) object(j *job, b []byte, a, o target.Addr) {
	head, err := target.Bytes(x.p.h.Memory(), o, headerSize+wordSize)
	if err != nil {
		return
	}
	p := x.p.plans.Get(target.Addr(binary.LittleEndian.Uint64(head)) &^ (wordSize - 1))
	if p == nil {
		return
	}
	length := uint64(0)
	if p.comp > 0 {
		length = uint64(binary.LittleEndian.Uint32(head[headerSize:]))
	}
	size := min(max(p.base+p.comp*length, 3*wordSize), uint64(x.objects.End-o))
	end := o + target.Addr((size+wordSize-1)&^(wordSize-1)) - halfHeader // end of the bytes before the next object
	at := func(off, n uint64) target.Range {
		start := o + target.Addr(off)
		return target.Range{Start: min(start, end), End: min(start+target.Addr(n), end)}
	}
	rest := at(p.data+p.comp*length, uint64(end-o))
	switch p.kind {
	case planFree:
		j.zero(slice(b, a, at(headerSize+wordSize, size)), &j.counts.Free)
	case planString, planText, planNumbers:
		r := at(p.data, p.comp*length)
		if p.comp == 0 {
			r = at(p.data, size)
		}
		if !x.p.kept[o] {
			x.text(j, b, a, r, p)
		}
		clear(slice(b, a, rest))
	case planParts:
		if p.comp == 0 {
			x.parts(j, b, a, o+target.Addr(p.data), p.parts, end)
			return
		}
		first := uint64(0)
		if start := o + target.Addr(p.data); a > start {
			first = uint64(a-start) / p.comp
		}
		for i := first; i < length; i++ {
			e := o + target.Addr(p.data+i*p.comp)
			if e >= a+target.Addr(len(b)) || e >= end {
				break
			}
			x.parts(j, b, a, e, p.parts, end)
		}
	}
}

// text replaces a text or an array. Zeros at its end stay, and an array of equal elements keeps equal elements:
// commands count them.
func (x *objectIndex) text(j *job, b []byte, a target.Addr, r target.Range, p *plan) {
	part := slice(b, a, r)
	if len(part) == 0 {
		return
	}
	from := int64(max(a, r.Start) - r.Start)
	var lead []uint16
	rest := byte(filler)
	whole, err := target.Bytes(x.p.h.Memory(), r.Start, int(r.Size()))
	if err == nil { // otherwise the filler replaces what is there
		f := j.form(r.Start, whole, int(p.comp))
		part = part[:min(max(f.used-from, 0), int64(len(part)))]
		if len(part) == 0 || p.kind == planString && j.public(whole) {
			return
		}
		lead = j.disguise.lead(whole, p.wide)
		if f.constant && p.kind != planString {
			lead, rest = lead[:0], byte(lead[0])
		}
	}
	count := &j.counts.Arrays
	switch p.kind {
	case planString:
		count = &j.counts.Strings
	case planNumbers:
		count = &j.counts.Numbers
	}
	count.Add(uint64(len(part)))
	write(part, from, lead, rest, p.wide)
}

// parts changes the parts of a struct.
func (x *objectIndex) parts(j *job, b []byte, a, start target.Addr, list []part, end target.Addr) {
	for _, q := range list {
		r := target.Range{Start: start + target.Addr(q.off), End: min(start+target.Addr(q.off+q.size), end)}
		piece := slice(b, a, r)
		if len(piece) == 0 {
			continue
		}
		switch q.do {
		case doZero:
			j.zero(piece, &j.counts.Numbers)
		case doWords:
			j.words(piece, max(a, r.Start), filler, &j.counts.Numbers)
		default:
			x.value(j, piece, max(a, r.Start), r, q.do)
		}
	}
}

// value replaces a character, a number or a hash code, which may be split between two pieces of memory.
func (x *objectIndex) value(j *job, piece []byte, at target.Addr, r target.Range, do action) {
	whole, err := target.Bytes(x.p.h.Memory(), r.Start, int(r.Size()))
	if err != nil {
		j.zero(piece, &j.counts.Numbers)
		return
	}
	fresh := slices.Clone(whole)
	switch {
	case blank(fresh):
		return
	case do == doChar:
		j.disguise.replace(fresh, true)
		j.counts.Arrays.Add(uint64(len(piece)))
	case do == doByte:
		j.disguise.replace(fresh, false)
		j.counts.Arrays.Add(uint64(len(piece)))
	case do == doNative:
		if j.isPointer(binary.LittleEndian.Uint64(fresh)) {
			return
		}
		j.disguise.replace(fresh, false)
		j.counts.Numbers.Add(uint64(len(piece)))
	default:
		binary.LittleEndian.PutUint32(fresh, j.disguise.code(binary.LittleEndian.Uint32(fresh)))
		j.counts.Codes.Add(uint64(len(piece)))
	}
	copy(piece, fresh[at-r.Start:])
}
