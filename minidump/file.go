package minidump

import (
	"fmt"
	"math"
	"sync"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// Sizes of MINIDUMP_HEADER and MINIDUMP_DIRECTORY.
const (
	headerSize = 32
	entrySize  = 12
)

// signature and formatVersion are MINIDUMP_SIGNATURE and MINIDUMP_VERSION. The upper half of the
// stored version belongs to the writer.
const (
	signature     = "MDMP"
	formatVersion = 0xa793
)

// Sniff reports whether head, the first bytes of a file, starts a minidump.
func Sniff(head []byte) bool {
	return len(head) >= len(signature) && string(head[:len(signature)]) == signature
}

// A File is an open minidump. It implements target.Target.
type File struct {
	src      target.Source
	limits   target.Limits
	header   header
	streams  []Stream
	platform target.Platform
	mem      memmap.Map
	notes    notes // warnings of opening

	misc        lazy[MiscInfo]
	process     lazy[target.Process]
	modules     lazy[moduleList]
	threads     lazy[[]target.Thread]
	threadInfos lazy[[]ThreadInfo]
	threadsCut  bool // set with threads
	exception   lazy[*target.Exception]
	infos       lazy[[]MemoryInfo]
	claims      lazy[*target.Claims]
	handles     lazy[[]Handle]
	unloaded    lazy[[]UnloadedModule]
	functions   lazy[[]FunctionTable]
	counters    lazy[[]target.Counter]
	environment lazy[[]string]
	auxv        lazy[[]AuxEntry]
	linkMaps    lazy[[]LinkMap]
	maps        lazy[[]mapping]
	crashpad    lazy[*CrashpadInfo]
}

var _ target.Target = (*File)(nil)

// A lazy value is decoded on first use.
type lazy[T any] struct {
	once  sync.Once
	value T
	notes notes
}

func (l *lazy[T]) get(load func(*notes) T) T {
	l.once.Do(func() { l.value = load(&l.notes) })
	return l.value
}

// A header is the MINIDUMP_HEADER.
type header struct {
	streams      uint32
	directoryRVA uint32
	time         uint32 // seconds since 1970
	flags        uint64
}

// Open reads the directory and the memory lists of the minidump in src. It fails with a
// *FormatError if there is no usable directory. Lesser faults, and a dump without memory, are
// warnings. The File reads src while it is in use and does not close it.
func Open(src target.Source) (*File, error) { return OpenLimited(src, target.Limits{}) }

// OpenLimited is Open with the caller's limits. Longer lists are cut with a warning.
func OpenLimited(src target.Source, l target.Limits) (*File, error) {
	f := &File{src: src, limits: l.Or(target.Limits{Ranges: limits.MemoryRanges, Threads: limits.Threads})}
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	if err := f.readDirectory(); err != nil {
		return nil, err
	}
	f.platform = f.loadPlatform(&f.notes)
	ranges := f.loadRanges(&f.notes)
	build := memmap.New
	if s, ok := f.stream(leftout.Stream); ok {
		b, err := f.StreamBytes(s)
		if err != nil {
			return nil, err
		}
		note, err := leftout.Decode(b)
		if err != nil {
			return nil, err
		}
		build = func(src target.Source, ranges []memmap.Range) (*memmap.Map, []error) {
			return memmap.NewShrunk(src, ranges, note)
		}
	}
	mem, warnings := build(src, ranges)
	f.mem = *mem
	for _, w := range warnings {
		f.notes.add(w)
	}
	if len(f.mem.Ranges()) == 0 {
		if err := f.checkNoMemory(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *File) readHeader() error {
	b, err := readSource(f.src, "header", 0, headerSize)
	if err != nil {
		return err
	}
	if !Sniff(b) {
		return &FormatError{Stream: "header", Msg: fmt.Sprintf("signature %q instead of %q", b[:4], signature)}
	}
	if v := le.Uint16(b[4:]); v != formatVersion {
		f.notes.add(&FormatError{Stream: "header", Off: 4, Msg: fmt.Sprintf("format version %#x instead of %#x", v, formatVersion)})
	}
	f.header = header{
		streams:      le.Uint32(b[8:]),
		directoryRVA: le.Uint32(b[12:]),
		time:         le.Uint32(b[20:]),
		flags:        le.Uint64(b[24:]),
	}
	return nil
}

// readDirectory reads the directory. If the directory is cut, or claims too many entries, the
// existing ones are used: the important streams come first.
func (f *File) readDirectory() error {
	off, count := int64(f.header.directoryRVA), int64(f.header.streams)
	fit := max(f.src.Size()-off, 0) / entrySize
	if off < headerSize || min(count, fit) == 0 {
		return &FormatError{Stream: "directory", Off: off, Msg: fmt.Sprintf(
			"%d streams claimed, %d entries fit into the file of %d bytes", count, fit, f.src.Size())}
	}
	if n := min(fit, limits.MinidumpStreams); count > n {
		f.notes.add(&FormatError{Stream: "directory", Off: off, Msg: fmt.Sprintf("%d streams claimed, %d are read", count, n)})
		count = n
	}
	b, err := f.read("directory", off, count*entrySize)
	if err != nil {
		return err
	}
	seen := make(map[StreamType]bool)
	for ; len(b) > 0; b = b[entrySize:] {
		s := Stream{Type: StreamType(le.Uint32(b)), Size: le.Uint32(b[4:]), RVA: le.Uint32(b[8:])}
		if s.Type == unusedStream {
			continue
		}
		if seen[s.Type] {
			f.notes.add(&FormatError{Stream: s.Name(), Off: int64(s.RVA), Msg: "the dump has several of these streams: the first counts"})
		}
		seen[s.Type] = true
		f.streams = append(f.streams, s)
	}
	return nil
}

// Flags returns the MINIDUMP_TYPE flags with which the dump was written.
func (f *File) Flags() uint64 { return f.header.flags }

// LeftOut reports whether sosgo shrink wrote the dump, leaving out memory (target.ErrLeftOut).
func (f *File) LeftOut() bool { return f.mem.LeftOut() }

// LeftOutBytes returns the number of bytes that sosgo shrink left out. It reads all memory of such
// a dump.
func (f *File) LeftOutBytes() uint64 { return f.mem.LeftOutBytes() }

// ReadMemory implements target.Memory.
func (f *File) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := f.mem.ReadMemory(p, a)
	if err != nil {
		err = f.Claims().Explain(err)
	}
	return n, err
}

// View implements target.Memory.
func (f *File) View(a target.Addr, n int) ([]byte, bool) { return f.mem.View(a, n) }

// Span implements target.Memory.
func (f *File) Span(a target.Addr) []byte { return f.mem.Span(a) }

// NextStored implements target.SparseMemory.
func (f *File) NextStored(a target.Addr) (target.Addr, bool) { return f.mem.NextStored(a) }

// Warnings returns what opening and decoding skipped or decided. It decodes all remaining streams
// first, so that the result does not depend on earlier calls.
func (f *File) Warnings() []error {
	f.Process()
	f.Threads()
	f.ThreadInfos()
	f.MemoryInfos()
	f.Exception()
	f.Handles()
	f.UnloadedModules()
	f.FunctionTables()
	f.Environment()
	f.Auxv()
	f.LinkMaps()
	f.mappings()
	f.Crashpad()
	all := f.notes.appendTo(nil, "directory")
	all = f.misc.notes.appendTo(all, "MiscInfo")
	all = f.process.notes.appendTo(all, "comments")
	all = f.modules.notes.appendTo(all, "modules")
	all = f.threadInfos.notes.appendTo(all, "thread infos")
	all = f.threads.notes.appendTo(all, "threads")
	all = f.infos.notes.appendTo(all, "memory infos")
	all = f.exception.notes.appendTo(all, "exception")
	all = f.handles.notes.appendTo(all, "handles")
	all = f.unloaded.notes.appendTo(all, "unloaded modules")
	all = f.functions.notes.appendTo(all, "function tables")
	all = f.counters.notes.appendTo(all, "memory counters")
	all = f.environment.notes.appendTo(all, "environment")
	all = f.auxv.notes.appendTo(all, "auxiliary vector")
	all = f.linkMaps.notes.appendTo(all, "dynamic linker's list")
	all = f.maps.notes.appendTo(all, "mappings")
	return f.crashpad.notes.appendTo(all, "Crashpad")
}

// addr converts v to an address. Older createdumps sign-extend the addresses of 32-bit processes.
func (f *File) addr(v uint64) target.Addr {
	if f.platform.Arch.PointerSize() == 4 && v >= math.MaxUint64-math.MaxInt32 {
		v &= math.MaxUint32
	}
	return target.Addr(v)
}

// checkNoMemory accepts a dump without memory if it has threads and modules, and otherwise returns
// an error.
func (f *File) checkNoMemory() error {
	e := &FormatError{Stream: "directory", Off: int64(f.header.directoryRVA), Msg: "neither memory nor threads nor modules are in the file"}
	for _, t := range [...]StreamType{MemoryListStream, Memory64ListStream} {
		if s, ok := f.stream(t); ok {
			e.Stream, e.Off = s.Name(), int64(s.RVA)
		}
	}
	if len(f.notes.list) > 0 {
		e.Err = f.notes.list[len(f.notes.list)-1]
	}
	if len(f.Threads()) == 0 && len(f.Modules()) == 0 {
		return e
	}
	f.notes.add(fmt.Errorf("minidump: no memory of the process: %w", target.ErrNotInDump))
	return nil
}
