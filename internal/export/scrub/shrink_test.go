package scrub

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// shrinkerOf opens a dump, and returns it with its container and a shrinker for it.
func shrinkerOf(t *testing.T, file []byte) (*dump.File, *container, *shrinker) {
	t.Helper()
	f, err := dump.OpenReaderAt(bytes.NewReader(file), int64(len(file)), dump.Options{})
	require.NoError(t, err)
	src := target.BytesSource(file)
	e, err := readContainer(f, src)
	require.NoError(t, err)
	dis, err := newDisguise(nil)
	require.NoError(t, err)
	s := &shrinker{src: src, job: &job{disguise: dis}, mark: leftout.NewMark(0x1234_5678_9abc)}
	_, err = e.edits(s.job)
	require.NoError(t, err)
	return f, e, s
}

// remade writes a dump with a note and leaves nothing out, opens it and compares it with the dump.
func remade(t *testing.T, file []byte) (*dump.File, error) {
	t.Helper()
	before, e, s := shrinkerOf(t, file)
	src := s.src
	var edits []edit
	var err error
	if before.Format == dump.FormatMinidump {
		s.at, s.block, edits, err = markMinidump(e, leftout.Note{Mark: s.mark})
	} else {
		s.at, s.block, edits, err = markELF(src, leftout.Note{Mark: s.mark}, nil)
	}
	if err != nil {
		return nil, err
	}
	assert.Zero(t, len(s.block)%filePage, "pages of memory stay pages of the file")
	mem, _ := memmap.New(src, slices.Clone(e.ranges))
	s.layout = newLayout(e.structures, mem.Ranges(), edits, int64(len(file)))
	s.keep(nil)
	out := make([]byte, s.size)
	s.job.areas = areas{{Range: target.Range{End: ^target.Addr(0)}, kind: areaKeep}}
	const piece = 1000 // not a divisor of anything
	for off := 0; off < len(out); off += piece {
		require.NoError(t, s.fill(out[off:min(off+piece, len(out))], int64(off)))
	}
	after, err := dump.OpenReaderAt(bytes.NewReader(out), int64(len(out)), dump.Options{})
	require.NoError(t, err)
	assert.True(t, after.LeftOut())
	assert.False(t, before.LeftOut())
	assert.NoError(t, after.Truncated())
	assert.Equal(t, before.Threads(), after.Threads())
	assert.Equal(t, before.Modules(), after.Modules())
	assert.Equal(t, fmt.Sprint(before.Warnings()), fmt.Sprint(after.Warnings()))
	assert.Equal(t, slices.Collect(before.Regions()), slices.Collect(after.Regions()))
	for r := range before.Regions() {
		want, err := target.Bytes(before, r.Start, int(r.Stored))
		require.NoError(t, err)
		got, err := target.Bytes(after, r.Start, int(r.Stored))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "memory at %v", r.Start)
	}
	return after, nil
}

// content returns bytes that differ from their neighbours.
func content(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7) + byte(i>>8) + seed
	}
	return b
}

// TestMarkELF checks that a core keeps its memory, threads and modules after a header is added, with any number
// of them.
func TestMarkELF(t *testing.T) {
	core := &synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFThread(7, 6, make([]uint64, 27)), synth.ELFProcess(7, "app", "app --flag"), synth.ELFFiles(4096, synth.ELFFile{Start: 0x10000, End: 0x12000, Path: "/lib/liba.so"})},
	}
	for i := range 5 {
		core.Segments = append(core.Segments, synth.ELFSegment{Addr: uint64(0x10000 + i<<20), Data: content(4096*(i+1), byte(i)), Flags: 6})
	}
	f, err := remade(t, core.Bytes())
	require.NoError(t, err)
	assert.Equal(t, "app --flag", f.Process().Command)
	core.ManySegments = true
	_, err = remade(t, core.Bytes())
	require.NoError(t, err)

	// The header that is added is one too many for the usual form.
	core.ManySegments = false
	for i := len(core.Segments); i < countInSection-2; i++ {
		core.Segments = append(core.Segments, synth.ELFSegment{Addr: uint64(0x10000 + i<<20), Size: 4096, Flags: 6})
	}
	_, err = remade(t, core.Bytes())
	require.NoError(t, err)

	core.Segments = []synth.ELFSegment{{Addr: 0x10000, Data: content(4096, 1), Flags: 6}, {Addr: 0x20000, Data: content(64, 0), ClaimOffset: 32, Flags: 6}}
	_, err = remade(t, core.Bytes())
	require.ErrorIs(t, err, target.ErrUnsupported, "memory that is in the header")
}

// TestUnstored checks that a core without its pages of zeros has the memory and the mappings as before.
func TestUnstored(t *testing.T) {
	zeros := make([]byte, 3*4096)
	core := &synth.ELFCore{Notes: []synth.ELFNote{synth.ELFThread(7, 6, make([]uint64, 27))}}
	for i, data := range [][]byte{content(4096, 1), slices.Concat(zeros, content(4096, 2), zeros), zeros, slices.Concat(content(8192, 3), zeros), slices.Concat(zeros, content(100, 4))} {
		core.Segments = append(core.Segments, synth.ELFSegment{Addr: uint64(0x10000 + i<<20), Data: data, Size: uint64(len(data) + 4096), Flags: 6})
	}
	file := core.Bytes()
	before, e, s := shrinkerOf(t, file)
	src := s.src
	s.job.marks = &marks{pages: map[target.Addr]*page{}}
	s.job.areas = areas{{Range: target.Range{End: ^target.Addr(0)}, kind: areaKeep}}
	mem, _ := memmap.New(src, slices.Clone(e.ranges))
	s.layout = newLayout(e.structures, mem.Ranges(), nil, int64(len(file)))
	runs, gone, err := s.unstored(t.Context(), 2, nil)
	require.NoError(t, err)
	assert.Len(t, runs, 5)
	s.at, s.block, s.layout.edits, err = markELF(src, leftout.Note{Mark: s.mark, Runs: runs}, gone)
	require.NoError(t, err)
	s.keep(gone)
	out := make([]byte, s.size)
	assert.Equal(t, len(file)+len(s.block)-5*len(zeros), len(out))
	for off := 0; off < len(out); off += 1000 {
		require.NoError(t, s.fill(out[off:min(off+1000, len(out))], int64(off)))
	}
	after, err := dump.OpenReaderAt(bytes.NewReader(out), int64(len(out)), dump.Options{})
	require.NoError(t, err)
	assert.Zero(t, after.LeftOutBytes(), "zeros are not left out")
	assert.Empty(t, after.Warnings())
	assert.Equal(t, slices.Collect(before.Regions()), slices.Collect(after.Regions()))
	for r := range before.Regions() {
		want, err := target.Bytes(before, r.Start, int(r.Stored))
		require.NoError(t, err)
		got, err := target.Bytes(after, r.Start, int(r.Stored))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "memory at %v", r.Start)
		_, err = target.Bytes(after, r.Start+target.Addr(r.Stored), 1)
		require.ErrorIs(t, err, target.ErrNotInDump)
		require.NotErrorIs(t, err, target.ErrLeftOut)
	}
	// Other programs see the pieces by their headers alone, which name no byte twice.
	parts, err := readELF(target.BytesSource(out))
	require.NoError(t, err)
	assert.NoError(t, sharesBytes(parts.ranges))
	for _, r := range parts.ranges {
		got, err := target.Bytes(before, r.Addr, int(r.Size))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(got, out[r.Offset:r.Offset+int64(r.Size)]), "piece at %v", r.Addr)
	}
}

// TestMarkMinidump checks that the block precedes memory with offsets of 64 bits if only that follows, and is
// at the end otherwise.
func TestMarkMinidump(t *testing.T) {
	made := func(build func(m *synth.Minidump)) []byte {
		m := synth.NewMinidump()
		m.SystemInfo(synth.MinidumpAMD64)
		build(m)
		return m.Bytes()
	}
	wide := func(m *synth.Minidump) {
		m.Memory64(synth.MinidumpRange{Addr: 0x10000, Data: content(4096, 3)}, synth.MinidumpRange{Addr: 0x20000, Data: content(8192, 4)})
	}
	narrow := func(m *synth.Minidump) {
		m.Memory(synth.MinidumpRange{Addr: 0x30000, Data: content(4096, 5)})
	}
	for name, build := range map[string]func(m *synth.Minidump){
		"wide":                        wide,
		"narrow":                      narrow,
		"narrow before wide":          func(m *synth.Minidump) { narrow(m); wide(m) },
		"narrow behind wide":          func(m *synth.Minidump) { wide(m); narrow(m) },
		"a comment behind the memory": func(m *synth.Minidump) { wide(m); m.Stream(10, []byte("a comment\x00")) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := remade(t, made(build))
			require.NoError(t, err)
		})
	}
}

// TestDrop checks that whole words are omitted, except words that were read, and outside of objects pages that
// were read. Zeros stay outside of objects.
func TestDrop(t *testing.T) {
	const at = 0x10000 - 12
	s := &shrinker{mark: leftout.NewMark(1 << 40), job: &job{marks: &marks{pages: map[target.Addr]*page{}, all: true}}}
	s.job.marks.add(0x10011, 1)
	left := func(kind int, r target.Range, zeros bool) (out []target.Addr) {
		b := bytes.Repeat([]byte{1}, keptPage+100)
		if zeros {
			clear(b)
		}
		s.drop(b, at, r, kind)
		for i := range b {
			if a := at + target.Addr(i); bytes.HasPrefix(b[i:], s.mark.Bytes()) {
				out = append(out, a)
			}
		}
		return out
	}
	assert.Equal(t, []target.Addr{0xfff8, 0x10000, 0x10008, 0x10018}, left(spareStrings, target.Range{Start: 0, End: 0x10027}, false), "0x10010 was read, and 0x10020 is not whole")
	assert.Equal(t, []target.Addr{0x10008}, left(spareStrings, target.Range{Start: 0x10001, End: 0x10010}, true))
	assert.Equal(t, []target.Addr{0xfff8, 0x11000}, left(spareNative, target.Range{Start: 0, End: 0x11008}, false))
	assert.Empty(t, left(spareNative, target.Range{Start: 0, End: 0x11008}, true))
	assert.EqualValues(t, 5*wordSize, s.counts[spareStrings].Load())
}

// TestMarks checks that a mark does not occur in the memory, and that bytes of the file belong to one address
// only.
func TestMarks(t *testing.T) {
	word := leftout.NewMark(7 << 40).Bytes()
	file := slices.Concat(content(chunkSize-3, 1), word, content(100, 2))
	stored := []memmap.Range{{Addr: 0x1000, Size: uint64(len(file)), Offset: 0}}
	for _, src := range []target.Source{target.BytesSource(file), target.ReaderAtSource(bytes.NewReader(file), int64(len(file)))} {
		found, err := hasWord(src, stored, word)
		require.NoError(t, err)
		assert.True(t, found, "between two pieces, and not aligned")
		found, err = hasWord(src, stored, leftout.NewMark(8<<40).Bytes())
		require.NoError(t, err)
		assert.False(t, found)
	}
	assert.NoError(t, sharesBytes([]memmap.Range{{Addr: 0x1000, Size: 10, Offset: 20}, {Addr: 0x2000, Size: 20, Offset: 0}}))
	assert.ErrorIs(t, sharesBytes([]memmap.Range{{Addr: 0x1000, Size: 10, Offset: 20}, {Addr: 0x2000, Size: 21, Offset: 0}}), target.ErrUnsupported)
}
