package synth

import (
	"encoding/binary"
	"slices"
)

// A MachOCore describes a Mach-O core. Bytes lays it out as createdump does: header, threads,
// segments, notes, memory, and the notes' data.
type MachOCore struct {
	CPU      uint32 // cputype; 0x01000007 (x86-64) if zero
	Type     uint32 // filetype; 4 (MH_CORE) if zero
	Threads  [][]byte
	Segments []MachOSegment
	Notes    []MachONote
	Last     []byte // bytes after the load commands, not counted among them

	// ClaimCommands and ClaimSize, if not zero, replace the number and the size of the load
	// commands.
	ClaimCommands, ClaimSize uint32
}

// A MachOSegment is an LC_SEGMENT_64 of a core or of an image.
type MachOSegment struct {
	Name string
	Addr uint64
	Data []byte // the stored bytes
	Size uint64 // vmsize; len(Data) if zero
	Prot uint32 // read 1, write 2, execute 4

	// Offset and FileSize replace the true values if FileSize is not zero.
	Offset, FileSize uint64
	Sections         []MachOSection
}

// A MachOSection is a section_64.
type MachOSection struct {
	Name       string
	Addr, Size uint64
}

// A MachONote is an LC_NOTE. Data returns its content, given its offset in the file.
type MachONote struct {
	Owner string
	Data  func(offset uint64) []byte

	ClaimSize uint64 // replaces the size, if not zero
}

// Note returns a note with content that does not depend on its offset.
func Note(owner string, data []byte) MachONote {
	return MachONote{Owner: owner, Data: func(uint64) []byte { return data }}
}

// Bytes returns the core.
func (c *MachOCore) Bytes() []byte {
	size := 0
	for _, t := range c.Threads {
		size += len(t)
	}
	for i := range c.Segments {
		size += 72 + 80*len(c.Segments[i].Sections)
	}
	size += 40*len(c.Notes) + len(c.Last)
	at := (uint64(32+size) + 0xfff) &^ 0xfff
	var commands, content []byte
	for _, t := range c.Threads {
		commands = append(commands, t...)
	}
	for _, s := range c.Segments {
		n := uint64(len(s.Data))
		s.Size = max(s.Size, n)
		if s.FileSize == 0 {
			s.Offset, s.FileSize = at+uint64(len(content)), n
		}
		commands = append(commands, s.command()...)
		content = append(content, s.Data...)
	}
	for _, n := range c.Notes {
		off := at + uint64(len(content))
		data := n.Data(off)
		claim := uint64(len(data))
		if n.ClaimSize != 0 {
			claim = n.ClaimSize
		}
		commands = append(commands, Fields(uint32(0x31), uint32(40), name16(n.Owner), off, claim)...)
		content = append(content, data...)
	}
	commands = append(commands, c.Last...)
	count := uint32(len(c.Threads) + len(c.Segments) + len(c.Notes))
	b := machOHeader(c.CPU, or(c.Type, 4), or(c.ClaimCommands, count), or(c.ClaimSize, uint32(len(commands))), 0)
	b = append(b, commands...)
	b = append(b, make([]byte, int(at)-len(b))...)
	return append(b, content...)
}

func or(v, otherwise uint32) uint32 {
	if v == 0 {
		return otherwise
	}
	return v
}

func machOHeader(cpu, typ, count, size, flags uint32) []byte {
	return Fields(uint32(0xfeedfacf), or(cpu, 0x01000007), uint32(3), typ, count, size, flags, uint32(0))
}

func name16(s string) (b [16]byte) {
	copy(b[:], s)
	return b
}

func (s *MachOSegment) command() []byte {
	b := Fields(uint32(0x19), uint32(72+80*len(s.Sections)), name16(s.Name), s.Addr, s.Size, s.Offset, s.FileSize, s.Prot, s.Prot, uint32(len(s.Sections)), uint32(0))
	for _, x := range s.Sections {
		b = append(b, Fields(name16(x.Name), name16(s.Name), x.Addr, x.Size, [8]uint32{})...)
	}
	return b
}

// MachOThread returns an LC_THREAD with states.
func MachOThread(states ...MachOState) []byte {
	var b []byte
	for _, s := range states {
		b = append(b, Fields(s.Kind, uint32(len(s.Data)/4))...)
		b = append(b, s.Data...)
	}
	return append(Fields(uint32(4), uint32(8+len(b))), b...)
}

// A MachOState is a state of a thread.
type MachOState struct {
	Kind uint32
	Data []byte // a multiple of four bytes
}

// MachOAMD64 returns an x86_THREAD_STATE64: rax, rbx, rcx, rdx, rdi, rsi, rbp, rsp, r8 to r15, rip,
// rflags, cs, fs, gs.
func MachOAMD64(regs [21]uint64) MachOState { return MachOState{4, Fields(regs)} }

// MachOFloatAMD64 returns an x86_FLOAT_STATE64 of an FXSAVE area.
func MachOFloatAMD64(area []byte) MachOState {
	return MachOState{5, append(append(make([]byte, 8), area...), 0, 0, 0, 0)}
}

// MachOARM64 returns an ARM_THREAD_STATE64: x0 to x28, fp, lr, sp, pc, then the status register.
func MachOARM64(regs [33]uint64, cpsr uint32) MachOState {
	return MachOState{6, Fields(regs, cpsr, uint32(0))}
}

// MachOFloatARM64 returns an ARM_NEON_STATE64.
func MachOFloatARM64(vectors []byte) MachOState {
	return MachOState{17, append(slices.Clone(vectors), make([]byte, 16)...)}
}

// MachOThreadInfo returns the content of createdump's segment at 0x7fffffff00000000: ids and stack pointers.
func MachOThreadInfo(pid uint32, threads ...[2]uint64) []byte {
	b := Fields(name16("THREADINFO"), pid, uint32(len(threads)))
	for _, t := range threads {
		b = append(b, Fields(uint32(t[0]), uint32(0), t[1])...)
	}
	return b
}

// MachODiagInfo returns the content of createdump's segment at 0x7fffffff10000000.
func MachODiagInfo(version int32, exception, runtime uint64) []byte {
	b := Fields(name16("DIAGINFOHEADER"), version, uint32(0), exception, runtime)
	return append(b, make([]byte, 0x1000-len(b))...)
}

// A MachOImage describes an image. Header returns the beginning of its file and of its memory.
type MachOImage struct {
	CPU, Type, Flags uint32
	Name             string // LC_ID_DYLIB, omitted if empty
	UUID             [16]byte
	Segments         []MachOSegment // with Offset and FileSize
	Symbols          uint64         // offset of the table in the file
	SymbolCount      uint32
	Names            uint64 // offset of the names
	NamesSize        uint32
	Trie             uint64 // offset of the exports' trie
	TrieSize         uint32
}

// Header returns the header with the load commands.
func (m *MachOImage) Header() []byte {
	var b []byte
	count := uint32(0)
	add := func(c []byte) { b, count = append(b, c...), count+1 }
	for i := range m.Segments {
		add(m.Segments[i].command())
	}
	if m.Name != "" {
		text := append([]byte(m.Name), make([]byte, 8-len(m.Name)%8)...)
		kind := uint32(0xd) // LC_ID_DYLIB
		if m.Type == 7 {
			kind = 0xf // LC_ID_DYLINKER, followed directly by the name
			add(append(Fields(kind, uint32(12+len(text)+4), uint32(12)), append(text, 0, 0, 0, 0)...))
		} else {
			add(append(Fields(kind, uint32(24+len(text)), uint32(24), uint32(2), uint32(1), uint32(1)), text...))
		}
	}
	if m.UUID != [16]byte{} {
		add(Fields(uint32(0x1b), uint32(24), m.UUID))
	}
	if m.SymbolCount > 0 {
		add(Fields(uint32(2), uint32(24), uint32(m.Symbols), m.SymbolCount, uint32(m.Names), m.NamesSize))
	}
	if m.TrieSize > 0 {
		add(Fields(uint32(0x80000033), uint32(16), uint32(m.Trie), m.TrieSize))
	}
	return append(machOHeader(m.CPU, or(m.Type, 6), count, uint32(len(b)), m.Flags), b...)
}

// A MachOSymbol is a name with an address.
type MachOSymbol struct {
	Name  string // with its underscore
	Value uint64
}

// MachOSymbols returns a table of external symbols, and their names.
func MachOSymbols(symbols ...MachOSymbol) (table, names []byte) {
	names = []byte{' ', 0}
	for _, s := range symbols {
		table = append(table, Fields(uint32(len(names)), uint8(0x0f), uint8(1), uint16(0), s.Value)...)
		names = append(append(names, s.Name...), 0)
	}
	return table, names
}

// MachOTrie returns an export trie. Its first edge is the underscore, and the others are whole
// names, the longest first, because a reader takes the first edge that fits.
func MachOTrie(symbols ...MachOSymbol) []byte {
	symbols = slices.Clone(symbols)
	slices.SortStableFunc(symbols, func(a, b MachOSymbol) int { return len(b.Name) - len(a.Name) })
	// Offsets take three bytes each, so that the layout does not depend on them.
	uleb3 := func(v int) []byte { return []byte{byte(v) | 0x80, byte(v>>7) | 0x80, byte(v >> 14)} }
	inner := []byte{0, byte(len(symbols))}
	innerAt := 2 + 2 + 3
	length := len(inner)
	for _, s := range symbols {
		length += len(s.Name) - 1 + 1 + 3
	}
	leaves, at := []byte{}, innerAt+length
	for _, s := range symbols {
		inner = append(append(inner, s.Name[1:]...), 0)
		inner = append(inner, uleb3(at+len(leaves))...)
		value := binary.AppendUvarint([]byte{0}, s.Value)
		leaves = append(append(append(leaves, byte(len(value))), value...), 0)
	}
	root := append([]byte{0, 1, '_', 0}, uleb3(innerAt)...)
	return append(append(root, inner...), leaves...)
}

// MachOImages returns the content of a note "all image infos" at an offset of the file.
func MachOImages(offset uint64, images ...MachOLoaded) []byte {
	const head, entry = 24, 48
	b := Fields(uint32(1), uint32(len(images)), offset+head, uint32(entry), uint32(0))
	names := []byte{}
	namesAt := offset + head + entry*uint64(len(images))
	for _, im := range images {
		b = append(b, Fields(namesAt+uint64(len(names)), im.UUID, im.Base, ^uint64(0), uint32(0), uint32(0))...)
		names = append(append(names, im.Path...), 0)
	}
	return append(b, names...)
}

// A MachOLoaded is an image of the process.
type MachOLoaded struct {
	Base uint64
	Path string
	UUID [16]byte
}

// MachOLinker returns the memory of a dynamic linker at base: 0x4000 bytes, and its list of images
// after the header.
func MachOLinker(cpu uint32, base uint64, images ...MachOLoaded) []byte {
	const data, list = 0x1000, 0x2000
	m := &MachOImage{CPU: cpu, Type: 7, Name: "/usr/lib/dyld", UUID: [16]byte{0xd}, Segments: []MachOSegment{
		{Name: "__TEXT", Size: data, FileSize: data, Prot: 5},
		{Name: "__DATA", Addr: data, Size: 0x3000, Offset: data, FileSize: 0x3000, Prot: 3, Sections: []MachOSection{{"__all_image_info", data + 0x100, 0x170}}},
	}}
	b := make([]byte, list)
	copy(b, m.Header())
	copy(b[data+0x100:], Fields(uint32(17), uint32(len(images)), base+list, uint64(0), uint64(0), base))
	names := []byte{}
	namesAt := base + list + 24*uint64(len(images))
	for _, im := range images {
		b = append(b, Fields(im.Base, namesAt+uint64(len(names)), uint64(0))...)
		names = append(append(names, im.Path...), 0)
	}
	b = append(b, names...)
	return append(b, make([]byte, (0x1000-len(b)%0x1000)%0x1000+0x1000)...)
}
