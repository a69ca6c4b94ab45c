package synth

import "bytes"

// An ELFCore describes an ELF64 core. Bytes lays it out: header, program headers, notes, memory.
type ELFCore struct {
	Machine  uint16 // e_machine; 62 (x86-64) if zero
	Type     uint16 // e_type; 4 (ET_CORE) if zero
	Notes    []ELFNote
	Segments []ELFSegment

	// ManySegments writes the number of program headers to sh_info of section header 0, as in a
	// core with 65,535 or more.
	ManySegments bool
	// ClaimSegments, if not zero, replaces the number of program headers.
	ClaimSegments uint32
}

// An ELFNote is a note of a core.
type ELFNote struct {
	Owner string
	Type  uint32
	Desc  []byte
}

// An ELFSegment is a PT_LOAD segment.
type ELFSegment struct {
	Addr  uint64
	Data  []byte // the stored bytes
	Size  uint64 // p_memsz; len(Data) if zero
	Flags uint32 // PF_X 1, PF_W 2, PF_R 4

	// ClaimOffset and ClaimFileSize, if not zero, replace the true values.
	ClaimOffset, ClaimFileSize uint64
}

const elfPage = 4096

// Bytes returns the core.
func (c *ELFCore) Bytes() []byte {
	notes := ELFNotes(c.Notes)
	count := uint32(len(c.Segments) + 1)
	sectionOff, progOff := uint64(0), uint64(64)
	if c.ManySegments {
		sectionOff, progOff = 64, 128
	}
	noteOff := progOff + 56*uint64(count)
	dataOff := (noteOff + uint64(len(notes)) + elfPage - 1) / elfPage * elfPage

	claimed := count
	if c.ClaimSegments != 0 {
		claimed = c.ClaimSegments
	}
	b := c.header(sectionOff, progOff, claimed)
	b = append(b, Fields(uint32(4), uint32(0), noteOff, uint64(0), uint64(0), uint64(len(notes)), uint64(0), uint64(4))...)
	var data []byte
	for _, s := range c.Segments {
		off, size, mem := dataOff+uint64(len(data)), uint64(len(s.Data)), s.Size
		if mem == 0 {
			mem = size
		}
		if s.ClaimOffset != 0 {
			off = s.ClaimOffset
		}
		if s.ClaimFileSize != 0 {
			size = s.ClaimFileSize
		}
		b = append(b, Fields(uint32(1), s.Flags, off, s.Addr, uint64(0), size, mem, uint64(elfPage))...)
		data = append(data, s.Data...)
	}
	b = append(b, notes...)
	b = append(b, make([]byte, dataOff-uint64(len(b)))...)
	return append(b, data...)
}

// header returns the ELF header, followed by section header 0 if sectionOff is not zero.
func (c *ELFCore) header(sectionOff, progOff uint64, count uint32) []byte {
	machine, typ := c.Machine, c.Type
	if machine == 0 {
		machine = 62
	}
	if typ == 0 {
		typ = 4
	}
	small := uint16(count)
	if c.ManySegments {
		small = 0xffff
	}
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = append(b, Fields(typ, machine, uint32(1), uint64(0), progOff, sectionOff, uint32(0),
		uint16(64), uint16(56), small, uint16(64), uint16(0), uint16(0))...)
	if c.ManySegments {
		b = append(b, Fields([5]uint64{}, uint32(0), count, [2]uint64{})...)
	}
	return b
}

// ELFNotes lays out a PT_NOTE segment.
func ELFNotes(notes []ELFNote) []byte {
	var b []byte
	for _, n := range notes {
		owner := n.Owner + "\x00"
		b = append(b, Fields(uint32(len(owner)), uint32(len(n.Desc)), n.Type)...)
		b = append(b, owner...)
		b = append(b, make([]byte, -len(b)&3)...)
		b = append(b, n.Desc...)
		b = append(b, make([]byte, -len(b)&3)...)
	}
	return b
}

// ELFThread returns an NT_PRSTATUS note. regs are in the order of the machine's
// user_regs_struct: 27 on x86-64, 34 on arm64.
func ELFThread(id uint32, signal int16, regs []uint64) ELFNote {
	return ELFNote{"CORE", 1, Fields(
		[3]int32{}, signal, int16(0), uint64(0), uint64(0), id, uint32(1), id, id,
		[2]uint64{1, 500_000}, [2]uint64{2, 250_000}, [4]uint64{}, // user, system, children
		regs, int32(1), int32(0))}
}

// ELFFloat returns an NT_FPREGSET note.
func ELFFloat(area []byte) ELFNote { return ELFNote{"CORE", 2, area} }

// ELFProcess returns an NT_PRPSINFO note.
func ELFProcess(pid uint32, name, args string) ELFNote {
	var fname [16]byte
	var psargs [80]byte
	copy(fname[:], name)
	copy(psargs[:], args)
	return ELFNote{"CORE", 3, Fields([4]byte{}, uint32(0), uint64(0), uint32(0), uint32(0), pid, uint32(1), pid, pid, fname, psargs)}
}

// ELFAuxv returns an NT_AUXV note of pairs of tag and value, terminated.
func ELFAuxv(pairs ...uint64) ELFNote {
	return ELFNote{"CORE", 6, Fields(pairs, uint64(0), uint64(0))}
}

// An ELFFile is a mapping of an NT_FILE note.
type ELFFile struct {
	Start, End, Offset uint64 // the offset in bytes
	Path               string
}

// ELFFiles returns an NT_FILE note with offsets in units of page bytes.
func ELFFiles(page uint64, files ...ELFFile) ELFNote {
	b := Fields(uint64(len(files)), page)
	var names bytes.Buffer
	for _, f := range files {
		b = append(b, Fields(f.Start, f.End, f.Offset/page)...)
		names.WriteString(f.Path + "\x00")
	}
	return ELFNote{"CORE", 0x46494c45, append(b, names.Bytes()...)}
}

// ELFSignal returns an NT_SIGINFO note. The fields after the code are an address, or the sender's
// pid and uid.
func ELFSignal(number, errno, code int32, fields uint64) ELFNote {
	return ELFNote{"CORE", 0x53494749, append(Fields(number, errno, code, int32(0), fields), make([]byte, 104)...)}
}

// ELFImage returns the first page of a loaded ELF64 image. Each of loads is a PT_LOAD of {offset,
// address, file size, memory size}; dynamic, if not zero, is the address of the dynamic section.
func ELFImage(typ uint16, dynamic uint64, loads ...[4]uint64) []byte {
	table := Fields(uint32(6), uint32(4), uint64(64), uint64(64)+loads[0][1], uint64(0), [3]uint64{})
	for _, l := range loads {
		table = append(table, Fields(uint32(1), uint32(5), l[0], l[1], l[1], l[2], l[3], uint64(elfPage))...)
	}
	if dynamic != 0 {
		table = append(table, Fields(uint32(2), uint32(6), uint64(0), dynamic, dynamic, uint64(256), uint64(256), uint64(8))...)
	}
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = append(b, Fields(typ, uint16(62), uint32(1), uint64(0), uint64(64), uint64(0), uint32(0),
		uint16(64), uint16(56), uint16(len(table)/56), uint16(64), uint16(0), uint16(0))...)
	b = append(b, table...)
	return append(b, make([]byte, elfPage-len(b))...)
}

// PEImage returns the first page of a PE32+ image.
func PEImage(sizeOfImage, sizeOfHeaders uint32) []byte {
	b := make([]byte, elfPage)
	copy(b, "MZ")
	copy(b[0x3c:], Fields(uint32(0x80)))
	copy(b[0x80:], "PE\x00\x00")
	copy(b[0x88:], Fields(uint32(0x5eed)))
	copy(b[0x98+56:], Fields(sizeOfImage, sizeOfHeaders, uint32(0xc5)))
	return b
}

// ELFLibrary returns a minimal ELF library: one segment and a build id.
func ELFLibrary(buildID ...byte) []byte {
	const notes = 0x100
	note := ELFNotes([]ELFNote{{Owner: "GNU", Type: 3, Desc: buildID}})
	b := (&ELFCore{Type: 3}).header(0, 64, 2)
	b = append(b, Fields(uint32(1), uint32(4), uint64(0), uint64(0), uint64(0), uint64(0x200), uint64(0x200), uint64(elfPage))...)
	b = append(b, Fields(uint32(4), uint32(4), uint64(notes), uint64(notes), uint64(0), uint64(len(note)), uint64(len(note)), uint64(4))...)
	b = append(append(b, make([]byte, notes-len(b))...), note...)
	return append(b, make([]byte, 0x200-len(b))...)
}
