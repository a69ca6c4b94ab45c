package memorymap

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/sosgo/sosgo/answer"
	gcheap "github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/malloc"
	"github.com/sosgo/sosgo/target"
)

// Options selects what a description lists besides the sums.
type Options struct {
	List    bool `opt:"list" help:"all ranges by address, too"`
	Malloc  bool `opt:"malloc" help:"the arenas of malloc, its blocks by size, and what their first words point to, too"`
	Top     int  `opt:"top" range:"0:" default:"20" help:"rows of -malloc at most, 0 for all"` // rows of each list about malloc at most; 0 for all
	Symbols *image.Symbols
	Scan    gcheap.ScanOptions
}

type sumKey struct {
	kind   answer.MemoryKind
	detail string
}

// A describer sums up a map.
type describer struct {
	*Map
	ctx  context.Context
	o    Options
	a    *answer.MemoryMap
	sums map[sumKey]*answer.MemorySum
}

// kindOrder is the order of kinds in an answer.
var kindOrder = []answer.MemoryKind{answer.MemoryGeneration0, answer.MemoryGeneration1, answer.MemoryGeneration2, answer.MemoryEphemeral, answer.MemoryLarge,
	answer.MemoryPinned, answer.MemoryFrozen, answer.MemoryGCReserve, answer.MemoryGCTables, answer.MemoryLoaderHeap, answer.MemoryCodeHeap,
	answer.MemoryExecutable, answer.MemoryReadyToRun, answer.MemoryManagedImage, answer.MemoryNativeImage, answer.MemoryImage, answer.MemoryFile,
	answer.MemoryStack, answer.MemoryMalloc, answer.MemoryMallocMapped, answer.MemoryMallocReserve, answer.MemorySystem, answer.MemoryUnknown, answer.MemoryReserved}

// knownBy is the source of each kind that is more than a mapping.
var knownBy = map[answer.MemoryKind]string{
	answer.MemoryGeneration0: "runtime", answer.MemoryGeneration1: "runtime", answer.MemoryGeneration2: "runtime", answer.MemoryEphemeral: "runtime",
	answer.MemoryLarge: "runtime", answer.MemoryPinned: "runtime", answer.MemoryFrozen: "runtime", answer.MemoryGCReserve: "runtime",
	answer.MemoryGCTables: "runtime", answer.MemoryLoaderHeap: "runtime", answer.MemoryCodeHeap: "runtime",
	answer.MemoryReadyToRun: "images", answer.MemoryManagedImage: "images", answer.MemoryNativeImage: "images",
	answer.MemoryStack: "stacks", answer.MemoryMalloc: "malloc", answer.MemoryMallocMapped: "malloc", answer.MemoryMallocReserve: "malloc",
}

// sum adds up the pieces.
func (d *describer) sum() {
	for i := range d.ranges {
		p := &d.ranges[i]
		k := sumKey{p.kind, p.detail}
		s := d.sums[k]
		if s == nil {
			known := knownBy[p.kind]
			if known == "" {
				known = "mappings"
			}
			s = &answer.MemorySum{Kind: p.kind, Detail: p.detail, Known: known}
			d.sums[k] = s
		}
		for _, s := range [...]*answer.MemorySum{s, &d.a.Mappings} {
			s.Ranges++
			s.Size += p.Size()
			s.Stored += p.stored
			if p.noAccess {
				s.NoAccess += p.Size()
			}
		}
	}
	for _, kind := range kindOrder {
		var of []answer.MemorySum
		for k, s := range d.sums {
			if k.kind == kind {
				of = append(of, *s)
			}
		}
		slices.SortStableFunc(of, func(a, b answer.MemorySum) int {
			return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Detail, b.Detail))
		})
		d.a.Kinds = append(d.a.Kinds, of...)
	}
	for i := range d.a.Kinds {
		s := &d.a.Kinds[i]
		d.sums[sumKey{s.Kind, s.Detail}] = s
	}
}

// list lists the pieces.
func (d *describer) list() {
	d.a.Ranges = make([]answer.MemoryRange, len(d.ranges))
	for i := range d.ranges {
		p := &d.ranges[i]
		d.a.Ranges[i] = answer.MemoryRange{Start: p.Start, End: p.End, Kind: p.kind, Detail: p.detail, Access: p.region.Prot.String(), Stored: p.stored, Path: p.region.Path}
	}
}

// generationKinds maps the names of generations in answers to kinds of memory.
var generationKinds = map[string]answer.MemoryKind{"0": answer.MemoryGeneration0, "1": answer.MemoryGeneration1, "2": answer.MemoryGeneration2,
	"large": answer.MemoryLarge, "pinned": answer.MemoryPinned, "frozen": answer.MemoryFrozen, answer.Ephemeral: answer.MemoryEphemeral}

// gcHeaps counts the objects and free blocks of the GC heaps.
func (d *describer) gcHeaps() error {
	for _, h := range d.heaps {
		if err := h.Unread(); err != nil {
			d.a.Note(fmt.Errorf("objects: %w", err))
			continue
		}
		sizes, err := h.Sizes(d.ctx, d.o.Scan)
		if err != nil {
			if d.ctx.Err() != nil {
				return err
			}
			d.a.Note(fmt.Errorf("objects: %w", err))
			continue
		}
		d.a.NoteAll(sizes.Noted())
		for i := range sizes.Heaps {
			d.generations(sizes.Heaps[i].Generations)
		}
	}
	return nil
}

// generations adds the objects of one heap. In a segment shared by generations they count for the segment.
func (d *describer) generations(list []answer.GenerationSize) {
	var shared *answer.GenerationSize
	if last := &list[len(list)-1]; last.Generation == answer.Ephemeral {
		shared = last
	}
	var free uint64 // of generations that may share a segment
	for i := range list {
		g := &list[i]
		live, unused := g.Live, g.Free
		if shared != nil && g != shared {
			switch g.Generation {
			case "0", "1":
				free += g.Free
				continue
			case "2":
				live -= min(live, g.Shared)
				unused += free
				unused -= min(unused, shared.Free)
			}
		}
		if s := d.sums[sumKey{kind: generationKinds[g.Generation]}]; s != nil {
			add(&s.InUse, live)
			add(&s.Free, unused)
			s.Partial = s.Partial || g.Unread != nil || g.Err != nil
		}
	}
}

func add(to **uint64, n uint64) {
	if *to == nil {
		*to = new(uint64)
	}
	**to += n
}

// native counts the blocks of malloc.
func (d *describer) native() error {
	if d.malloc == nil {
		return nil
	}
	n := &answer.NativeHeap{Library: d.malloc.Library, Others: d.malloc.Others, Arenas: []answer.NativeArena{}, Sizes: []answer.NativeSizes{}}
	c := blockCounter{describer: d, n: n, sizes: map[int]*answer.NativeSizes{}, owners: map[target.Addr]*answer.NativeOwner{}, win: target.NewWindow(d.p.Memory())}
	if d.o.Malloc {
		n.Words = map[string]answer.NativeSum{}
		c.modules = d.p.Target().Modules()
	}
	var unread uint64
	for i := range d.malloc.Arenas {
		row, err := c.arena(&d.malloc.Arenas[i])
		if err != nil {
			return err
		}
		unread += row.Unread
		n.Arenas = append(n.Arenas, row)
	}
	if counted := d.malloc.Mapped; counted != nil {
		n.Counted = &answer.NativeSum{Blocks: counted.Chunks, Bytes: counted.Bytes}
	}
	for i := range d.mapped {
		n.Mapped.Blocks, n.Mapped.Bytes = n.Mapped.Blocks+1, n.Mapped.Bytes+d.mapped[i].Size
		c.owner(&d.mapped[i])
	}
	if n.Counted != nil && n.Mapped != *n.Counted {
		d.a.Note(target.Corruptf("malloc counts %d blocks of %d bytes with mappings of their own, and %d of %d bytes look like one",
			n.Counted.Blocks, n.Counted.Bytes, n.Mapped.Blocks, n.Mapped.Bytes))
	}
	for class := range 64 {
		if s := c.sizes[class]; s != nil {
			n.Sizes = append(n.Sizes, *s)
		}
	}
	c.list()
	d.a.Native = n
	if s := d.sums[sumKey{kind: answer.MemoryMalloc}]; s != nil {
		add(&s.InUse, n.InUse.Bytes)
		add(&s.Free, n.Free.Bytes+n.Cached.Bytes+n.Top.Bytes)
		s.Partial = unread > 0
	}
	if s := d.sums[sumKey{kind: answer.MemoryMallocMapped}]; s != nil {
		add(&s.InUse, n.Mapped.Bytes)
	}
	return nil
}

// A blockCounter counts blocks of malloc.
type blockCounter struct {
	*describer
	n       *answer.NativeHeap
	sizes   map[int]*answer.NativeSizes
	owners  map[target.Addr]*answer.NativeOwner // by the first word
	beyond  uint64                              // blocks of unlisted owners
	unread  error                               // error for the first unreadable word
	modules []target.Module
	win     *target.Window
}

// arena counts the blocks of an arena.
func (c *blockCounter) arena(a *malloc.Arena) (answer.NativeArena, error) {
	row := answer.NativeArena{Address: a.Addr, Main: a.Main, Heaps: len(a.Heaps)}
	if a.Addr != 0 {
		row.Threads = &a.Threads
	}
	for i := range a.Heaps {
		h := &a.Heaps[i]
		if i == 0 {
			row.Start = h.Range.Start
		}
		row.Size += h.Range.Size()
		end := h.Chunks
		for chunk, err := range c.malloc.Chunks(c.ctx, &malloc.Arena{Heaps: a.Heaps[i : i+1]}) {
			if cerr := c.ctx.Err(); cerr != nil {
				return row, cerr
			}
			if err != nil {
				row.Unread += uint64(h.Range.End - end)
				row.Err = cmp.Or(row.Err, err)
				c.a.Note(err)
				break
			}
			end = chunk.Addr + target.Addr(chunk.Size)
			c.count(&chunk, &row)
		}
	}
	return row, nil
}

func (c *blockCounter) count(chunk *malloc.Chunk, row *answer.NativeArena) {
	n := c.n
	switch chunk.State {
	case malloc.ChunkTop:
		addBlock(&n.Top, chunk.Size)
		row.Top += chunk.Size
		return
	case malloc.ChunkInUse:
		addBlock(&n.InUse, chunk.Size)
		addBlock(&row.InUse, chunk.Size)
		addBlock(&c.class(chunk.Size).InUse, chunk.Size)
		c.owner(chunk)
		return
	case malloc.ChunkCached:
		addBlock(&n.Cached, chunk.Size)
	default:
		addBlock(&n.Free, chunk.Size)
	}
	addBlock(&row.Free, chunk.Size)
	addBlock(&c.class(chunk.Size).Free, chunk.Size)
}

func addBlock(s *answer.NativeSum, size uint64) { s.Blocks, s.Bytes = s.Blocks+1, s.Bytes+size }

// class returns the row for blocks of a size. Rows end at powers of two.
func (c *blockCounter) class(size uint64) *answer.NativeSizes {
	k := bits.Len64(size - 1)
	s := c.sizes[k]
	if s == nil {
		s = &answer.NativeSizes{UpTo: 1 << k}
		c.sizes[k] = s
	}
	return s
}

// owner counts a block in use by its first word.
func (c *blockCounter) owner(chunk *malloc.Chunk) {
	if !c.o.Malloc {
		return
	}
	what := "other"
	first, err := c.win.Uint64(chunk.Data())
	at := target.Addr(first)
	switch m := target.ModuleAt(c.modules, at); {
	case err != nil: // the mapping's end is not in the dump
		what = "unread"
		c.unread = cmp.Or(c.unread, err)
	case first == 0:
		what = "zero"
	case m != nil:
		what = "image"
		o := c.owners[at]
		if o == nil {
			if len(c.owners) >= limits.MallocOwners {
				c.beyond++
				break
			}
			o = &answer.NativeOwner{Module: m.Path, Offset: answer.Hex(at - m.Base), Example: chunk.Data()}
			c.owners[at] = o
		}
		addBlock(&o.NativeSum, chunk.Size)
	case c.isMalloc(at):
		what = "block"
	}
	s := c.n.Words[what]
	addBlock(&s, chunk.Size)
	c.n.Words[what] = s
}

// isMalloc reports whether an address lies in malloc's memory.
func (c *blockCounter) isMalloc(a target.Addr) bool {
	p := c.at(a)
	return p != nil && (p.kind == answer.MemoryMalloc || p.kind == answer.MemoryMallocMapped)
}

// list lists the owners, the most bytes first.
func (c *blockCounter) list() {
	if !c.o.Malloc {
		return
	}
	words := make([]target.Addr, 0, len(c.owners))
	for at := range c.owners {
		words = append(words, at)
	}
	slices.SortStableFunc(words, func(x, y target.Addr) int {
		return cmp.Or(cmp.Compare(c.owners[y].Bytes, c.owners[x].Bytes), cmp.Compare(x, y))
	})
	if n := c.o.Top; n > 0 && len(words) > n {
		c.n.More, words = len(words)-n, words[:n]
	}
	for _, at := range words {
		o := c.owners[at]
		if c.o.Symbols != nil {
			if s, ok := c.o.Symbols.At(at); ok && s.Name != "" && o.Offset != 0 {
				o.Symbol = fmt.Sprintf("%s+%#x", s.Name, s.Offset)
			}
		}
		c.n.Owners = append(c.n.Owners, *o)
	}
	if c.unread != nil {
		n := c.n.Words["unread"]
		c.a.Note(fmt.Errorf("the first word of %s in use: %w", answer.Count(int(n.Blocks), "block", "blocks"), c.unread))
	}
	if c.beyond > 0 {
		c.a.Note(target.Limitf("%d blocks have first words beyond the first %d different ones", c.beyond, limits.MallocOwners))
	}
}

// at returns the piece that holds an address, or nil.
func (m *Map) at(a target.Addr) *piece {
	i, found := slices.BinarySearchFunc(m.ranges, a, func(p piece, a target.Addr) int {
		switch {
		case p.Start > a:
			return 1
		case p.End <= a:
			return -1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &m.ranges[i]
}
