package synth

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

// minidumpSlots is the number of directory entries that a Minidump reserves. A fixed number makes
// every RVA known when its bytes are placed.
const minidumpSlots = 40

// A Minidump assembles a Windows minidump. Bytes are placed one after the other, in the order of
// the calls; a stream may refer to any RVA that an earlier call returned.
type Minidump struct {
	b       []byte
	entries [][3]uint32 // type, size, RVA
	streams uint32      // replaces the number of streams if not 0
}

// NewMinidump returns a dump with a header and no streams.
func NewMinidump() *Minidump {
	return &Minidump{b: make([]byte, 0x20+minidumpSlots*12)}
}

// Fields lays out values of fixed size one after another, little-endian
// and without padding.
func Fields(values ...any) []byte {
	var b []byte
	for _, v := range values {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic(fmt.Sprintf("synth.Fields: %T: %v", v, err))
		}
	}
	return b
}

// Place appends b and returns its RVA.
func (m *Minidump) Place(b []byte) uint32 {
	rva := len(m.b)
	m.b = append(m.b, b...)
	return uint32(rva)
}

// PlaceString appends s as a MINIDUMP_STRING and returns its RVA.
func (m *Minidump) PlaceString(s string) uint32 {
	u := utf16.Encode([]rune(s))
	return m.Place(Fields(uint32(2*len(u)), u, uint16(0)))
}

// Stream appends body as a stream and returns its RVA.
func (m *Minidump) Stream(typ uint32, body []byte) uint32 {
	rva := m.Place(body)
	m.Entry(typ, uint32(len(body)), rva)
	return rva
}

// Entry adds a directory entry, which may be wrong.
func (m *Minidump) Entry(typ, size, rva uint32) {
	if len(m.entries) == minidumpSlots {
		panic("synth.Minidump: too many streams")
	}
	m.entries = append(m.entries, [3]uint32{typ, size, rva})
}

// ClaimStreams sets the number of streams in the header to n.
func (m *Minidump) ClaimStreams(n uint32) { m.streams = n }

// Bytes returns the dump.
func (m *Minidump) Bytes() []byte {
	n := uint32(len(m.entries))
	if m.streams != 0 {
		n = m.streams
	}
	const written = 1_700_000_000
	copy(m.b, Fields([]byte("MDMP"), uint32(0x12340000|42899), n, uint32(0x20), uint32(0), uint32(written), uint64(2)))
	at := m.b[0x20:]
	for _, e := range m.entries {
		at = at[copy(at, Fields(e)):]
	}
	return append([]byte(nil), m.b...)
}

// The architectures of a SystemInfo stream.
const (
	MinidumpX86   = 0
	MinidumpARM   = 5
	MinidumpAMD64 = 9
	MinidumpARM64 = 12
)

// SystemInfo adds a SystemInfo stream: Windows 10.0.19045 on two processors.
func (m *Minidump) SystemInfo(arch uint16) {
	pack := m.PlaceString("")
	m.Stream(7, Fields(arch, uint16(6), uint16(0x1234), uint8(2), uint8(1), uint32(10), uint32(0), uint32(19045),
		uint32(2), pack, uint16(0), uint16(0), make([]byte, 24)))
}

// The systems of a ForeignSystem.
const (
	MinidumpMacOS   = 0x8101
	MinidumpLinux   = 0x8201
	MinidumpAndroid = 0x8203
)

// ForeignSystem adds a SystemInfo stream in Breakpad's form for systems other than Windows: the
// version is text.
func (m *Minidump) ForeignSystem(arch uint16, platform uint32, words string) {
	pack := m.PlaceString(words)
	m.Stream(7, Fields(arch, make([]byte, 18), platform, pack, make([]byte, 28)))
}

// PlaceUTF8 appends s as Crashpad's MinidumpUTF8String and returns its RVA.
func (m *Minidump) PlaceUTF8(s string) uint32 {
	return m.Place(Fields(uint32(len(s)), []byte(s), byte(0)))
}

// MinidumpNote is an annotation of Crashpad.
type MinidumpNote struct{ Key, Value string }

// Crashpad adds a CrashpadInfo stream with annotations of the process, and with lines, pairs and
// objects of the module with an index.
func (m *Minidump) Crashpad(process []MinidumpNote, module uint32, lines []string, pairs, objects []MinidumpNote) {
	simple := func(notes []MinidumpNote) (size, rva uint32) {
		b := Fields(uint32(len(notes)))
		for _, n := range notes {
			b = append(b, Fields(m.PlaceUTF8(n.Key), m.PlaceUTF8(n.Value))...)
		}
		return uint32(len(b)), m.Place(b)
	}
	processSize, processRVA := simple(process)
	list := Fields(uint32(len(lines)))
	for _, l := range lines {
		list = append(list, Fields(m.PlaceUTF8(l))...)
	}
	listRVA := m.Place(list)
	pairsSize, pairsRVA := simple(pairs)
	object := Fields(uint32(len(objects)))
	for _, o := range objects {
		object = append(object, Fields(m.PlaceUTF8(o.Key), uint16(1), uint16(0), m.PlaceUTF8(o.Value))...)
	}
	objectRVA := m.Place(object)
	info := Fields(uint32(1), uint32(len(list)), listRVA, pairsSize, pairsRVA, uint32(len(object)), objectRVA)
	infoRVA := m.Place(info)
	links := Fields(uint32(1), module, uint32(len(info)), infoRVA)
	linksRVA := m.Place(links)
	m.Stream(0x43500001, Fields(uint32(1), [16]byte{1}, [16]byte{2}, processSize, processRVA, uint32(len(links)), linksRVA))
}

// MinidumpThread is a thread of a Minidump.
type MinidumpThread struct {
	ID, Suspended uint32
	TEB           uint64
	StackStart    uint64
	StackSize     uint32
	Context       []byte // see AMD64Context
}

// Threads adds a ThreadList stream. The file offsets of the stacks are zero, as in createdump's
// files.
func (m *Minidump) Threads(threads ...MinidumpThread) {
	body := Fields(uint32(len(threads)))
	for _, t := range threads {
		body = append(body, m.thread(t)...)
	}
	m.Stream(3, body)
}

func (m *Minidump) thread(t MinidumpThread) []byte {
	context := m.Place(t.Context)
	return Fields(t.ID, t.Suspended, uint32(0x20), uint32(0), t.TEB, t.StackStart, t.StackSize, uint32(0),
		uint32(len(t.Context)), context)
}

// AMD64Context returns a CONTEXT of winnt.h with the given flags. The integer registers are in the
// processor's encoding order; the segment registers are 0x33, 0x2b, 0x2c, 0x53, 0x2d and 0x2e (CS,
// DS, ES, FS, GS, SS), and byte i of the floating-point area is i modulo 251.
func AMD64Context(flags uint32, integer [16]uint64, rip uint64, eflags uint32) []byte {
	float := make([]byte, 512)
	for i := range float {
		float[i] = byte(i % 251)
	}
	return Fields(make([]byte, 48), flags, uint32(0x1f80), []uint16{0x33, 0x2b, 0x2c, 0x53, 0x2d, 0x2e}, eflags,
		make([]byte, 48), integer, rip, float, make([]byte, 1232-768))
}

// ARM64Context returns a CONTEXT of winnt.h for ARM64. x holds X0 to X28, FP, LR, SP and PC.
func ARM64Context(flags, cpsr uint32, x [33]uint64) []byte {
	return Fields(flags, cpsr, x, make([]byte, 912-272))
}

// MinidumpModule is a module of a Minidump.
type MinidumpModule struct {
	Base     uint64
	Size     uint32
	CheckSum uint32
	Time     uint32
	Path     string
	Version  [4]uint16 // omitted if zero
	CodeView []byte    // see CodeViewRSDS
}

// CodeViewRSDS returns a CodeView record of the form RSDS.
func CodeViewRSDS(guid [16]byte, age uint32, path string) []byte {
	return Fields([]byte("RSDS"), guid, age, []byte(path), byte(0))
}

// Modules adds a ModuleList stream.
func (m *Minidump) Modules(modules ...MinidumpModule) {
	body := Fields(uint32(len(modules)))
	for _, mod := range modules {
		body = append(body, m.module(mod)...)
	}
	m.Stream(4, body)
}

func (m *Minidump) module(mod MinidumpModule) []byte {
	name, record := m.PlaceString(mod.Path), m.Place(mod.CodeView)
	version := make([]byte, 52)
	if v := mod.Version; v != [4]uint16{} {
		copy(version, Fields(uint32(0xfeef04bd), uint32(0x10000), v[1], v[0], v[3], v[2]))
	}
	return Fields(mod.Base, mod.Size, mod.CheckSum, mod.Time, name, version, uint32(len(mod.CodeView)), record,
		make([]byte, 24))
}

// MinidumpRange is memory of a Minidump.
type MinidumpRange struct {
	Addr uint64
	Data []byte
}

// Memory adds a MemoryList stream after its memory.
func (m *Minidump) Memory(ranges ...MinidumpRange) {
	body := Fields(uint32(len(ranges)))
	for _, r := range ranges {
		body = append(body, Fields(r.Addr, uint32(len(r.Data)), m.Place(r.Data))...)
	}
	m.Stream(5, body)
}

// Memory64 adds a Memory64List stream, followed by its memory.
func (m *Minidump) Memory64(ranges ...MinidumpRange) {
	size := 16 + 16*len(ranges)
	body := Fields(uint64(len(ranges)), uint64(len(m.b)+size))
	for _, r := range ranges {
		body = append(body, Fields(r.Addr, uint64(len(r.Data)))...)
	}
	m.Stream(9, body)
	for _, r := range ranges {
		m.Place(r.Data)
	}
}

// MinidumpInfo is an entry of a MemoryInfoList: the constants are winnt.h's.
type MinidumpInfo struct {
	Start, Size          uint64
	State, Protect, Type uint32
}

// MemoryInfo adds a MemoryInfoList stream.
func (m *Minidump) MemoryInfo(infos ...MinidumpInfo) {
	body := Fields(uint32(16), uint32(48), uint64(len(infos)))
	for _, i := range infos {
		body = append(body, Fields(i.Start, i.Start, i.Protect, uint32(0), i.Size, i.State, i.Protect, i.Type, uint32(0))...)
	}
	m.Stream(16, body)
}

// MinidumpThreadInfo is an entry of a ThreadInfoList; the times are in units
// of 100 ns, Created since 1601.
type MinidumpThreadInfo struct {
	ID, Flags             uint32
	Created, Kernel, User uint64
	Start                 uint64
}

// ThreadInfo adds a ThreadInfoList stream.
func (m *Minidump) ThreadInfo(infos ...MinidumpThreadInfo) {
	body := Fields(uint32(12), uint32(64), uint32(len(infos)))
	for _, i := range infos {
		body = append(body, Fields(i.ID, i.Flags, uint32(0), uint32(0x103), i.Created, uint64(0), i.Kernel, i.User, i.Start, uint64(3))...)
	}
	m.Stream(17, body)
}

// ThreadName adds a ThreadNames stream with one name.
func (m *Minidump) ThreadName(id uint32, name string) {
	rva := m.PlaceString(name)
	m.Stream(24, Fields(uint32(1), id, uint64(rva)))
}

// ExceptionRecord is the address of the nested record in Exception.
const ExceptionRecord = 0x5000

// Exception adds an Exception stream. Its record refers to another one at ExceptionRecord.
func (m *Minidump) Exception(thread, code uint32, addr uint64, parameters []uint64, context []byte) {
	if len(parameters) > 15 {
		panic("synth.Minidump: too many exception parameters")
	}
	rva := m.Place(context)
	m.Stream(6, Fields(thread, uint32(0), code, uint32(1), uint64(ExceptionRecord), addr, uint32(len(parameters)), uint32(0), parameters,
		make([]uint64, 15-len(parameters)), uint32(len(context)), rva))
}

// Comment adds a CommentStreamW.
func (m *Minidump) Comment(s string) { m.Stream(11, Fields(utf16.Encode([]rune(s)), uint16(0))) }

// MiscInfo adds a MiscInfo stream of version 1 to 5 with all fields: the process, its creation time
// (seconds since 1970), 5 s of user and 7 s of kernel time, a processor of 3000 MHz at 2000, and a
// time zone one hour east of Greenwich.
func (m *Minidump) MiscInfo(version int, process, created uint32) {
	size := [...]int{1: 24, 2: 44, 3: 232, 4: 832, 5: 1364}[version]
	zone, build, writer := make([]uint16, 32), make([]uint16, 260), make([]uint16, 40)
	copy(zone, utf16.Encode([]rune("Mean Time")))
	copy(build, utf16.Encode([]rune("19041.1 (release)")))
	copy(writer, utf16.Encode([]rune("dbgcore")))
	all := Fields(uint32(size), uint32(math.MaxUint32), process, created, uint32(5), uint32(7), // 24
		uint32(3000), uint32(2000), make([]byte, 12), // 44
		uint32(0x2000), make([]byte, 12), int32(-60), zone, make([]byte, 172-68), // 232
		build, writer, make([]byte, 528), uint32(0xc00c1e)) // 1364
	m.Stream(15, all[:size])
}

// MinidumpHandle is an entry of a HandleData stream.
type MinidumpHandle struct {
	Value         uint64
	Type, Name    string
	Attributes    uint32
	Access        uint32
	Count, Points uint32
}

// Handles adds a HandleData stream with descriptors of the second form.
func (m *Minidump) Handles(handles ...MinidumpHandle) {
	body := Fields(uint32(16), uint32(40), uint32(len(handles)), uint32(0))
	for _, h := range handles {
		typ, name := m.PlaceString(h.Type), uint32(0)
		if h.Name != "" {
			name = m.PlaceString(h.Name)
		}
		body = append(body, Fields(h.Value, typ, name, h.Attributes, h.Access, h.Count, h.Points, uint64(0))...)
	}
	m.Stream(12, body)
}

// UnloadedModule adds an UnloadedModuleList stream with one module.
func (m *Minidump) UnloadedModule(base uint64, size, checkSum, time uint32, path string) {
	name := m.PlaceString(path)
	m.Stream(14, Fields(uint32(12), uint32(24), uint32(1), base, size, checkSum, time, name))
}
