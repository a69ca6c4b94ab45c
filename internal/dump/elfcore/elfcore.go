// Package elfcore reads ELF core files of the Linux kernel, gdb's gcore, .NET's createdump and the
// BSD kernels. It knows nothing about the CLR. Start reading at Open.
//
// Opening reads the headers, the notes and one page of each mapped image. Everything else is read
// on demand.
//
// The format is defined by the System V ABI ("Object Files", with the PN_XNUM extension of the
// gABI). The notes are defined by Linux: include/uapi/linux/elf.h, include/linux/elfcore.h and
// fs/binfmt_elf.c.
package elfcore

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// The identification and the header of an ELF file (elf.h).
const (
	elfMagic    = "\x7fELF"
	classOffset = 4
	dataOffset  = 5
	typeOffset  = 16
	class64     = 2
	dataLSB     = 1
	headerSize  = 64
	progSize    = 56
	sectionSize = 64

	typeCore = 4

	machine386   = 3
	machineARM   = 40
	machineAMD64 = 62
	machineARM64 = 183

	// progCountInSection0 is PN_XNUM: the number of program headers does not fit into the header
	// and is in sh_info of section 0.
	progCountInSection0 = 0xffff

	progLoad    = 1
	progDynamic = 2
	progNote    = 4

	flagExec  = 1
	flagWrite = 2
	flagRead  = 4
)

// A FormatError reports why a file is unusable as an ELF core. It wraps target.ErrCorrupt.
type FormatError = target.FormatError

// format names the format in errors.
const format = "ELF core"

// A File is an ELF core. It implements target.Target, is immutable, and is safe for concurrent use.
type File struct {
	core
	notes []Note
	auxv  []AuxEntry
}

type core = corefile.File

var _ target.Target = (*File)(nil)

// createdump's description of the process is on a page at an address that no process uses.
const (
	diagAddr = 0x7ffffff10000
	diagPage = 0x1000
)

// Sniff reports whether head, the first 18 bytes or more of a file, begins an ELF core of either byte order.
func Sniff(head []byte) bool {
	if len(head) < typeOffset+2 || string(head[:len(elfMagic)]) != elfMagic {
		return false
	}
	lo, hi := head[typeOffset], head[typeOffset+1]
	if head[dataOffset] != dataLSB {
		lo, hi = hi, lo
	}
	return lo == typeCore && hi == 0
}

// Open reads the core in src, which must stay open as long as the File is in use. The error is a
// *FormatError if the headers are impossible or the core contains no memory, and
// target.ErrUnsupported if the file is ELF but not a 64-bit little-endian core of a known machine.
// Other faults are warnings.
func Open(src target.Source) (*File, error) { return OpenLimited(src, target.Limits{}) }

// OpenLimited is Open with the caller's limits. A core with more segments is target.ErrUnsupported.
// Further notes and threads are dropped with a warning.
func OpenLimited(src target.Source, l target.Limits) (*File, error) {
	l = l.Or(target.Limits{Ranges: limits.MemoryRanges, Threads: limits.Threads, Notes: limits.Notes})
	hdr, err := readHeader(src)
	if err != nil {
		return nil, err
	}
	segments, err := readSegments(src, hdr, l.Ranges)
	if err != nil {
		return nil, err
	}
	b := &builder{limits: l, segments: segments, loads: sortedLoads(segments)}
	b.Platform = target.Platform{OS: target.OSLinux, Arch: hdr.arch}
	b.Process.Container = "ELF core"
	note, err := b.readLeftOut(src)
	if err != nil {
		return nil, err
	}
	if err := b.mapMemory(src, note); err != nil {
		return nil, err
	}
	if note != nil && len(note.Segments) > 0 {
		b.restoreSegments(note)
	}
	b.readNotes(src)
	b.findSystem(hdr.abi)
	b.decodeNotes()
	b.page = b.machinePage()
	b.findModules()
	b.buildRegions()
	b.FindStacks()
	b.findException()
	if _, ok := b.ReadDiagInfo(diagAddr); ok {
		b.MadeUp(diagAddr, diagPage)
	}
	return &File{b.File(), b.notes, b.auxv}, nil
}

// A builder is a core that is being opened.
type builder struct {
	corefile.Core
	limits      target.Limits
	notes       []Note
	auxv        []AuxEntry
	page        uint64 // bytes of the machine's pages
	moreThreads bool   // more threads than the limit allows
	segments    []segment
	loads       []segment     // segments that describe memory, sorted by address
	files       []fileMapping // of NT_FILE, sorted by address
	unit        uint64        // of the offsets in NT_FILE
	signalInfo  *signalInfo
	kernelOrder bool // the notes are in the kernel's order
	bsdSignal   int32
	bsdThread   uint32 // received bsdSignal
}

// header holds the relevant fields of the ELF header.
type header struct {
	arch      target.Arch
	abi       byte
	progOff   uint64
	progCount uint64
}

func readHeader(src target.Source) (header, error) {
	b, err := corefile.ReadAt(src, 0, uint64(min(src.Size(), headerSize)))
	if err != nil {
		return header{}, &FormatError{Format: format, Msg: "the header can't be read", Err: err}
	}
	if len(b) < typeOffset+2 || string(b[:len(elfMagic)]) != elfMagic {
		return header{}, &FormatError{Format: format, Msg: "no ELF header"}
	}
	if len(b) < typeOffset+4 {
		return header{}, &FormatError{Format: format, Msg: "the file ends inside the ELF header", Err: io.ErrUnexpectedEOF}
	}
	if !Sniff(b) {
		return header{}, target.Unsupportedf("an ELF program or library, not a core")
	}
	if b[dataOffset] != dataLSB {
		return header{}, target.Unsupportedf("ELF core of a big-endian machine%s: sosgo reads little-endian ones", machineName(binary.BigEndian.Uint16(b[typeOffset+2:])))
	}
	if b[classOffset] != class64 {
		return header{}, target.Unsupportedf("ELF core of a 32-bit process%s: sosgo reads those of 64-bit ones", machineName(binary.LittleEndian.Uint16(b[typeOffset+2:])))
	}
	if len(b) < headerSize {
		return header{}, &FormatError{Format: format, Msg: "the file ends inside the ELF header", Err: io.ErrUnexpectedEOF}
	}
	return decodeHeader(src, b)
}

func decodeHeader(src target.Source, b []byte) (header, error) {
	c := cursor.New(b, 0)
	c.Skip(typeOffset + 2)
	machine := c.Uint16()
	c.Skip(4 + 8) // version, entry
	h := header{abi: b[abiOffset], progOff: c.Uint64()}
	sectionOff := c.Uint64()
	c.Skip(4 + 2) // flags, size of this header
	entrySize := c.Uint16()
	h.progCount = uint64(c.Uint16())

	switch machine {
	case machineAMD64:
		h.arch = target.ArchAMD64
	case machineARM64:
		h.arch = target.ArchARM64
	default:
		return h, target.Unsupportedf("ELF core of machine %d%s: sosgo reads those of x86-64 (%d) and AArch64 (%d)",
			machine, machineName(machine), machineAMD64, machineARM64)
	}
	if entrySize != progSize {
		return h, &FormatError{Format: format, Off: 54, Msg: fmt.Sprintf("program headers of %d bytes, %d expected", entrySize, progSize)}
	}
	if h.progCount == progCountInSection0 {
		s, err := corefile.ReadAt(src, sectionOff, sectionSize)
		if err != nil {
			return h, &FormatError{Format: format, Off: 40, Msg: "section 0, which counts the program headers, can't be read", Err: err}
		}
		c := cursor.New(s, int64(sectionOff))
		c.Seek(44)
		h.progCount = uint64(c.Uint32())
	}
	return h, nil
}

// machineName returns the name of a machine, such as " (ppc64)", or "" for a rare one.
func machineName(machine uint16) string {
	name, ok := map[uint16]string{machine386: "x86", machineARM: "arm", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390", 243: "riscv", 258: "loongarch"}[machine]
	if !ok {
		return ""
	}
	return " (" + name + ")"
}

// A segment is a program header.
type segment struct {
	typ, flags uint32
	off        uint64 // in the file
	addr       target.Addr
	fileSize   uint64
	memSize    uint64
}

func (s *segment) prot() target.Protection {
	return target.ProtectionOf(s.flags, flagRead, flagWrite, flagExec)
}

func readSegments(src target.Source, h header, limit int64) ([]segment, error) {
	if fit := uint64(src.Size()) / progSize; h.progCount > fit {
		return nil, &FormatError{Format: format, Off: 56, Msg: fmt.Sprintf("%d program headers, the file has room for %d", h.progCount, fit)}
	}
	if h.progCount > uint64(limit) {
		return nil, target.Limitf("an ELF core of %d segments: the limit (ranges) is %d", h.progCount, limit)
	}
	b, err := corefile.ReadAt(src, h.progOff, h.progCount*progSize)
	if err != nil {
		return nil, &FormatError{Format: format, Off: 32, Msg: "the program headers can't be read", Err: err}
	}
	return decodeSegments(b), nil
}

// decodeSegments decodes the program headers in b. The length of b is a multiple of progSize.
func decodeSegments(b []byte) []segment {
	segments := make([]segment, len(b)/progSize)
	c := cursor.New(b, 0)
	for i := range segments {
		s := &segments[i]
		s.typ, s.flags, s.off = c.Uint32(), c.Uint32(), c.Uint64()
		s.addr = target.Addr(c.Uint64())
		c.Skip(8) // physical address
		s.fileSize, s.memSize = c.Uint64(), c.Uint64()
		c.Skip(8) // alignment
	}
	return segments
}

// mapMemory builds the address space. Only p_filesz bytes of a segment are in the core; the rest of
// p_memsz was left out. note is the note of sosgo shrink, or nil.
func (b *builder) mapMemory(src target.Source, note *leftout.Note) error {
	ranges := make([]memmap.Range, 0, len(b.segments))
	contradictory := 0
	for i := range b.segments {
		s := &b.segments[i]
		if s.typ != progLoad {
			continue
		}
		if s.fileSize > s.memSize {
			contradictory++
		}
		ranges = append(ranges, memmap.Range{Addr: s.addr, Size: min(s.fileSize, s.memSize), Offset: int64(s.off)})
	}
	if !b.MapMemory(src, ranges, contradictory, note) {
		return &FormatError{Format: format, Off: headerSize, Msg: fmt.Sprintf("no memory is in the file (%d segments, %d bytes): the core is truncated or empty",
			len(b.segments), src.Size())}
	}
	return nil
}
