package disguise

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// linker is the address of the dynamic linker. No process uses it.
const linker = 0x5f0000000000

// Pages of an image that its Mach-O header and symbols replace: the ELF header's, and the dynamic
// symbols'.
const (
	headerPage = 0x1000
	linksPage  = 0x1000
)

// programBase is where linkers of macOS place programs, after an inaccessible part.
const programBase = 0x100000000

// A build is the entry of a runtime in the catalogue of builds (internal/files/layout/tables).
type build struct {
	Key struct {
		BuildID string `json:"build_id"`
	} `json:"key"`
	Header struct {
		RVA   number `json:"rva"`
		Flags uint32 `json:"flags"`
		JSON  number `json:"json_rva"`
		Data  number `json:"pointer_data_rva"`
	} `json:"header"`
	Pointers []number `json:"pointer_data_rvas"`
	DacTable struct {
		RVA number `json:"rva"`
	} `json:"dac_table"`
	Descriptor json.RawMessage `json:"descriptor"`
}

// A number is a number in hexadecimal text.
type number uint64

// UnmarshalText decodes "0x1f".
func (n *number) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 0, 64)
	*n = number(v)
	return err
}

// buildOf returns the build with an id, or nil.
func buildOf(t testing.TB, id []byte) *build {
	root, err := testcase.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "internal/files/layout/tables/descriptor-*-linux-*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no catalogue of builds", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b := &build{}
		if err := json.Unmarshal(raw, b); err != nil {
			t.Fatal(err)
		}
		if len(id) > 0 && b.Key.BuildID == hex.EncodeToString(id) {
			return b
		}
	}
	return nil
}

// OpenDarwin opens the process of an ELF core at path as a Mach-O core of macOS in createdump's
// form. Its native images have Mach-O headers. change, if not nil, changes the core before it is
// written.
func OpenDarwin(t testing.TB, path string, o sosgo.Options, change func(*synth.MachOCore)) *sosgo.Dump {
	t.Helper()
	core := DarwinCore(t, path)
	if change != nil {
		change(core)
	}
	file := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(file, core.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := sosgo.Open(file, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// DarwinCore returns the process of an ELF core as a Mach-O core.
func DarwinCore(t testing.TB, path string) *synth.MachOCore {
	t.Helper()
	d, err := dump.Open(testcase.Plain(path), dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c := &darwin{t: t, from: d, core: &synth.MachOCore{CPU: 0x01000007}}
	if d.Platform().Arch == target.ArchARM64 {
		c.core.CPU = 0x0100000c
		// Processes of Linux have wider addresses than processes of macOS.
		c.core.Notes = append(c.core.Notes, synth.Note("addrable bits", synth.Fields(uint32(4), uint32(48), uint32(48), uint32(0))))
	}
	c.memory()
	c.threads()
	c.images()
	return c.core
}

// A darwin is an ELF core that is being converted.
type darwin struct {
	t    testing.TB
	from *dump.File
	core *synth.MachOCore
}

func (c *darwin) add(s synth.MachOSegment) {
	s.Size = max(s.Size, uint64(len(s.Data)))
	c.core.Segments = append(c.core.Segments, s)
}

// memory adds a segment for each region that is partly in the core.
func (c *darwin) memory() {
	for r := range c.from.Regions() {
		if r.Kind == target.RegionUnknown || r.Stored == 0 && r.Prot == 0 {
			continue // createdump's page, or a mapping without memory
		}
		data, err := target.Bytes(c.from, r.Start, int(r.Stored))
		if err != nil {
			c.t.Fatal(err)
		}
		c.add(synth.MachOSegment{Addr: uint64(r.Start), Size: r.Size, Data: slices.Clone(data), Prot: uint32(r.Prot)})
	}
}

// replace puts data at an address, in a separate segment that replaces parts of others.
func (c *darwin) replace(at uint64, data []byte, prot uint32) {
	end := at + uint64(len(data))
	var out []synth.MachOSegment
	part := func(s synth.MachOSegment, from, to uint64) {
		if from >= to {
			return
		}
		held := s.Addr + uint64(len(s.Data))
		p := synth.MachOSegment{Addr: from, Size: to - from, Prot: s.Prot}
		if from < held {
			p.Data = s.Data[from-s.Addr : min(to, held)-s.Addr]
		}
		out = append(out, p)
	}
	for _, s := range c.core.Segments {
		part(s, s.Addr, min(s.Addr+s.Size, at))
		part(s, max(s.Addr, end), s.Addr+s.Size)
	}
	c.core.Segments = out
	c.add(synth.MachOSegment{Addr: at, Data: data, Prot: prot})
}

// threads writes the registers, and createdump's page with the thread ids.
func (c *darwin) threads() {
	var ids [][2]uint64
	for _, t := range c.from.Threads() {
		c.core.Threads = append(c.core.Threads, synth.MachOThread(states(&t.Registers)...))
		sp, _ := t.Registers.SP()
		ids = append(ids, [2]uint64{uint64(t.ID), uint64(sp)})
	}
	info := synth.MachOThreadInfo(c.from.Process().ID, ids...)
	c.add(synth.MachOSegment{Addr: 0x7fffffff00000000, Data: info, Prot: 1})
}

func states(r *target.Registers) []synth.MachOState {
	value := func(n target.Reg) uint64 {
		v, _ := r.Get(n)
		return v
	}
	if r.Arch == target.ArchARM64 {
		var regs [33]uint64
		for i := range regs {
			regs[i] = value(target.Reg(i))
		}
		out := []synth.MachOState{synth.MachOARM64(regs, uint32(value(target.ARM64CPSR)))}
		if r.Float != nil {
			out = append(out, synth.MachOFloatARM64(r.Float))
		}
		return out
	}
	var regs [21]uint64
	for i, n := range []target.Reg{target.RAX, target.RBX, target.RCX, target.RDX, target.RDI, target.RSI, target.RBP, target.RSP, target.R8, target.R9,
		target.R10, target.R11, target.R12, target.R13, target.R14, target.R15, target.RIP, target.EFLAGS, target.CS, target.FS, target.GS} {
		regs[i] = value(n)
	}
	out := []synth.MachOState{synth.MachOAMD64(regs)}
	if r.Float != nil {
		out = append(out, synth.MachOFloatAMD64(r.Float))
	}
	return out
}

// images gives the native images Mach-O headers and lists them for the dynamic linker.
func (c *darwin) images() {
	var listed []synth.MachOLoaded
	runtime := uint64(0)
	for i, m := range c.from.Modules() {
		img, err := image.OpenMemory(c.from, &m)
		if err == nil && img.Kind() == image.KindPE {
			c.flat(&m, img)
		}
		if err != nil || img.Kind() != image.KindELF || len(img.Sections()) == 0 || img.Sections()[0].Size < headerPage+linksPage {
			continue
		}
		name := strings.ReplaceAll(m.Path, ".so", ".dylib")
		loaded := synth.MachOLoaded{Base: uint64(m.Base), Path: name}
		id, _ := img.BuildID()
		copy(loaded.UUID[:], id)
		binary.LittleEndian.PutUint16(loaded.UUID[14:], uint16(i+1))
		of := buildOf(c.t, id)
		if of != nil {
			runtime = uint64(m.Base)
			c.describe(runtime, of)
		}
		c.image(&m, img, loaded, of)
		listed = append(listed, loaded)
	}
	if runtime == 0 {
		c.t.Fatal("the dump has no runtime whose header could be rewritten")
	}
	text := synth.MachOLinker(c.core.CPU, linker, listed...)
	c.add(synth.MachOSegment{Addr: linker, Data: text[:headerPage], Prot: 5})
	c.add(synth.MachOSegment{Addr: linker + headerPage, Data: text[headerPage:], Prot: 3})
	c.add(synth.MachOSegment{Addr: 0x7fffffff10000000, Data: synth.MachODiagInfo(2, 0, runtime), Prot: 1})
	slices.SortStableFunc(c.core.Segments, func(a, b synth.MachOSegment) int { return cmp.Compare(a.Addr, b.Addr) })
}

// flat adds a page that a slice omits. On macOS only memory shows that an assembly is flat: other
// bytes are at the RVA of its CLR header.
func (c *darwin) flat(m *target.Module, img *image.Image) {
	const page = 4096
	s := img.Sections()
	if img.Layout() != image.Flat || len(s) == 0 || uint64(s[0].RVA) == s[0].Offset || target.Available(c.from, m.Base+target.Addr(s[0].RVA), page) {
		return
	}
	c.replace(uint64(m.Base)+uint64(s[0].RVA), make([]byte, page), 1)
}

// describe writes the contract descriptor, which slices omit, to its address in the runtime.
func (c *darwin) describe(base uint64, of *build) {
	var text bytes.Buffer
	if err := json.Compact(&text, of.Descriptor); err != nil {
		c.t.Fatal(err)
	}
	const magic = 0x0043414443434e44
	h := of.Header
	c.replace(base+uint64(h.RVA), synth.Fields(uint64(magic), h.Flags, uint32(text.Len()), base+uint64(h.JSON), uint32(len(of.Pointers)), uint32(0), base+uint64(h.Data)), 3)
	c.replace(base+uint64(h.JSON), text.Bytes(), 1)
	var pointers []byte
	for _, rva := range of.Pointers {
		v := base + uint64(rva)
		if rva == 0 {
			v = 0
		}
		pointers = append(pointers, synth.Fields(v)...)
	}
	c.replace(base+uint64(h.Data), pointers, 1)
}

// image writes the header of an image with the segments of the ELF image, and its symbols: in a
// table on x64, in a trie on ARM64.
func (c *darwin) image(m *target.Module, img *image.Image, as synth.MachOLoaded, of *build) {
	h := &synth.MachOImage{CPU: c.core.CPU, Name: as.Path, UUID: as.UUID}
	start := uint64(0)
	if !target.NamedLibrary(as.Path) {
		h.Type, h.Name, start = 2, "", programBase
		h.Segments = append(h.Segments, synth.MachOSegment{Name: "__PAGEZERO", Size: start})
	}
	h.Segments = append(h.Segments, synth.MachOSegment{Name: "__TEXT", Addr: start, Size: headerPage, FileSize: headerPage, Prot: 5},
		synth.MachOSegment{Name: "__LINKEDIT", Addr: start + headerPage, Size: linksPage, Offset: headerPage, FileSize: linksPage, Prot: 1})
	for i, s := range img.Sections() {
		seg := synth.MachOSegment{Name: "__SEGMENT", Addr: start + uint64(s.RVA), Size: s.Size, Offset: s.Offset, FileSize: s.FileSize, Prot: uint32(s.Prot)}
		if i == 0 {
			const skip = headerPage + linksPage
			seg.Addr, seg.Size, seg.Offset, seg.FileSize = seg.Addr+skip, seg.Size-skip, seg.Offset+skip, seg.FileSize-min(skip, seg.FileSize)
		}
		if s.Prot&target.ProtWrite != 0 {
			seg.Name = "__DATA"
		}
		if seg.FileSize == 0 {
			continue
		}
		h.Segments = append(h.Segments, seg)
	}
	var symbols []synth.MachOSymbol
	if of != nil {
		symbols = []synth.MachOSymbol{{Name: "_DotNetRuntimeContractDescriptor", Value: uint64(of.Header.RVA)}, {Name: "_g_dacTable", Value: uint64(of.DacTable.RVA)}}
		if h.Type != 0 {
			symbols = append(symbols, synth.MachOSymbol{Name: "_DotNetRuntimeInfo", Value: uint64(of.Header.RVA)})
		}
	}
	links := make([]byte, linksPage)
	switch {
	case len(symbols) > 0 && img.Arch() == target.ArchARM64:
		trie := synth.MachOTrie(symbols...)
		h.Trie, h.TrieSize = headerPage, uint32(len(trie))
		copy(links, trie)
	case len(symbols) > 0:
		for i := range symbols {
			symbols[i].Value += start
		}
		table, names := synth.MachOSymbols(symbols...)
		h.Symbols, h.SymbolCount = headerPage, uint32(len(symbols))
		h.Names, h.NamesSize = headerPage+uint64(len(table)), uint32(len(names))
		copy(links, append(table, names...))
	}
	header := make([]byte, headerPage)
	if copy(header, h.Header()) == headerPage {
		c.t.Fatalf("the header of %s is too long", as.Path)
	}
	c.replace(uint64(m.Base), header, 5)
	c.replace(uint64(m.Base)+headerPage, links, 1)
}
