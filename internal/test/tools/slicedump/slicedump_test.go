package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// pages returns n pages with different contents.
func pages(n int) []byte {
	b := make([]byte, n*pageSize)
	for i := range b {
		b[i] = byte(1 + i/pageSize)
	}
	return b
}

func TestELFSlice(t *testing.T) {
	core := synth.ELFCore{
		Notes:    []synth.ELFNote{synth.ELFProcess(77, "app", "app --x"), synth.ELFThread(77, 0, make([]uint64, 27))},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Data: pages(4), Flags: 6}, {Addr: 0x40000, Data: pages(1), Flags: 4}},
	}
	box, err := openContainer(core.Bytes())
	require.NoError(t, err)
	require.Len(t, box.ranges(), 2)
	// One page of the first segment, none of the second, and a part of a file.
	small, err := box.build([]piece{{0x90000, []byte("from a file")}, {0x11000, pages(4)[pageSize : 2*pageSize]}})
	require.NoError(t, err)
	f, err := elfcore.Open(target.BytesSource(small))
	require.NoError(t, err)
	require.Empty(t, f.Warnings())
	require.Equal(t, uint32(77), f.Process().ID)
	require.Len(t, f.Threads(), 1)
	require.False(t, target.Available(f, 0x10fff, 1))
	require.True(t, target.Available(f, 0x11000, pageSize))
	require.False(t, target.Available(f, 0x12000, 1))
	require.False(t, target.Available(f, 0x40000, 1))
	b, err := target.Bytes(f, 0x90000, 11)
	require.NoError(t, err)
	require.Equal(t, "from a file", string(b))
	var sizes []uint64
	for r := range f.Regions() {
		sizes = append(sizes, r.Size)
	}
	require.Equal(t, []uint64{pageSize, pageSize, 2 * pageSize, pageSize, 11}, sizes, "what is left out is described all the same")
}

func TestMinidumpSlice(t *testing.T) {
	for name, build := range map[string]func(m *synth.Minidump){
		"MemoryList":   func(m *synth.Minidump) { m.Memory(synth.MinidumpRange{Addr: 0x10000, Data: pages(3)}) },
		"Memory64List": func(m *synth.Minidump) { m.Memory64(synth.MinidumpRange{Addr: 0x10000, Data: pages(3)}) },
	} {
		t.Run(name, func(t *testing.T) {
			m := synth.NewMinidump()
			m.SystemInfo(synth.MinidumpAMD64)
			context := synth.AMD64Context(0x10001f, [16]uint64{4: 0x11008}, 0x1234, 0)
			m.Threads(synth.MinidumpThread{ID: 5, StackStart: 0x11000, StackSize: pageSize, Context: context})
			m.Modules(synth.MinidumpModule{Base: 0x400000, Size: 0x1000, Path: `C:\app.dll`})
			build(m)
			box, err := openContainer(m.Bytes())
			require.NoError(t, err)
			small, err := box.build([]piece{{0x11000, pages(3)[pageSize : 2*pageSize]}})
			require.NoError(t, err)
			f, err := minidump.Open(target.BytesSource(small))
			require.NoError(t, err)
			require.Empty(t, f.Warnings())
			require.Equal(t, `C:\app.dll`, f.Modules()[0].Path)
			require.Equal(t, uint32(5), f.Threads()[0].ID)
			require.False(t, target.Available(f, 0x10000, 1))
			b, err := target.Bytes(f, 0x11000, pageSize)
			require.NoError(t, err)
			require.Equal(t, bytes.Repeat([]byte{2}, pageSize), b)
		})
	}
	_, err := openContainer([]byte("no dump"))
	require.ErrorIs(t, err, target.ErrUnsupported)
}

func TestSubtract(t *testing.T) {
	have := []piece{{10, make([]byte, 5)}, {20, make([]byte, 5)}}
	for _, c := range []struct {
		from, n uint64
		want    [][2]uint64
	}{
		{0, 5, [][2]uint64{{0, 5}}},
		{8, 4, [][2]uint64{{8, 10}}},
		{11, 3, nil},
		{0, 30, [][2]uint64{{0, 10}, {15, 20}, {25, 30}}},
		{15, 5, [][2]uint64{{15, 20}}},
		{24, 4, [][2]uint64{{25, 28}}},
	} {
		var got [][2]uint64
		for _, p := range subtract(piece{c.from, make([]byte, c.n)}, have) {
			got = append(got, [2]uint64{p.addr, p.end()})
		}
		require.Equal(t, c.want, got, "%d+%d", c.from, c.n)
	}
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sos"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sos", "a.txt"), []byte("$ setthread 1\n$ dso\n$ dumpheap > file\nan answer\n"), 0o644))
	lines, err := commandsOf(dir, manifest{"facts": map[string]any{"type T": "0x20", "o": "0x10 T[] gen0", "n": "5"}})
	require.NoError(t, err)
	require.Equal(t, []string{"setthread 1", "dso"}, lines[len(lines)-2:])
	require.Contains(t, lines, "dumparray -details 0x10")
	require.Contains(t, lines, "dumpmt -md 0x20")
	require.NotContains(t, lines, "dumpheap > file")
}
