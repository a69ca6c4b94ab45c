package minidump_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// maxAlloc is the number of bytes that a dump of a few kilobytes may make the reader allocate.
const maxAlloc = 1 << 20

// TestLies tests one false field per dump. Each dump still opens, yields its remaining data, and
// reports a warning.
func TestLies(t *testing.T) {
	const far = math.MaxUint32 - 3
	for _, c := range []struct {
		name  string
		lie   func(m *synth.Minidump)
		check func(t *testing.T, f *minidump.File) // checks the remaining data
		words string
	}{
		{"thread count", func(m *synth.Minidump) {
			m.Stream(3, synth.Fields(uint32(math.MaxUint32), uint32(7), make([]byte, 44)))
		},
			func(t *testing.T, f *minidump.File) {
				assert.Len(t, f.Threads(), 1)
				assert.True(t, f.ThreadsCut())
			}, "4294967295 elements"},
		{"module count", func(m *synth.Minidump) { m.Stream(4, synth.Fields(uint32(5), make([]byte, 108))) },
			func(t *testing.T, f *minidump.File) { assert.Len(t, f.Modules(), 1) }, "5 elements"},
		{"no room for a count", func(m *synth.Minidump) { m.Stream(4, []byte{1, 0}) },
			func(t *testing.T, f *minidump.File) { assert.Empty(t, f.Modules()) }, "no element count"},
		{"handle count", func(m *synth.Minidump) {
			m.Stream(12, synth.Fields(uint32(16), uint32(40), uint32(math.MaxUint32), uint32(0), make([]byte, 39)))
		}, func(t *testing.T, f *minidump.File) { assert.Empty(t, f.Handles()) }, "0 are there"},
		{"memory info count", func(m *synth.Minidump) {
			m.Stream(16, synth.Fields(uint32(16), uint32(48), uint64(math.MaxUint64), make([]byte, 48)))
		}, func(t *testing.T, f *minidump.File) { assert.Empty(t, f.MemoryInfos()) }, "1 are there"},
		{"element size zero", func(m *synth.Minidump) {
			m.Stream(16, synth.Fields(uint32(16), uint32(0), uint64(9), make([]byte, 48)))
		},
			func(t *testing.T, f *minidump.File) { assert.Empty(t, f.MemoryInfos()) }, "element size 0"},
		{"element size huge", func(m *synth.Minidump) {
			m.Stream(17, synth.Fields(uint32(12), uint32(math.MaxUint32), uint32(1), make([]byte, 64)))
		}, func(t *testing.T, f *minidump.File) { assert.Empty(t, f.ThreadInfos()) }, "element size"},
		{"header size huge", func(m *synth.Minidump) {
			m.Stream(14, synth.Fields(uint32(math.MaxUint32), uint32(24), uint32(1), make([]byte, 24)))
		}, func(t *testing.T, f *minidump.File) { assert.Empty(t, f.UnloadedModules()) }, "header size"},
		{"header size small", func(m *synth.Minidump) {
			m.Stream(14, synth.Fields(uint32(4), uint32(24), uint32(1), make([]byte, 24)))
		},
			func(t *testing.T, f *minidump.File) { assert.Empty(t, f.UnloadedModules()) }, "header size 4"},
		{"stream past the end", func(m *synth.Minidump) { m.Entry(4, 112, far) },
			func(t *testing.T, f *minidump.File) { assert.Empty(t, f.Modules()) }, "0 of the stream's 112 bytes"},
		{"stream size past the end", func(m *synth.Minidump) { m.Entry(11, math.MaxUint32, m.Place([]byte("h\x00i\x00\x00\x00"))) },
			func(t *testing.T, f *minidump.File) { assert.Equal(t, "hi", f.Process().Comment) }, "4294967295 bytes"},
		{"name outside the file", func(m *synth.Minidump) {
			m.Stream(4, synth.Fields(uint32(1), make([]byte, 20), uint32(far), make([]byte, 84)))
		},
			func(t *testing.T, f *minidump.File) { assert.Empty(t, f.Modules()[0].Path) }, "name"},
		{"name longer than the file", func(m *synth.Minidump) {
			name := m.Place(synth.Fields(uint32(60000)))
			m.Stream(4, synth.Fields(uint32(1), make([]byte, 20), name, make([]byte, 84)))
		}, func(t *testing.T, f *minidump.File) { assert.Empty(t, f.Modules()[0].Path) }, "60000 bytes wanted"},
		{"name of 4 GB", func(m *synth.Minidump) {
			name := m.Place(synth.Fields(uint32(math.MaxUint32)))
			m.Stream(4, synth.Fields(uint32(1), make([]byte, 20), name, make([]byte, 84)))
		}, func(t *testing.T, f *minidump.File) { assert.Empty(t, f.Modules()[0].Path) }, "name of 4294967295 bytes"},
		{"thread name at a 64-bit offset", func(m *synth.Minidump) { m.Stream(24, synth.Fields(uint32(1), uint32(3), uint64(1<<40))) },
			func(t *testing.T, f *minidump.File) {}, "name of thread 0x3"},
		{"CodeView record outside the file", func(m *synth.Minidump) {
			m.Stream(4, synth.Fields(uint32(1), make([]byte, 76), uint32(40), uint32(far), make([]byte, 24)))
		}, func(t *testing.T, f *minidump.File) { assert.Nil(t, f.Modules()[0].PDB) }, "CodeView"},
		{"CodeView record of 4 GB", func(m *synth.Minidump) {
			m.Stream(4, synth.Fields(uint32(1), make([]byte, 76), uint32(math.MaxUint32), uint32(40), make([]byte, 24)))
		}, func(t *testing.T, f *minidump.File) { assert.Nil(t, f.Modules()[0].PDB) }, "CodeView record of"},
		{"context outside the file", func(m *synth.Minidump) {
			m.Stream(3, synth.Fields(uint32(1), make([]byte, 40), uint32(1232), uint32(far)))
		}, func(t *testing.T, f *minidump.File) { assert.False(t, f.Threads()[0].Registers.Known()) }, "registers"},
		{"one thread twice", func(m *synth.Minidump) {
			c := synth.AMD64Context(allGroups, regs, 1, 2)
			m.Threads(synth.MinidumpThread{ID: 3, Context: c}, synth.MinidumpThread{ID: 3, Context: c})
		}, func(t *testing.T, f *minidump.File) { assert.Len(t, f.Threads(), 2) }, "listed twice"},
		{"memory past the end", func(m *synth.Minidump) { m.Stream(5, synth.Fields(uint32(1), uint64(0x1000), uint32(16), uint32(far))) },
			func(t *testing.T, f *minidump.File) { assert.False(t, target.Available(f, 0x1000, 1)) }, "past the end"},
		{"memory in the header", func(m *synth.Minidump) { m.Stream(5, synth.Fields(uint32(1), uint64(0x1000), uint32(16), uint32(0))) },
			func(t *testing.T, f *minidump.File) { assert.False(t, target.Available(f, 0x1000, 1)) }, "impossible range"},
		{"memory around the address space", func(m *synth.Minidump) {
			m.Stream(5, synth.Fields(uint32(1), uint64(math.MaxUint64-7), uint32(16), uint32(64)))
		}, func(t *testing.T, f *minidump.File) { assert.False(t, target.Available(f, math.MaxUint64-7, 1)) }, "impossible range"},
		{"misc info longer than its stream", func(m *synth.Minidump) {
			m.Stream(15, synth.Fields(uint32(1364), uint32(1), uint32(9), make([]byte, 12)))
		},
			func(t *testing.T, f *minidump.File) { assert.Equal(t, uint32(9), f.Process().ID) }, "structure of 1364 bytes"},
		{"misc info too short", func(m *synth.Minidump) { m.Stream(15, make([]byte, 12)) },
			func(t *testing.T, f *minidump.File) { assert.Zero(t, f.Process().ID) }, "stream of 12 bytes"},
		{"exception cut", func(m *synth.Minidump) { m.Stream(6, make([]byte, 100)) }, func(t *testing.T, f *minidump.File) {
			_, ok := f.Exception()
			assert.False(t, ok)
		}, "no exception record"},
		{"exception parameters", func(m *synth.Minidump) { m.Stream(6, synth.Fields(make([]byte, 32), uint32(1000), make([]byte, 132))) },
			func(t *testing.T, f *minidump.File) {
				e, _ := f.Exception()
				assert.Len(t, e.Parameters, 15)
			}, "1000 exception parameters"},
		{"exception of no thread", func(m *synth.Minidump) { m.Exception(0x77, 5, 6, nil, nil) }, func(t *testing.T, f *minidump.File) {
			e, _ := f.Exception()
			assert.Equal(t, uint32(5), e.Code)
			assert.False(t, e.Registers.Known())
		}, "is not in the thread list"},
		{"system information cut", func(m *synth.Minidump) { m.Stream(7, make([]byte, 8)) },
			func(t *testing.T, f *minidump.File) { assert.Equal(t, target.ArchUnknown, f.Platform().Arch) }, "architecture is unknown"},
		{"region around the address space", func(m *synth.Minidump) {
			m.MemoryInfo(synth.MinidumpInfo{Start: 0x1000, Size: math.MaxUint64})
		}, func(t *testing.T, f *minidump.File) { assert.Empty(t, f.MemoryInfos()) }, "region of"},
		{"regions overlap", func(m *synth.Minidump) {
			m.MemoryInfo(synth.MinidumpInfo{Start: 0x2000, Size: 0x2000}, synth.MinidumpInfo{Start: 0x1000, Size: 0x2000})
		}, func(t *testing.T, f *minidump.File) { assert.Len(t, f.MemoryInfos(), 1) }, "two regions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := synth.NewMinidump()
			c.lie(m) // before the true streams: the first of two streams of a type counts
			process(m)
			m.Memory64(memory()...)
			b := m.Bytes()
			var f *minidump.File
			assert.Less(t, allocated(func() {
				f = open(t, b)
				touch(f)
			}), uint64(maxAlloc))
			c.check(t, f)
			assert.True(t, target.Available(f, heapAddr, 8))
			found := false
			for _, w := range f.Warnings() {
				assert.True(t, isKnown(w), "%v", w)
				found = found || strings.Contains(w.Error(), c.words)
			}
			assert.True(t, found, "no warning has %q: %v", c.words, f.Warnings())
		})
	}
}

// TestHopeless tests dumps that can't be opened.
func TestHopeless(t *testing.T) {
	build := func(add func(m *synth.Minidump)) []byte {
		m := synth.NewMinidump()
		m.SystemInfo(synth.MinidumpAMD64)
		add(m)
		return m.Bytes()
	}
	header := func(streams, rva uint32) []byte {
		return synth.Fields([]byte("MDMP"), uint32(42899), streams, rva, make([]byte, 16))
	}
	for _, c := range []struct {
		name   string
		dump   []byte
		stream string
	}{
		{"empty file", nil, "header"},
		{"cut header", header(1, 32)[:31], "header"},
		{"another signature", append([]byte("PMDM"), make([]byte, 28)...), "header"},
		{"no streams", header(0, 32), "directory"},
		{"directory past the end", header(1, math.MaxUint32), "directory"},
		{"directory in the header", append(header(1, 0), make([]byte, 64)...), "directory"},
		{"four million streams", append(header(4<<20, 32), make([]byte, 64)...), "directory"},
		{"no memory list", build(func(*synth.Minidump) {}), "directory"},
		{"empty memory list", build(func(m *synth.Minidump) { m.Memory() }), "MemoryList"},
		{"ten million ranges", build(func(m *synth.Minidump) { m.Stream(5, synth.Fields(uint32(10_000_000))) }), "MemoryList"},
		{"2^60 ranges", build(func(m *synth.Minidump) { m.Stream(9, synth.Fields(uint64(1)<<60, uint64(64))) }), "Memory64List"},
		{"base offset past 2^63", build(func(m *synth.Minidump) {
			m.Stream(9, synth.Fields(uint64(1), uint64(1)<<63, uint64(0x1000), uint64(1)))
		}), "Memory64List"},
		{"sum of sizes past 2^64", build(func(m *synth.Minidump) {
			m.Stream(9, synth.Fields(uint64(2), uint64(1)<<40, uint64(0x1000), uint64(1)<<62, uint64(0x1000), uint64(math.MaxUint64)))
		}), "Memory64List"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Less(t, allocated(func() {
				_, err := minidump.Open(target.BytesSource(c.dump))
				require.ErrorIs(t, err, target.ErrCorrupt)
				var fe *minidump.FormatError
				require.ErrorAs(t, err, &fe)
				assert.Equal(t, c.stream, fe.Stream)
			}), uint64(maxAlloc))
		})
	}
}

// TestManyStreams has a directory that claims too many streams, followed by valid streams.
func TestManyStreams(t *testing.T) {
	m := synth.NewMinidump()
	process(m)
	m.Memory64(memory()...)
	m.ClaimStreams(4 << 20)
	f := open(t, m.Bytes())
	assert.Len(t, f.Threads(), 2)
	assert.ErrorContains(t, f.Warnings()[0], "4194304 streams claimed")
}

// TestSharedNames has ten thousand handles that share one name of 60 KB. Reading it for each would
// take 1.2 GB.
func TestSharedNames(t *testing.T) {
	m := synth.NewMinidump()
	m.Memory(memory()...)
	name := m.Place(append(synth.Fields(uint32(60_000)), bytes.Repeat([]byte("x\x00"), 30_000)...))
	body := synth.Fields(uint32(16), uint32(32), uint32(10_000), uint32(0))
	for range 10_000 {
		body = append(body, synth.Fields(uint64(4), name, name, make([]byte, 16))...)
	}
	m.Stream(12, body)
	f := open(t, m.Bytes())
	assert.Less(t, allocated(func() { assert.Len(t, f.Handles(), 10_000) }), uint64(16<<20))
}

// TestListLimit has more unloaded modules than the limit.
func TestListLimit(t *testing.T) {
	m := synth.NewMinidump()
	m.Stream(14, append(synth.Fields(uint32(12), uint32(24), uint32(100_001)), make([]byte, 24*100_001)...))
	m.Memory(memory()...)
	f := open(t, m.Bytes())
	assert.Empty(t, f.UnloadedModules(), "a list without one name or address is garbage")
	assert.Condition(t, func() bool {
		for _, w := range f.Warnings() {
			if strings.Contains(w.Error(), "the first 100000 are read") && target.Kind(w) == target.ErrLimit {
				return true
			}
		}
		return false
	})
}

// TestUnloadedModules has a list of mostly impossible entries. They are skipped, with one warning.
func TestUnloadedModules(t *testing.T) {
	entry := func(base uint64, size, name uint32) []byte {
		return synth.Fields(base, size, uint32(0), uint32(0), name)
	}
	for arch, kept := range map[uint16][]target.Addr{synth.MinidumpAMD64: {0x6000, 0x7ff0_0001_0000}, synth.MinidumpX86: {0x6000, 0x8000_1000}} {
		m := synth.NewMinidump()
		m.SystemInfo(arch)
		name, empty := m.PlaceString("gone.dll"), m.PlaceString("")
		body := synth.Fields(uint32(12), uint32(24), uint32(10))
		for _, e := range [][]byte{
			entry(0x6000, 0x2000, name), entry(0x7ff0_0001_0000, 0x1000, name), entry(0xffff_ffff_8000_1000, 0x1000, name),
			entry(0, 0x1000, name), entry(0x7000, 0, name), entry(0x7008, 0x1000, name), entry(0x8000, 0x1000, empty),
			entry(0x9000, 0x1000, 0xfff_ffff), entry(0xffff_ffff_ffff_f000, 0x2000, name), entry(0x6d00_6c00_6b00_6000, 0x1000, name),
		} {
			body = append(body, e...)
		}
		m.Stream(14, body)
		m.Memory(memory()...)
		f := open(t, m.Bytes())
		var got []target.Addr
		for _, u := range f.UnloadedModules() {
			got = append(got, u.Base)
			assert.Equal(t, "gone.dll", u.Path)
		}
		assert.Equal(t, kept, got)
		assert.ErrorContains(t, errors.Join(f.Warnings()...), "8 of 10 entries can't be images")
		for _, c := range f.Contents() {
			if c.Name == "unloaded modules" {
				assert.Equal(t, 2, c.Count)
			}
		}
	}
}

// TestWarningsAreFew has a thousand broken threads.
func TestWarningsAreFew(t *testing.T) {
	m := synth.NewMinidump()
	m.SystemInfo(synth.MinidumpAMD64)
	m.Modules()
	m.Threads(make([]synth.MinidumpThread, 1000)...)
	m.Memory(memory()...)
	w := open(t, m.Bytes()).Warnings()
	assert.Len(t, w, 17)
	assert.ErrorContains(t, w[16], "more warnings")
}
