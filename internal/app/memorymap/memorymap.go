package memorymap

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	gcheap "github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/teb"
	"github.com/sosgo/sosgo/internal/image/malloc"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Map is the memory of a process by kind. It is immutable and safe for concurrent use.
type Map struct {
	p        *process.Process
	ranges   []piece           // the parts of mappings, by address
	malloc   *malloc.Allocator // nil if it can't be read
	mapped   []malloc.Chunk    // malloc blocks with their own mappings
	heaps    []*gcheap.Heap
	loader   uint64 // bytes of loader heaps that the dump has
	stacks   uint64 // bytes of stacks in use
	complete bool
	gaps     answer.Gaps
}

// A piece is a part of a mapping with one kind.
type piece struct {
	target.Range
	kind     answer.MemoryKind
	detail   string
	region   target.Region // the first mapping that it is part of
	stored   uint64
	noAccess bool
}

// joins reports whether next continues p. A list of mappings may split one mapping.
func (p *piece) joins(next *piece) bool {
	return p.End == next.Start && p.kind == next.kind && p.detail == next.detail && p.noAccess == next.noAccess &&
		p.region.Prot == next.region.Prot && p.region.Path == next.region.Path
}

// A claim is a range with a known purpose.
type claim struct {
	target.Range
	kind   answer.MemoryKind
	detail string
	rank   int  // if two claims overlap, the lower rank has the memory
	idle   bool // only memory that may be unused
}

// Ranks of claims.
const (
	rankGC = iota
	rankRuntime
	rankMalloc
	rankStack
	rankMapped
	rankImage
	rankStackMapping
	rankReserve
	rankBesideStack // what the kernel merged with a stack
)

// maps caches the map of each dump.
var maps = process.PerDump(func(d *process.Dump) (*Map, error) {
	p, err := d.Process("")
	if err != nil && len(d.Runtimes()) > 0 {
		return nil, err
	}
	return newMap(p), nil // without a runtime the map shows less
})

// Of returns the map of a process, with the memory of all its runtimes. It is built once per dump. Descriptions note
// what could not be read.
func Of(p *process.Process) (*Map, error) { return maps(p.Dump()) }

func newMap(p *process.Process) *Map {
	m := &Map{p: p}
	b := builder{Map: m}
	b.readRegions()
	for _, r := range p.Dump().Processes() {
		b.runtime(r)
	}
	b.images()
	b.threads()
	b.native()
	m.ranges = b.cut(b.claims)
	for _, r := range b.used {
		if p := m.at(r.Start); p != nil && p.kind == answer.MemoryStack {
			m.stacks += uint64(min(r.End, p.End) - r.Start)
		}
	}
	return m
}

// A builder gathers claims.
type builder struct {
	*Map
	regions []target.Region
	claims  []claim
	used    []target.Range // used parts of stacks, from the stack pointers
}

func (b *builder) claim(r target.Range, kind answer.MemoryKind, detail string, rank int) {
	if r.Start < r.End {
		b.claims = append(b.claims, claim{Range: r, kind: kind, detail: detail, rank: rank})
	}
}

// readRegions reads the list of mappings. The list counts as complete if it has inaccessible memory: writers that list
// only stored memory have no such entries.
func (b *builder) readRegions() {
	for r := range b.p.Target().Regions() {
		if r.Kind == target.RegionFree || r.Size == 0 {
			continue
		}
		b.complete = b.complete || noAccess(&r)
		b.regions = append(b.regions, r)
	}
}

// runtime claims the memory of a runtime.
func (b *builder) runtime(p *process.Process) {
	rt, err := p.Runtime()
	if err != nil {
		b.gaps.Note(err)
		return
	}
	if h, err := p.Heap(); err != nil {
		b.gaps.Note(fmt.Errorf("GC heap: %w", err))
	} else {
		b.heaps = append(b.heaps, h)
		b.gcHeap(h)
	}
	loader, err := rt.LoaderHeaps()
	switch {
	case rt.Check(dac.FeatureModules) != nil:
		return // NativeAOT does not have them
	case err != nil:
		b.gaps.Note(fmt.Errorf("loader heaps: %w", err))
		return
	}
	b.gaps.NoteAll(loader.Noted())
	for i := range loader.Heaps {
		h := &loader.Heaps[i]
		kind := answer.MemoryLoaderHeap
		if h.Kind == dac.LoaderCodeHeap.String() || h.Kind == dac.HostCodeHeap.String() {
			kind = answer.MemoryCodeHeap
		}
		for _, block := range h.Blocks {
			b.claim(target.RangeAt(block.Address, block.Size), kind, h.Kind, rankRuntime)
			b.loader += block.Stored
		}
	}
}

var segmentKinds = map[gcheap.SegmentKind]answer.MemoryKind{
	gcheap.KindGeneration0: answer.MemoryGeneration0, gcheap.KindGeneration1: answer.MemoryGeneration1, gcheap.KindGeneration2: answer.MemoryGeneration2,
	gcheap.KindLarge: answer.MemoryLarge, gcheap.KindPinned: answer.MemoryPinned, gcheap.KindFrozen: answer.MemoryFrozen, gcheap.KindEphemeral: answer.MemoryEphemeral,
}

// gcHeap claims the segments of a heap and the GC's tables.
func (b *builder) gcHeap(h *gcheap.Heap) {
	for _, s := range h.Segments() {
		b.claim(s.Committed, segmentKinds[s.Kind], "", rankGC)
		b.claim(s.Reserved, answer.MemoryGCReserve, "", rankGC)
	}
	b.gaps.NoteAll(h.Warnings())
	tables, err := h.Bookkeeping()
	if err != nil && !errors.Is(err, target.ErrUnsupported) {
		b.gaps.Note(fmt.Errorf("tables of the garbage collector: %w", err))
	}
	if tables == nil {
		return
	}
	for _, r := range tables.Tables {
		b.claim(r, answer.MemoryGCTables, "", rankGC)
	}
	b.claim(tables.Reserved, answer.MemoryGCReserve, "", rankRuntime)
}

// images claims the images of the process.
func (b *builder) images() {
	modules := b.p.Target().Modules()
	for i := range modules {
		m := &modules[i]
		b.claim(target.RangeAt(m.Base, m.Size), b.imageKind(m), "", rankImage)
	}
}

func (b *builder) imageKind(m *target.Module) answer.MemoryKind {
	img, err := image.OpenMemory(b.p.Memory(), m)
	if err != nil {
		return answer.MemoryImage
	}
	if img.Kind() != image.KindPE {
		return answer.MemoryNativeImage
	}
	_, err = img.CLRHeader()
	switch {
	case errors.Is(err, target.ErrUnsupported):
		return answer.MemoryNativeImage
	case err != nil:
		return answer.MemoryImage
	}
	switch _, err = img.ReadyToRun(); {
	case err == nil:
		return answer.MemoryReadyToRun
	case errors.Is(err, target.ErrUnsupported):
		return answer.MemoryManagedImage
	}
	return answer.MemoryImage
}

// threads claims the stacks. If neither the runtime nor the system records the bounds of a stack, it is the mapping
// with the stack pointer.
func (b *builder) threads() {
	list, err := b.p.Threads()
	if err != nil && len(b.p.Dump().Runtimes()) > 0 && len(list) == 0 {
		b.gaps.Note(err)
	}
	largest := uint64(0)
	for i := range list {
		if t := &list[i]; t.Managed != nil {
			largest = max(largest, t.Managed.Stack.Size())
		}
	}
	for i := range list {
		t := &list[i]
		if t.Managed != nil {
			b.claim(t.Managed.Stack, answer.MemoryStack, "", rankStack)
		}
		if t.OS == nil {
			continue
		}
		if whole, err := teb.Stack(b.p.Target(), t.OS.TEB, b.p.Target().Platform().Arch); err == nil {
			if reserved, err := teb.Reserved(b.p.Target(), t.OS.TEB, b.p.Target().Platform().Arch); err == nil && reserved < whole.Start {
				whole.Start = reserved
			}
			if whole.Size() <= limits.StackScan {
				b.claim(whole, answer.MemoryStack, "", rankStack)
			}
		}
		used, err := t.Stack(b.p.Target())
		if err != nil {
			continue
		}
		b.used = append(b.used, used.Ranges[0])
		if r := b.regionOf(used.Ranges[0].Start); r != nil && r.Path == "" {
			mapping := target.RangeAt(r.Start, r.Size)
			if stack := threads.StackMapping(mapping, used.Ranges[0].Start, boundsOf(t), largest); stack != mapping {
				b.claim(stack, answer.MemoryStack, "", rankStackMapping)
				b.claim(mapping, answer.MemoryUnknown, "", rankBesideStack)
			} else {
				b.claim(mapping, answer.MemoryStack, "", rankStackMapping)
			}
		}
	}
}

// regionOf returns the mapping that holds a, or nil.
func (b *builder) regionOf(a target.Addr) *target.Region {
	i, found := slices.BinarySearchFunc(b.regions, a, func(r target.Region, a target.Addr) int {
		switch {
		case r.Start > a:
			return 1
		case uint64(a-r.Start) >= r.Size:
			return -1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &b.regions[i]
}

// native claims the memory of malloc. It searches unclaimed memory for blocks with their own mappings.
func (b *builder) native() {
	a, err := malloc.Open(b.p.Target(), b.p.Memory())
	if err != nil {
		b.gaps.Note(fmt.Errorf("native heaps: %w", err))
		return
	}
	b.malloc = a
	b.gaps.NoteAll(a.Missing)
	for i := range a.Arenas {
		for _, h := range a.Arenas[i].Heaps {
			b.claim(h.Range, answer.MemoryMalloc, "", rankMalloc)
			b.claims = append(b.claims, claim{Range: h.Space, kind: answer.MemoryMallocReserve, rank: rankReserve, idle: true})
		}
	}
	var rest []target.Range
	for _, p := range b.cut(b.claims) {
		if (p.kind == answer.MemoryUnknown || p.kind == answer.MemoryStack) && p.region.Prot == target.ProtRead|target.ProtWrite {
			if n := len(rest); n > 0 && rest[n-1].End == p.Start {
				rest[n-1].End = p.End
			} else {
				rest = append(rest, p.Range)
			}
		}
	}
	b.mapped = a.MappedChunks(rest)
	for _, c := range b.mapped {
		b.claim(target.RangeAt(c.Addr, c.Size), answer.MemoryMallocMapped, "", rankMapped)
	}
}

// cut cuts the mappings into pieces of one kind each.
func (b *builder) cut(claims []claim) []piece {
	var out []piece
	s := newSweep(claims)
	for i := range b.regions {
		r := &b.regions[i]
		end := r.Start + target.Addr(r.Size)
		for at := r.Start; at < end; {
			c, until := s.at(at, idle(r))
			p := piece{Range: target.Range{Start: at, End: min(end, until)}, region: *r, noAccess: noAccess(r)}
			if c != nil {
				p.kind, p.detail = c.kind, c.detail
			} else {
				p.kind = kindOf(r)
			}
			p.stored = min(uint64(p.End-r.Start), r.Stored) - min(uint64(at-r.Start), r.Stored)
			at = p.End
			if n := len(out); n > 0 && out[n-1].joins(&p) {
				out[n-1].End, out[n-1].stored = p.End, out[n-1].stored+p.stored
				continue
			}
			out = append(out, p)
		}
	}
	return out
}

// noAccess reports whether a mapping is inaccessible. File mappings are excluded: dumps without recorded access show
// them so.
func noAccess(r *target.Region) bool {
	return r.Prot == 0 && r.Kind != target.RegionUnknown && r.Path == ""
}

// idle reports whether a mapping may be reserved and unused memory. gcore records all memory as readable.
func idle(r *target.Region) bool {
	return r.Prot&^target.ProtRead == 0 && r.Kind != target.RegionUnknown && r.Path == ""
}

// kindOf returns the kind of a mapping from the list of mappings alone.
func kindOf(r *target.Region) answer.MemoryKind {
	switch {
	case strings.HasPrefix(r.Path, "/memfd:doublemapper"):
		return answer.MemoryExecutable
	case r.Kind == target.RegionImage:
		return answer.MemoryImage
	case r.Path == "[vdso]" || r.Path == "[vvar]" || r.Path == "[vsyscall]":
		return answer.MemorySystem
	case r.Path != "" && r.Path[0] != '[':
		return answer.MemoryFile
	case r.Kind == target.RegionStack || strings.HasPrefix(r.Path, "[stack"):
		return answer.MemoryStack
	case noAccess(r):
		return answer.MemoryReserved
	}
	return answer.MemoryUnknown
}

// A sweep finds claims for increasing addresses.
type sweep struct {
	claims []claim // remaining claims, by start
	active activeClaims
}

// activeClaims is a heap ordered by lowest rank, then by latest start.
type activeClaims []claim

func (a activeClaims) Len() int { return len(a) }
func (a activeClaims) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].rank, a[j].rank), cmp.Compare(a[j].Start, a[i].Start), cmp.Compare(a[i].kind, a[j].kind), cmp.Compare(a[i].detail, a[j].detail)) < 0
}
func (a activeClaims) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *activeClaims) Push(x any)   { *a = append(*a, x.(claim)) }
func (a *activeClaims) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func newSweep(claims []claim) *sweep {
	claims = slices.Clone(claims)
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(a.Start, b.Start) })
	return &sweep{claims: claims}
}

// at returns the claim for address a, or nil, and the address where the claim may change. Addresses must not decrease
// between calls.
func (s *sweep) at(a target.Addr, idle bool) (*claim, target.Addr) {
	for len(s.claims) > 0 && s.claims[0].Start <= a {
		heap.Push(&s.active, s.claims[0])
		s.claims = s.claims[1:]
	}
	until := ^target.Addr(0)
	if len(s.claims) > 0 {
		until = s.claims[0].Start
	}
	for len(s.active) > 0 && s.active[0].End <= a {
		heap.Pop(&s.active)
	}
	if len(s.active) == 0 {
		return nil, until
	}
	if c := &s.active[0]; !c.idle || idle {
		return c, min(until, c.End)
	}
	return nil, min(until, s.active[0].End)
}

// At returns the purpose of the memory at an address, with its malloc block. It reports false if nothing is mapped
// there.
func (m *Map) At(ctx context.Context, a target.Addr) (answer.AddressMemory, bool) {
	if m == nil {
		return answer.AddressMemory{}, false
	}
	p := m.at(a)
	if p == nil {
		return answer.AddressMemory{}, false
	}
	out := answer.AddressMemory{Kind: p.kind, Detail: p.detail}
	switch p.kind {
	case answer.MemoryMalloc:
		if c, ok := m.malloc.ChunkAt(ctx, a); ok {
			out.Block = &answer.NativeBlock{Address: c.Data(), Size: c.Size, State: answer.BlockState(c.State.String())}
		}
	case answer.MemoryMallocMapped:
		for i := range m.mapped {
			if c := &m.mapped[i]; a >= c.Addr && uint64(a-c.Addr) < c.Size {
				out.Block = &answer.NativeBlock{Address: c.Data(), Size: c.Size, State: answer.BlockState(c.State.String())}
			}
		}
	}
	return out, true
}

// Malloc returns the bytes that malloc's arenas have from the system, and the bytes of blocks with their own mappings.
// If counted is set the latter is malloc's own count, otherwise the sum of the blocks found. The error is why memory of
// malloc may be missing.
func (m *Map) Malloc() (arenas, blocks uint64, counted bool, err error) {
	if m.malloc == nil {
		return 0, 0, false, cmp.Or(m.gaps.Failure(), target.Unsupportedf("the process has no malloc that can be read"))
	}
	for i := range m.malloc.Arenas {
		for _, h := range m.malloc.Arenas[i].Heaps {
			arenas += h.Range.Size()
		}
	}
	if c := m.malloc.Mapped; c != nil {
		return arenas, c.Bytes, true, cmp.Or(m.malloc.Missing...)
	}
	for i := range m.mapped {
		blocks += m.mapped[i].Size
	}
	return arenas, blocks, false, cmp.Or(cmp.Or(m.malloc.Missing...), target.ErrNotInDump)
}

// committed are the kinds of memory with GC objects.
var committed = []answer.MemoryKind{answer.MemoryGeneration0, answer.MemoryGeneration1, answer.MemoryGeneration2, answer.MemoryLarge, answer.MemoryPinned, answer.MemoryFrozen,
	answer.MemoryEphemeral}

// Committed returns the committed bytes of the GC heaps of all runtimes.
func (m *Map) Committed() (n uint64) {
	for i := range m.ranges {
		if slices.Contains(committed, m.ranges[i].kind) {
			n += m.ranges[i].Size()
		}
	}
	return n
}

// Describe sums up the map. It reads all objects of the GC heap and all blocks of malloc to count them. The error is
// ctx's.
func (m *Map) Describe(ctx context.Context, o Options) (*answer.MemoryMap, error) {
	d := describer{Map: m, ctx: ctx, o: o, a: &answer.MemoryMap{Complete: m.complete, Kinds: []answer.MemorySum{}}, sums: map[sumKey]*answer.MemorySum{}}
	d.a.NoteAll(m.gaps.Noted())
	if f, ok := m.p.Target().(interface{ LeftOutBytes() uint64 }); ok {
		d.a.LeftOut = f.LeftOutBytes()
	}
	for _, c := range m.p.Target().Process().Counters {
		d.a.Counters = append(d.a.Counters, answer.MemoryCounter{Name: c.Name, Bytes: c.Bytes})
	}
	d.sum()
	if err := d.gcHeaps(); err != nil {
		return nil, err
	}
	if err := d.native(); err != nil {
		return nil, err
	}
	if s := d.sums[sumKey{kind: answer.MemoryStack}]; s != nil && m.stacks > 0 {
		s.InUse = &m.stacks
	}
	if o.List {
		d.list()
	}
	return d.a, nil
}

// boundsOf returns the bounds of a thread's stack that the runtime records, if it does.
func boundsOf(t *stackwalk.Thread) target.Range {
	if t.Managed == nil {
		return target.Range{}
	}
	return t.Managed.Stack
}
