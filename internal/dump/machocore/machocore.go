// Package machocore reads Mach-O cores of macOS processes, written by .NET's createdump, the kernel
// or lldb. It knows nothing about the CLR. Start reading at Open.
//
// Opening reads the load commands, the notes and the headers of the images. Everything else is read
// on demand.
//
// The format is defined by xnu (EXTERNAL_HEADERS/mach-o/loader.h; thread states: osfmk/mach/i386
// and osfmk/mach/arm, _structs.h and thread_status.h). The notes are lldb's
// (source/Plugins/ObjectFile/Mach-O/ObjectFileMachO.cpp), and the special pages are createdump's
// (src/coreclr/debug/createdump of the runtime).
package machocore

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/macho"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// typeOffset is the offset of the file type in the header, 4 bytes.
const typeOffset = 12

// A FormatError reports why a file is unusable as a Mach-O core. It wraps target.ErrCorrupt.
type FormatError = target.FormatError

// format names the format in errors.
const format = "Mach-O core"

// A File is a Mach-O core. It implements target.Target, is immutable, and is safe for concurrent
// use. It has no Exception: a core does not record why it was written. The state of a thread's last
// trap (see Faults) also exists for threads that continued after it.
type File struct {
	core
	faults []Fault // by thread
	notes  []Note
}

type core = corefile.File

var _ target.Target = (*File)(nil)

// Sniff reports whether head, the first 16 bytes or more of a file, begins a core of a 64-bit
// little-endian process.
func Sniff(head []byte) bool {
	return len(head) >= typeOffset+4 && string(head[:len(macho.Magic)]) == macho.Magic &&
		string(head[typeOffset:typeOffset+4]) == string([]byte{macho.TypeCore, 0, 0, 0})
}

// Open reads the core in src, which must stay open as long as the File is in use. The error is a
// *FormatError if the load commands are impossible or the core contains no memory, and
// target.ErrUnsupported if the file is Mach-O but not a core of a 64-bit process on a known
// processor. Other faults are warnings.
func Open(src target.Source) (*File, error) { return OpenLimited(src, target.Limits{}) }

// OpenLimited is Open with the caller's limits. A core with more segments is target.ErrUnsupported.
// Further notes and threads are dropped with a warning.
func OpenLimited(src target.Source, l target.Limits) (*File, error) {
	l = l.Or(target.Limits{Ranges: limits.MemoryRanges, Threads: limits.Threads, Notes: limits.Notes})
	h, err := readHeader(src)
	if err != nil {
		return nil, err
	}
	b := &builder{src: src, limits: l}
	b.Platform = target.Platform{OS: target.OSDarwin, Arch: h.Arch()}
	b.Process.Container = "Mach-O core"
	if err := b.readCommands(&h); err != nil {
		return nil, err
	}
	if err := b.mapMemory(); err != nil {
		return nil, err
	}
	b.readSignatures()
	b.readThreadIDs()
	runtime, _ := b.ReadDiagInfo(diagAddr)
	b.findModules(runtime)
	b.buildRegions()
	b.FindStacks()
	return &File{b.File(), b.faults, b.notes}, nil
}

// A builder is a core that is being opened.
type builder struct {
	corefile.Core
	faults   []Fault
	notes    []Note
	src      target.Source
	limits   target.Limits
	segments []macho.Segment // in the file's order
	loads    []macho.Segment // segments of the process, sorted by address
}

func readHeader(src target.Source) (macho.Header, error) {
	b, err := corefile.ReadAt(src, 0, uint64(min(src.Size(), macho.HeaderSize)))
	if err != nil {
		return macho.Header{}, &FormatError{Format: format, Msg: "the header can't be read", Err: err}
	}
	if len(b) >= len(macho.Magic) && string(b[:len(macho.Magic)]) == macho.Magic && len(b) < macho.HeaderSize {
		return macho.Header{}, &FormatError{Format: format, Msg: "the file ends inside the header", Err: io.ErrUnexpectedEOF}
	}
	h, err := macho.DecodeHeader(b)
	switch {
	case len(b) >= macho.HeaderSize && string(b[:len(macho.Magic)]) == macho.Magic && h.Type != macho.TypeCore:
		return h, target.Unsupportedf("a Mach-O program or library, not a core")
	case err != nil:
		return h, &FormatError{Format: format, Msg: "the header makes no sense", Err: err}
	case h.Arch() == target.ArchUnknown:
		return h, target.Unsupportedf("Mach-O core of processor %#x: sosgo reads those of x86-64 and ARM64", h.CPU)
	}
	return h, nil
}

// readCommands decodes the load commands up to the end of the file, or to the first impossible
// command.
func (b *builder) readCommands(h *macho.Header) error {
	size := uint64(b.src.Size())
	have := min(uint64(h.Size), size-macho.HeaderSize)
	if fit := have / macho.CommandSize; uint64(h.Count) > fit && have == uint64(h.Size) {
		return &FormatError{Format: format, Off: 16, Msg: fmt.Sprintf("%d load commands, the file has room for %d", h.Count, fit)}
	}
	data, err := corefile.ReadAt(b.src, macho.HeaderSize, have)
	if err != nil {
		return &FormatError{Format: format, Off: macho.HeaderSize, Msg: "the load commands can't be read", Err: err}
	}
	moreThreads, moreNotes := false, false
	for c, err := range h.Commands(data) {
		if err != nil {
			b.Warn(&FormatError{Format: format, Off: c.Off, Msg: "the load commands from here on are missing", Err: err})
			break
		}
		switch c.Kind {
		case macho.CmdSegment:
			if int64(len(b.segments)) >= b.limits.Ranges {
				return target.Limitf("a Mach-O core of more than %d segments: the limit (ranges)", b.limits.Ranges)
			}
			s, err := c.Segment()
			if err != nil {
				b.Warn(&FormatError{Format: format, Off: c.Off, Msg: "a segment is not used", Err: err})
				continue
			}
			s.Sections = nil
			b.segments = append(b.segments, s)
		case macho.CmdThread:
			if int64(len(b.Threads)) >= b.limits.Threads {
				moreThreads = true
				continue
			}
			b.addThread(&c)
		case macho.CmdNote:
			if int64(len(b.notes)) >= b.limits.Notes {
				moreNotes = true
				continue
			}
			b.addNote(&c)
		}
	}
	if moreThreads {
		b.Warn(target.Limitf("more than %d threads: the others are left out (limit threads)", b.limits.Threads))
	}
	if moreNotes {
		b.Warn(target.Limitf("more than %d notes: the others are left out (limit notes)", b.limits.Notes))
	}
	return nil
}

// mapMemory builds the address space. Only filesize bytes of a segment are in the core; the rest of
// vmsize was left out.
func (b *builder) mapMemory() error {
	ranges := make([]memmap.Range, 0, len(b.segments))
	contradictory := 0
	for i := range b.segments {
		s := &b.segments[i]
		if s.FileSize > s.Size {
			contradictory++
		}
		ranges = append(ranges, memmap.Range{Addr: target.Addr(s.Addr), Size: min(s.FileSize, s.Size), Offset: int64(s.Offset)})
		if s.Size > 0 && s.Addr+s.Size > s.Addr {
			b.loads = append(b.loads, *s)
		}
	}
	slices.SortStableFunc(b.loads, func(x, y macho.Segment) int { return cmp.Compare(x.Addr, y.Addr) })
	if !b.MapMemory(b.src, ranges, contradictory, nil) {
		return &FormatError{Format: format, Off: macho.HeaderSize, Msg: fmt.Sprintf("no memory is in the file (%d segments, %d bytes): the core is truncated or empty",
			len(b.segments), b.src.Size())}
	}
	return nil
}
