package image_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

const (
	machoPage  = 0x1000
	machoStart = 0x100000000 // the preferred base
	machoLinks = 4 * machoPage
	machoARM64 = 0x0100000c
)

var machoSymbols = []synth.MachOSymbol{{Name: "_first", Value: 0x1010}, {Name: "_second", Value: 0x2020}, {Name: "_firstling", Value: 0x1030}, {Name: "bare", Value: 0x1040}}

// buildMachO returns the file of an image with a symbol table, a trie, both or neither. Its data
// segment is larger in memory than in the file.
func buildMachO(table, trie bool, flags uint32) blob {
	m := &synth.MachOImage{CPU: machoARM64, Flags: flags, Name: "@rpath/libx.dylib", UUID: [16]byte{7, 8, 9}, Segments: []synth.MachOSegment{
		{Name: "__PAGEZERO", Size: machoStart},
		{Name: "__TEXT", Addr: machoStart, Size: 2 * machoPage, FileSize: 2 * machoPage, Prot: 5},
		{Name: "__DATA", Addr: machoStart + 2*machoPage, Size: 2 * machoPage, Offset: 2 * machoPage, FileSize: machoPage, Prot: 3},
		{Name: "__LINKEDIT", Addr: machoStart + machoLinks, Size: machoPage, Offset: 3 * machoPage, FileSize: machoPage, Prot: 1},
	}}
	links := make([]byte, machoPage)
	if table {
		local := []synth.MachOSymbol{}
		for _, s := range machoSymbols {
			local = append(local, synth.MachOSymbol{Name: s.Name, Value: machoStart + s.Value})
		}
		syms, names := synth.MachOSymbols(local...)
		// An imported symbol.
		syms = append(syms, synth.Fields(uint32(2), uint8(0x01), uint8(0), uint16(0), uint64(0))...)
		// A debugger's symbol.
		syms = append(syms, synth.Fields(uint32(2), uint8(0x2f), uint8(1), uint16(0), uint64(machoStart+0x1234))...)
		m.Symbols, m.SymbolCount, m.Names, m.NamesSize = 3*machoPage, uint32(len(syms)/16), 3*machoPage+uint64(len(syms)), uint32(len(names))
		copy(links, append(syms, names...))
	}
	if trie {
		b := synth.MachOTrie(machoSymbols[:3]...)
		m.Trie, m.TrieSize = 3*machoPage+0x800, uint32(len(b))
		copy(links[0x800:], b)
	}
	file := make(blob, 3*machoPage)
	copy(file, m.Header())
	file.str(2*machoPage+0x20, "@(#)Version 10.0.1.2 @Commit: abc\x00")
	return append(file, links...)
}

// loadMachO lays out the file as the dynamic linker does.
func loadMachO(file blob) []byte {
	b := make([]byte, machoLinks+machoPage)
	copy(b, file[:3*machoPage])
	copy(b[machoLinks:], file[3*machoPage:])
	return b
}

func TestMachO(t *testing.T) {
	for _, in := range []struct{ table, trie bool }{{true, false}, {false, true}, {true, true}} {
		file := buildMachO(in.table, in.trie, 0)
		flat, err := image.NewBytes(file, image.Flat)
		require.NoError(t, err)
		loaded, err := image.OpenMemory(memory(loadMachO(file), testBase), &target.Module{Base: testBase, Path: "libx.dylib"})
		require.NoError(t, err)
		assert.Equal(t, image.Loaded, loaded.Layout())
		for _, im := range []*image.Image{flat, loaded} {
			assert.Equal(t, image.KindMachO, im.Kind())
			assert.Equal(t, target.ArchARM64, im.Arch())
			assert.Equal(t, uint64(5*machoPage), im.Size())
			assert.True(t, im.HasHeaders())
			require.Len(t, im.Sections(), 3)
			assert.Equal(t, image.Section{Name: "__DATA", RVA: 2 * machoPage, Size: 2 * machoPage, Offset: 2 * machoPage, FileSize: machoPage,
				Prot: target.ProtRead | target.ProtWrite}, im.Sections()[1])
			id, err := im.BuildID()
			require.NoError(t, err)
			assert.Equal(t, []byte{7, 8, 9}, id[:3])
			v, err := im.VersionString()
			require.NoError(t, err)
			assert.Equal(t, "10.0.1.2 @Commit: abc", v)
			for _, s := range machoSymbols[:3] {
				rva, _, err := im.Symbol(s.Name[1:])
				require.NoError(t, err, s.Name)
				assert.Equal(t, image.RVA(s.Value), rva)
			}
			for _, name := range []string{"firs", "firstl", "third", "bare", "", "imported"} {
				_, _, err := im.Symbol(name)
				assert.ErrorIs(t, err, image.ErrNoSymbol, name)
			}
			var names []string
			for e, err := range im.Exports() {
				require.NoError(t, err)
				names = append(names, fmt.Sprintf("%s %x", e.Name, e.RVA))
			}
			if in.table {
				assert.Equal(t, []string{"first 1010", "second 2020", "firstling 1030", "bare 1040"}, names)
			}
			_, err = im.CLRHeader()
			assert.ErrorIs(t, err, target.ErrUnsupported)
			_, err = im.PointerRVA(0x2000)
			assert.ErrorIs(t, err, target.ErrUnsupported)
		}
		a, err := loaded.Address(0x1010)
		require.NoError(t, err)
		assert.Equal(t, target.Addr(testBase+0x1010), a)
	}
}

// TestMachOInCache covers an image of the shared cache: its own range ends with its code, and its
// symbols are far away.
func TestMachOInCache(t *testing.T) {
	im, err := image.OpenMemory(memory(loadMachO(buildMachO(true, false, 0x80000000)), testBase), &target.Module{Base: testBase})
	require.NoError(t, err)
	assert.Equal(t, uint64(2*machoPage), im.Size())
	rva, _, err := im.Symbol("second")
	require.NoError(t, err)
	assert.Equal(t, image.RVA(0x2020), rva)
}

// TestMachOMissing covers images with missing or incomplete symbols.
func TestMachOMissing(t *testing.T) {
	for _, trie := range []bool{false, true} {
		b := loadMachO(buildMachO(!trie, trie, 0))
		im, err := image.OpenMemory(memory(b[:machoLinks], testBase), &target.Module{Base: testBase})
		require.NoError(t, err)
		_, _, err = im.Symbol("first")
		assert.ErrorIs(t, err, target.ErrNotInDump)
	}
	// The table is used if the trie is missing.
	both := loadMachO(buildMachO(true, true, 0))
	im, err := image.OpenMemory(memory(both[:machoLinks+0x800], testBase), &target.Module{Base: testBase})
	require.NoError(t, err)
	_, _, err = im.Symbol("first")
	require.NoError(t, err)
	_, _, err = im.Symbol("third")
	assert.ErrorIs(t, err, target.ErrNotInDump, "the trie may have had it")

	none, err := image.NewBytes(buildMachO(false, false, 0), image.Flat)
	require.NoError(t, err)
	_, _, err = none.Symbol("first")
	assert.ErrorIs(t, err, image.ErrNoSymbol)
	for range none.Exports() {
		t.Error("an export of an image without symbols")
	}
}

// TestMachOLies changes single fields of the headers.
func TestMachOLies(t *testing.T) {
	const first = 32 + 72 // the segment __TEXT
	for _, tt := range []struct {
		name    string
		at      int
		value   uint64
		message string
	}{
		{"4G commands", 16, 0xffffffff, "load commands in"},
		{"commands of 16 MB", 20, 1 << 24, "load commands of 16777216 bytes"},
		{"segment beyond the address space", first + 32, ^uint64(0), `segment "__TEXT"`},
		{"more in the file than in memory", first + 48, 1 << 40, `segment "__TEXT"`},
		{"command of 4 bytes", first + 4, 4, "load command"},
	} {
		b := buildMachO(true, false, 0)
		if tt.at < first+32 {
			b.u32(tt.at, uint32(tt.value))
		} else {
			b.u64(tt.at, tt.value)
		}
		_, err := image.NewBytes(b, image.Flat)
		require.ErrorIs(t, err, target.ErrCorrupt, tt.name)
		assert.ErrorContains(t, err, tt.message)
	}
	// No segment contains the header.
	b := buildMachO(false, false, 0)
	b.str(first+8, "__NOTEXT")
	b.u64(first+40, 0x800)
	b.str(32+8, "__NOZERO")
	_, err := image.NewBytes(b, image.Flat)
	require.ErrorContains(t, err, "no segment holds the header")
}

// TestMachOTrieLoops covers tries with loops and invalid edges.
func TestMachOTrieLoops(t *testing.T) {
	at := 3*machoPage + 0x800
	for name, trie := range map[string][]byte{
		"an edge without characters to itself": {0, 1, 0, 0},
		"an edge behind the end":               {0, 1, '_', 0, 0xff, 0x7f},
		"a number without end":                 slices.Repeat([]byte{0xff}, 16),
		"an edge without end":                  {0, 1, '_', '_', '_', '_', '_', '_', '_', '_'},
		"an entry of a terabyte":               {0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 1},
	} {
		b := buildMachO(false, true, 0)
		end := len(b)
		for i := at; i < end; i++ {
			b[i] = 0xff
		}
		copy(b[at:], trie)
		im, err := image.NewBytes(b, image.Flat)
		require.NoError(t, err)
		_, _, err = im.Symbol("first")
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

// TestMachOTruncated cuts the image at every length.
func TestMachOTruncated(t *testing.T) {
	file := buildMachO(true, true, 0)
	opened := 0
	for n := 0; n < len(file); n += 16 {
		if im, err := image.NewBytes(file[:n], image.Flat); err == nil {
			opened++
			touch(im)
		}
		if im, err := image.OpenMemory(memory(file[:n], testBase), &target.Module{Base: testBase}); err == nil {
			touch(im)
		}
	}
	assert.Positive(t, opened)
}

// TestMachOOverlay supplies missing bytes from the file of the image, and from no other file.
func TestMachOOverlay(t *testing.T) {
	file := buildMachO(true, false, 0)
	im, err := image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	mem := memory(loadMachO(file)[:machoPage], testBase)
	m := &target.Module{Base: testBase, Size: 5 * machoPage}
	o := image.NewOverlay(mem)
	require.NoError(t, o.Add(m, im))
	got, err := target.Bytes(o, testBase+machoPage, 16)
	require.NoError(t, err)
	assert.Equal(t, []byte(file[machoPage:][:16]), got)
	_, err = target.Bytes(o, testBase+2*machoPage, 16)
	assert.ErrorIs(t, err, target.ErrNotInDump, "data that the process may have written")

	other := slices.Clone(file)
	i := slices.Index(other, 7)
	require.Positive(t, i)
	other[i] = 6
	im, err = image.NewBytes(other, image.Flat)
	require.NoError(t, err)
	require.ErrorIs(t, image.NewOverlay(mem).Add(m, im), target.ErrCorrupt)
}

func FuzzMachO(f *testing.F) {
	f.Add([]byte(buildMachO(true, false, 0)))
	f.Add([]byte(buildMachO(false, true, 0x80000000)))
	f.Add(loadMachO(buildMachO(true, true, 0)))
	f.Fuzz(fuzzImage)
}
