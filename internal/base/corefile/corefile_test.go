package corefile_test

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/corefile"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// source is a file in memory that lends no bytes.
type source struct{ *bytes.Reader }

func (s source) Size() int64                   { return s.Reader.Size() }
func (s source) Bytes(off int64, n int) []byte { return nil }

// diagInfo returns createdump's special diagnostics info in a version of its format.
func diagInfo(version uint32) []byte { return synth.MachODiagInfo(int32(version), 0x1111, 0x2222) }

// TestDiagInfo decodes createdump's description of the process and rejects other bytes.
func TestDiagInfo(t *testing.T) {
	for version, runtime := range map[uint32]target.Addr{1: 0, 2: 0x2222, 3: 0x2222} {
		var c corefile.Core
		data := diagInfo(version)
		require.True(t, c.MapMemory(source{bytes.NewReader(data)}, []memmap.Range{{Addr: 0x1000, Size: uint64(len(data))}}, 0, nil))
		base, ok := c.ReadDiagInfo(0x1000)
		assert.True(t, ok)
		assert.Equal(t, runtime, base)
		f := c.File()
		assert.Equal(t, target.Addr(0x1111), f.Process().ExceptionRecord)
	}
	for name, data := range map[string][]byte{"cut": diagInfo(2)[:39], "another page": bytes.Replace(diagInfo(2), []byte("DIAG"), []byte("GAID"), 1)} {
		var c corefile.Core
		require.True(t, c.MapMemory(source{bytes.NewReader(data)}, []memmap.Range{{Addr: 0x1000, Size: uint64(len(data))}}, 0, nil))
		_, ok := c.ReadDiagInfo(0x1000)
		assert.False(t, ok, name)
		assert.Zero(t, c.Process.ExceptionRecord, name)
	}
}

// TestFindStacks gives a thread all segments of the mapping with its stack pointer, and no other.
func TestFindStacks(t *testing.T) {
	const rw = target.ProtRead | target.ProtWrite
	c := corefile.Core{
		Platform: target.Platform{OS: target.OSLinux, Arch: target.ArchAMD64},
		Regions: []target.Region{
			{Start: 0x1000, Size: 0x1000, Prot: target.ProtRead, Kind: target.RegionPrivate},
			{Start: 0x2000, Size: 0x2000, Prot: rw, Kind: target.RegionPrivate},
			{Start: 0x4000, Size: 0x1000, Prot: rw, Kind: target.RegionPrivate},
			{Start: 0x5000, Size: 0x1000, Prot: rw}, // made up
			{Start: 0x6000, Size: 0x1000, Prot: rw, Kind: target.RegionMapped, Path: "file"},
		},
	}
	for _, sp := range []uint64{0x3008, 0x7000, 0x6800} {
		th := target.Thread{Registers: target.Registers{Arch: target.ArchAMD64}}
		th.Registers.Set(target.RSP, sp)
		c.Threads = append(c.Threads, th)
	}
	c.Threads = append(c.Threads, target.Thread{Registers: target.Registers{Arch: target.ArchAMD64}})
	c.FindStacks()
	f := c.File()
	var stacks []target.Range
	for _, th := range f.Threads() {
		stacks = append(stacks, th.Stack)
	}
	assert.Equal(t, []target.Range{{Start: 0x3000, End: 0x5000}, {}, {Start: 0x6000, End: 0x7000}, {}}, stacks)
	var kinds []target.RegionKind
	for r := range f.Regions() {
		kinds = append(kinds, r.Kind)
	}
	assert.Equal(t, []target.RegionKind{"private", "stack", "stack", "", "mapped"}, kinds)
}

// TestWarnings limits the warnings of one core; the last one names its format.
func TestWarnings(t *testing.T) {
	var c corefile.Core
	c.Process.Container = "Some core"
	for range 1000 {
		c.Warn(target.ErrCorrupt)
	}
	f := c.File()
	require.Len(t, f.Warnings(), 64)
	assert.True(t, strings.HasPrefix(f.Warnings()[63].Error(), "Some core: more"))
}

// TestReadAt reads bytes of the file and reports missing ones.
func TestReadAt(t *testing.T) {
	src := source{bytes.NewReader([]byte("abcdef"))}
	b, err := corefile.ReadAt(src, 2, 3)
	require.NoError(t, err)
	assert.Equal(t, "cde", string(b))
	for _, r := range [][2]uint64{{2, 5}, {7, 0}, {1 << 63, 1 << 63}, {0, 1<<64 - 1}} {
		_, err := corefile.ReadAt(src, r[0], r[1])
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}

// TestClaims checks which cores list all memory of the process. createdump's kinds with heap have the private memory
// that can be written, dead stacks included, and omit what was made read-only.
func TestClaims(t *testing.T) {
	const stack, readOnly = 0x7f0000000000, 0x7f1000000000
	thread := target.Thread{}
	thread.Registers.Arch = target.ArchAMD64
	thread.Registers.Set(target.RSP, stack+0x5000)
	region := func(start target.Addr, size, stored uint64, prot target.Protection, path string) target.Region {
		return target.Region{Start: start, Size: size, Stored: stored, Prot: prot, Path: path, Kind: target.RegionPrivate}
	}
	memory := region(stack, 0x8000, 0x8000, target.ProtRead|target.ProtWrite, "")
	for _, c := range []struct {
		name            string
		regions         []target.Region
		all             bool
		whole, writable bool
	}{
		{"withheap of createdump", []target.Region{memory, region(0x10000, 0x8000, 0x1000, 0, "/lib.so")}, false, false, true},
		{"full of createdump", []target.Region{memory, region(0x10000, 0x8000, 0x8000, target.ProtRead, "/lib.so")}, false, true, true},
		{"kernel", []target.Region{memory, region(0x10000, 0x8000, 0, 0, "/lib.so")}, true, true, true},
		{"only live stacks", []target.Region{region(stack+0x5000, 0x3000, 0x3000, target.ProtRead|target.ProtWrite, "")}, true, false, false},
	} {
		core := corefile.Core{Regions: c.regions, Threads: []target.Thread{thread, thread}, ListsAll: c.all}
		core.Platform.Arch = target.ArchAMD64
		file := core.File()
		claims := file.Claims()
		if c.whole {
			assert.ErrorIs(t, claims.Missing(readOnly), target.ErrCorrupt, c.name)
		} else {
			assert.Equal(t, target.ErrNotInDump, claims.Missing(readOnly), c.name)
		}
		assert.Equal(t, c.writable, claims.ListsWritable(), c.name)
		_, hole := claims.Hole(target.Range{Start: readOnly, End: readOnly + 1})
		assert.Equal(t, c.writable, hole, c.name)

		// gdb leaves out what the process keeps out of cores, which may lie in memory that it uses.
		apart := slices.Concat(c.regions, []target.Region{region(0x200000000000, 0x1000, 0x1000, target.ProtRead|target.ProtWrite, ""),
			region(0x200000002000, 0x1000, 0x1000, target.ProtRead|target.ProtWrite, "")})
		slices.SortFunc(apart, func(a, b target.Region) int { return cmp.Compare(a.Start, b.Start) })
		for _, keptOut := range []bool{false, true} {
			core := corefile.Core{Regions: apart, Threads: []target.Thread{thread, thread}, ListsAll: c.all, KeptOut: keptOut}
			core.Platform.Arch = target.ArchAMD64
			file := core.File()
			claims := file.Claims()
			_, hole := claims.Hole(target.Range{Start: 0x200000000000, End: 0x200000003000})
			assert.Equal(t, c.writable && !keptOut, hole, c.name)
			assert.Equal(t, c.writable && keptOut, claims.KeepsOut(), c.name)
		}

		core.Threads = core.Threads[:1] // as in a child that fork made, which lacks memory of its parent
		file = core.File()
		claims = file.Claims()
		assert.Equal(t, target.ErrNotInDump, claims.Missing(readOnly), c.name)
		assert.False(t, claims.ListsWritable(), c.name)
	}
}
