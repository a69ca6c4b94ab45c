// Package macho decodes the common parts of 64-bit Mach-O files: the header and the load commands
// (xnu: EXTERNAL_HEADERS/mach-o/loader.h). The load commands describe the memory and threads of a
// core, and the segments, identity and symbols of an image. Cores are read by internal/dump/machocore,
// images by package image.
package macho

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/target"
)

// Sizes in bytes.
const (
	HeaderSize  = 32 // mach_header_64
	CommandSize = 8  // load_command, the start of every command
	segmentSize = 72 // segment_command_64
	sectionSize = 80 // section_64
)

// Magic is the first four bytes of a 64-bit little-endian file (MH_MAGIC_64).
const Magic = "\xcf\xfa\xed\xfe"

// The kinds of files (MH_*).
const (
	TypeExecute  = 2
	TypeCore     = 4
	TypeDylib    = 6
	TypeDylinker = 7
	TypeBundle   = 8
)

// FlagInCache marks an image of the system's shared cache (MH_DYLIB_IN_CACHE). Segments of other
// images lie between its segments.
const FlagInCache = 0x80000000

// The load commands that are decoded (LC_*).
const (
	CmdSymtab       = 0x2
	CmdThread       = 0x4
	CmdIDDylib      = 0xd
	CmdIDDylinker   = 0xf
	CmdSegment      = 0x19
	CmdUUID         = 0x1b
	CmdDyldInfo     = 0x22
	CmdDyldInfoOnly = 0x80000022
	CmdNote         = 0x31
	CmdExportsTrie  = 0x80000033
)

// The names of the segments with the header and with the symbols.
const (
	SegmentText  = "__TEXT"
	SegmentLinks = "__LINKEDIT"
)

// The bits of a segment's protection (VM_PROT_*).
const (
	protRead  = 1
	protWrite = 2
	protExec  = 4
)

// A Header is a mach_header_64.
type Header struct {
	CPU, Type uint32
	Count     uint32 // of load commands
	Size      uint32 // of all load commands in bytes
	Flags     uint32
}

// DecodeHeader decodes a header. The error is target.ErrCorrupt if b does not begin with one.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize || string(b[:len(Magic)]) != Magic {
		return Header{}, target.Corruptf("no Mach-O header of a 64-bit process")
	}
	c := cursor.New(b, 0)
	c.Skip(len(Magic))
	h := Header{CPU: c.Uint32()}
	c.Skip(4) // subtype
	h.Type, h.Count, h.Size, h.Flags = c.Uint32(), c.Uint32(), c.Uint32(), c.Uint32()
	if uint64(h.Count)*CommandSize > uint64(h.Size) {
		return h, target.Corruptf("%d load commands in %d bytes", h.Count, h.Size)
	}
	return h, nil
}

// Arch returns the processor, or target.ArchUnknown if sosgo does not support it.
func (h *Header) Arch() target.Arch {
	const amd64, arm64 = 0x01000007, 0x0100000c // CPU_TYPE_X86_64, CPU_TYPE_ARM64
	switch h.CPU {
	case amd64:
		return target.ArchAMD64
	case arm64:
		return target.ArchARM64
	}
	return target.ArchUnknown
}

// A Command is a load command.
type Command struct {
	Kind uint32
	Off  int64  // in the file, or from the header
	Data []byte // including the first CommandSize bytes
}

// Commands yields the load commands in b, which follow the header. A command that does not fit ends
// the sequence with an error.
func (h *Header) Commands(b []byte) iter.Seq2[Command, error] {
	return func(yield func(Command, error) bool) {
		at := 0
		for range h.Count {
			c := Command{Off: HeaderSize + int64(at)}
			rest := b[at:]
			if len(rest) < CommandSize {
				yield(c, fmt.Errorf("the load commands end early, at %#x: %w", c.Off, io.ErrUnexpectedEOF))
				return
			}
			size := binary.LittleEndian.Uint32(rest[4:])
			c.Kind = binary.LittleEndian.Uint32(rest)
			if size < CommandSize {
				yield(c, target.Corruptf("load command %#x of %d bytes at %#x", c.Kind, size, c.Off))
				return
			}
			if uint64(size) > uint64(len(rest)) {
				yield(c, fmt.Errorf("load command %#x of %d bytes at %#x: %w", c.Kind, size, c.Off, io.ErrUnexpectedEOF))
				return
			}
			c.Data = rest[:size:size]
			at += int(size)
			if !yield(c, nil) {
				return
			}
		}
	}
}

// A Segment is a segment_command_64. All sizes are in bytes.
type Segment struct {
	Name     string
	Addr     uint64
	Size     uint64 // in memory
	Offset   uint64 // in the file
	FileSize uint64
	Prot     target.Protection
	Sections []Section
}

// A Section is a part of a segment, a section_64.
type Section struct {
	Name       string
	Addr, Size uint64
}

// Segment decodes a command of kind CmdSegment. It omits sections that don't fit in the command.
func (c *Command) Segment() (Segment, error) {
	r := cursor.New(c.Data, c.Off)
	r.Skip(CommandSize)
	s := Segment{Name: Text(r.Take(16)), Addr: r.Uint64(), Size: r.Uint64(), Offset: r.Uint64(), FileSize: r.Uint64()}
	r.Skip(4) // the highest protection
	s.Prot = protection(r.Uint32())
	count := r.Uint32()
	r.Skip(4)
	if r.Err() != nil {
		return s, r.Err()
	}
	for range min(int64(count), int64(r.Len()/sectionSize)) {
		b := r.Take(sectionSize)
		s.Sections = append(s.Sections, Section{Text(b[:16]), binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])})
	}
	return s, nil
}

func protection(bits uint32) target.Protection {
	return target.ProtectionOf(bits, protRead, protWrite, protExec)
}

// UUID decodes a command of kind CmdUUID. It returns nil if the command is cut or empty.
func (c *Command) UUID() []byte {
	const size = 16
	if len(c.Data) < CommandSize+size || bytes.Count(c.Data[CommandSize:][:size], []byte{0}) == size {
		return nil
	}
	return c.Data[CommandSize:][:size:size]
}

// Name decodes the path in a command of kind CmdIDDylib or CmdIDDylinker. It returns "" if the
// command is cut.
func (c *Command) Name() string {
	if len(c.Data) < CommandSize+4 {
		return ""
	}
	off := binary.LittleEndian.Uint32(c.Data[CommandSize:])
	if uint64(off) >= uint64(len(c.Data)) {
		return ""
	}
	return Text(c.Data[off:])
}

// Text returns the text in b up to its first NUL.
func Text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// commandBytes bounds the size of an image's load commands; the largest have about 32 KB.
const commandBytes = 1 << 20

// An Image holds the header and load commands of an image in memory or in a file.
type Image struct {
	Header   Header
	Commands []Command
	Segments []Segment
	UUID     []byte
	Name     string // the install name; empty for programs
	// Base is the address of the header in terms of Segments: the start of __TEXT, or of the
	// segment at the start of the file.
	Base uint64
}

// ReadImage reads the header and the load commands of an image. read returns n bytes at an offset
// from the header, lent or copied.
func ReadImage(read func(off uint64, n int) ([]byte, error)) (*Image, error) {
	b, err := read(0, HeaderSize)
	if err != nil {
		return nil, fmt.Errorf("Mach-O header: %w", err)
	}
	im := &Image{}
	if im.Header, err = DecodeHeader(b); err != nil {
		return nil, err
	}
	if im.Header.Size > commandBytes {
		return nil, target.Corruptf("load commands of %d bytes", im.Header.Size)
	}
	if b, err = read(HeaderSize, int(im.Header.Size)); err != nil {
		return nil, fmt.Errorf("load commands: %w", err)
	}
	found, named := false, false
	for c, err := range im.Header.Commands(b) {
		if err != nil {
			return nil, target.Corruptf("%w", err)
		}
		im.Commands = append(im.Commands, c)
		switch c.Kind {
		case CmdSegment:
			s, err := c.Segment()
			if err != nil || s.Addr+s.Size < s.Addr || s.FileSize > s.Size {
				return nil, target.Corruptf("segment %q at %#x: %d bytes in the file, %d in memory", s.Name, s.Addr, s.FileSize, s.Size)
			}
			im.Segments = append(im.Segments, s)
			// The name has priority: in the shared cache no image is at the start of the file.
			switch {
			case s.Name == SegmentText && (!found || !named):
				im.Base, found, named = s.Addr, true, true
			case !found && s.Offset == 0 && s.FileSize > 0:
				im.Base, found = s.Addr, true
			}
		case CmdUUID:
			im.UUID = c.UUID()
		case CmdIDDylib, CmdIDDylinker:
			im.Name = c.Name()
		}
	}
	if !found {
		return nil, target.Corruptf("no segment holds the header of the image")
	}
	return im, nil
}

// Extent returns the number of bytes from the header to the end of the image. For an image in the
// shared cache, it is the end of the segment with the header.
func (im *Image) Extent() uint64 {
	var end uint64
	for i := range im.Segments {
		s := &im.Segments[i]
		if s.Addr < im.Base || im.Header.Flags&FlagInCache != 0 && s.Addr != im.Base {
			continue
		}
		end = max(end, s.Addr-im.Base+s.Size)
	}
	return end
}
