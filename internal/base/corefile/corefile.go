// Package corefile holds what ELF and Mach-O cores have in common: the process while a core is
// being opened (Core), and the opened core (File), which implements target.Target. The formats are
// decoded in internal/dump/elfcore and internal/dump/machocore.
package corefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// A Core is the process while its core is being opened. Its memory is the embedded Map.
type Core struct {
	memmap.Map

	Platform  target.Platform
	Process   target.Process // its Container names the format
	Modules   []target.Module
	Threads   []target.Thread
	Regions   []target.Region // by address
	Exception *target.Exception
	Warnings  []error
	CutNotes  uint64 // bytes of notes past the end of the file
	ListsAll  bool   // the kernel wrote the core
	KeptOut   bool   // gdb wrote it, without memory that the process keeps out of cores
}

// maxWarnings limits the warnings of one core, so that a million broken notes yield a few lines.
const maxWarnings = 64

// Warn adds a warning.
func (c *Core) Warn(err error) {
	switch len(c.Warnings) {
	case maxWarnings:
	case maxWarnings - 1:
		c.Warnings = append(c.Warnings, target.Corruptf("%s: more warnings of this kind", c.Process.Container))
	default:
		c.Warnings = append(c.Warnings, err)
	}
}

// MapMemory builds the address space from the stored ranges and reports whether it has any memory.
// Memory that was not stored is missing, not zero. contradictory is the number of segments that are
// larger in the file than in memory. note is the note of sosgo shrink, or nil.
func (c *Core) MapMemory(src target.Source, ranges []memmap.Range, contradictory int, note *leftout.Note) bool {
	if contradictory > 0 {
		c.Warn(target.Corruptf("%d segments are larger in the file than in memory: the excess is ignored", contradictory))
	}
	build := memmap.New
	if note != nil {
		build = func(src target.Source, ranges []memmap.Range) (*memmap.Map, []error) {
			return memmap.NewShrunk(src, ranges, note)
		}
	}
	mem, warnings := build(src, ranges)
	c.Map = *mem
	for _, w := range warnings {
		c.Warn(w)
	}
	return len(mem.Ranges()) > 0
}

// ReadAt returns n bytes at off of the file, lent or copied.
func ReadAt(src target.Source, off, n uint64) ([]byte, error) {
	size := uint64(src.Size())
	if off > size || n > size-off {
		return nil, fmt.Errorf("%d bytes wanted at offset %#x of a file of %d: %w", n, off, size, io.ErrUnexpectedEOF)
	}
	if b := src.Bytes(int64(off), int(n)); b != nil || n == 0 {
		return b, nil
	}
	b := make([]byte, n)
	if got, err := src.ReadAt(b, int64(off)); got < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read %d bytes at offset %#x: %w", n, off, err)
	}
	return b, nil
}

// stackPage is the alignment of the lower end of a stack, in bytes.
const stackPage = 4096

// FindStacks sets the stack of each thread: from the page of its stack pointer to the end of the
// mapping that contains it. A core records no better limits. The end can be too high if the loader
// placed something else above the stack, such as static TLS.
func (c *Core) FindStacks() {
	ends := c.mappingEnds()
	for i := range c.Threads {
		t := &c.Threads[i]
		sp, ok := t.Registers.SP()
		if !ok {
			continue
		}
		if r := c.regionAt(sp); r >= 0 {
			t.Stack = target.Range{Start: max(c.Regions[r].Start, sp&^(stackPage-1)), End: ends[r]}
			if c.Regions[r].Kind == target.RegionPrivate {
				c.Regions[r].Kind = target.RegionStack
			}
		}
	}
	for i := 1; i < len(c.Regions); i++ {
		if c.Regions[i-1].Kind == target.RegionStack && c.sameMapping(i-1, i) {
			c.Regions[i].Kind = target.RegionStack
		}
	}
}

// mappingEnds returns the end of each region's mapping. One mapping may be several regions, because
// createdump writes only some of its pages.
func (c *Core) mappingEnds() []target.Addr {
	ends := make([]target.Addr, len(c.Regions))
	for i, r := range slices.Backward(c.Regions) {
		ends[i] = r.Start + target.Addr(r.Size)
		if i+1 < len(ends) && c.sameMapping(i, i+1) {
			ends[i] = ends[i+1]
		}
	}
	return ends
}

// regionAt returns the index of the region that contains a, or -1.
func (c *Core) regionAt(a target.Addr) int {
	i, found := slices.BinarySearchFunc(c.Regions, a, func(r target.Region, a target.Addr) int { return cmp.Compare(r.Start, a) })
	if !found {
		i--
	}
	if i < 0 || uint64(a-c.Regions[i].Start) >= c.Regions[i].Size {
		return -1
	}
	return i
}

// sameMapping reports whether region j, the one after i, continues i.
func (c *Core) sameMapping(i, j int) bool {
	x, y := &c.Regions[i], &c.Regions[j]
	return x.Start+target.Addr(x.Size) == y.Start && x.Prot == y.Prot && x.Path == "" && y.Path == "" && y.Kind != target.RegionUnknown
}

// claims returns the memory that the process had, stored or not. A writer that takes whole regions
// lists all writable memory, which shows in the dead part of stacks (HasDeadStacks). The kernel
// also lists what it does not store. gdb lists no memory that the process keeps out of cores (VM_DONTDUMP, smaps flag "dd"). createdump lists what it stores: in a full dump all that
// the process could read, in other kinds the private memory that it could write, and what its walk
// of the runtime touched (CrashInfo::GatherCrashInfo in createdump/crashinfo.cpp, since .NET Core
// 3). Memory that was reserved without access does not count.
func (c *Core) claims() *target.Claims {
	listed := make([]target.Range, 0, len(c.Regions)+len(c.Modules))
	for i := range c.Regions {
		r := &c.Regions[i]
		if r.Kind != target.RegionUnknown && (r.Prot != 0 || r.Path != "" || r.Stored > 0) {
			listed = append(listed, target.RangeAt(r.Start, r.Size))
		}
	}
	for i := range c.Modules {
		if m := &c.Modules[i]; m.Base+target.Addr(m.Size) > m.Base {
			listed = append(listed, target.RangeAt(m.Base, m.Size))
		}
	}
	claims := target.NewClaims(c.Platform.Arch, listed, false)
	switch {
	case !claims.HasDeadStacks(c.Threads):
		return claims
	case len(c.Threads) == 1:
		// A child that fork made has one thread, and lacks memory that its parent keeps for itself (MADV_DONTFORK): the
		// runtime does so with loader heaps. The structures that it inherits refer to that memory without damage.
		return claims
	case c.KeptOut:
		return claims.AsWritable().WithKeptOut()
	case c.ListsAll || c.storesFiles():
		return claims.AsWhole()
	}
	return claims.AsWritable()
}

// storesFiles reports whether the core has nearly all memory of mapped files. What is left has no access.
func (c *Core) storesFiles() bool {
	var stored, all uint64
	for i := range c.Regions {
		if r := &c.Regions[i]; r.Path != "" {
			stored, all = stored+r.Stored, all+r.Size
		}
	}
	return all > 0 && all-stored <= all/fewUnstored
}

// fewUnstored: up to one in this many bytes of mapped files may have no access in a full core.
const fewUnstored = 8

// A File is an opened core. It implements target.Target, is immutable, and is safe for concurrent use.
type File struct {
	core  Core
	found *target.Claims
}

var _ target.Target = (*File)(nil)

// File returns the opened core. c must not change anymore.
func (c *Core) File() File { return File{*c, c.claims()} }

// Cut returns how many bytes of memory and notes the core places past the end of the file.
func (f *File) Cut() uint64 { return f.core.Cut() + f.core.CutNotes }

// NotesCut returns how many bytes of notes the core places past the end of the file.
func (f *File) NotesCut() uint64 { return f.core.CutNotes }

// LeftOut reports whether sosgo shrink wrote the core, leaving out memory (target.ErrLeftOut).
func (f *File) LeftOut() bool { return f.core.LeftOut() }

// LeftOutBytes returns the number of bytes that sosgo shrink left out. It reads all memory of such
// a core.
func (f *File) LeftOutBytes() uint64 { return f.core.LeftOutBytes() }

// InFileBytes returns the number of bytes that sosgo shrink left out because module files have them.
func (f *File) InFileBytes() uint64 { return f.core.InFileBytes() }

// PageSum returns the sum of the page at a, if sosgo shrink left it out because the module's file
// has it.
func (f *File) PageSum(a target.Addr) (sum uint64, ok bool) { return f.core.PageSum(a) }

// ReadMemory implements target.Memory.
func (f *File) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := f.core.ReadMemory(p, a)
	if err != nil {
		err = f.found.Explain(err)
	}
	return n, err
}

// View implements target.Memory.
func (f *File) View(a target.Addr, n int) ([]byte, bool) { return f.core.View(a, n) }

// Span implements target.Memory.
func (f *File) Span(a target.Addr) []byte { return f.core.Span(a) }

// NextStored implements target.SparseMemory.
func (f *File) NextStored(a target.Addr) (target.Addr, bool) { return f.core.NextStored(a) }

// Platform implements target.Target. A core records neither the version of the system nor the
// number of processors.
func (f *File) Platform() target.Platform { return f.core.Platform }

// Process implements target.Target.
func (f *File) Process() target.Process { return f.core.Process }

// Modules implements target.Target.
func (f *File) Modules() []target.Module { return slices.Clone(f.core.Modules) }

// Threads implements target.Target. Cores hold no thread names.
func (f *File) Threads() []target.Thread { return slices.Clone(f.core.Threads) }

// Regions implements target.Target. A region is a segment, or the part of a segment that lies in
// one mapped file. A part of a mapped file without a segment is a region too, with nothing stored
// and protection 0 (unknown).
func (f *File) Regions() iter.Seq[target.Region] { return slices.Values(f.core.Regions) }

// Exception implements target.Target. It returns what ended the process, if the core records it.
func (f *File) Exception() (target.Exception, bool) {
	if f.core.Exception == nil {
		return target.Exception{}, false
	}
	return *f.core.Exception, true
}

// Warnings implements target.Target.
func (f *File) Warnings() []error { return slices.Clone(f.core.Warnings) }

// Claims returns the memory that the process had, stored or not, according to the segments and the
// mapped files.
func (f *File) Claims() *target.Claims { return f.found }
