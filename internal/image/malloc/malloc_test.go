package malloc_test

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/image/malloc"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// Addresses in the synthetic process. The numbers of glibc's structures are repeated here on
// purpose.
const (
	libcAt   = 0x7f0000200000
	dataAt   = libcAt + 0x1000
	arenaAt  = dataAt + 0x100
	paramsAt = dataAt + 0x1000
	brkAt    = 0x555500000000
	topAt    = brkAt + 0x2000
	heapAt   = 0x7f0040000000 // a multiple of 64 MB
	nextHeap = heapAt + 64<<20
	mapAt    = 0x7f0060000000
)

// A process is the memory of a synthetic process with two arenas and one block with its own
// mapping. The second arena has two heaps.
type process struct {
	form                     form
	data, brk, heap, second  []byte
	mapped                   []byte
	withoutData, withoutHead bool
	endless                  bool // the last segment claims 2^60 bytes
}

// A form is the layout of structures in a version of glibc.
type form struct {
	fastBins, top, bins, next, threads, system, state uint64
	heapInfo                                          uint64
	mmaps, mmapsMax, mmapped, base                    uint64
	cacheBins, countBytes, entries, cache             uint64
	protected, remaining                              bool
}

var forms = map[string]form{
	"2.36": {16, 96, 112, 2160, 2176, 2184, 2200, 48, 60, 64, 80, 96, 64, 2, 128, 0x290, true, false},
	"2.42": {16, 96, 112, 2160, 2176, 2184, 2200, 48, 60, 64, 80, 96, 76, 2, 152, 0x300, true, true},
	"2.31": {16, 96, 112, 2160, 2176, 2184, 2200, 32, 40, 44, 56, 72, 64, 2, 128, 0x290, false, false},
	"2.26": {8, 88, 104, 2152, 2168, 2176, 2192, 32, 40, 44, 56, 72, 64, 1, 64, 0x250, false, false},
}

func put(b []byte, off uint64, values ...uint64) {
	for i, v := range values {
		binary.LittleEndian.PutUint64(b[off+8*uint64(i):], v)
	}
}

// arena writes a malloc_state with empty bins.
func (p *process) arena(b []byte, off, at, top, next, system uint64) {
	f := &p.form
	put(b, off+f.top, top)
	for i := range uint64(127) {
		bin := at + f.bins + 16*i - 16
		put(b, off+f.bins+16*i, bin, bin)
	}
	put(b, off+f.next, next)
	put(b, off+f.threads, 2)
	put(b, off+f.system, system)
}

func (p *process) firstChunk() uint64 { return (p.form.heapInfo + p.form.state + 15) &^ 15 }

// made returns a valid process. The main arena has a cache of 2 chunks of 48 bytes, a chunk of
// 1,024 in use, a free one of 512, one of 256 in use, one of 32 in a fast bin, and one that fills
// the rest. The thread's arena has a chunk of 4,096 minus the structures before it, and one of
// 2,032 in its second heap.
func made(version string) *process {
	p := &process{form: forms[version], data: make([]byte, 0x2000), brk: make([]byte, 0x3000), heap: make([]byte, 0x2000), second: make([]byte, 0x2000), mapped: make([]byte, 0x2000)}
	f := &p.form
	p.arena(p.data, arenaAt-dataAt, arenaAt, topAt, heapAt+f.heapInfo, 0x3000)
	binary.LittleEndian.PutUint32(p.data[paramsAt-dataAt+f.mmaps:], 1)
	binary.LittleEndian.PutUint32(p.data[paramsAt-dataAt+f.mmapsMax:], 65536)
	put(p.data, paramsAt-dataAt+f.mmapped, 0x2000)
	put(p.data, paramsAt-dataAt+f.base, brkAt)

	at := uint64(0)
	chunk := func(size, flags uint64) uint64 { // returns its address
		put(p.brk, at+8, size|flags)
		at += size
		return at - size
	}
	cache := chunk(f.cache, 1)
	chunk(1024, 1)
	free := chunk(512, 1)
	put(p.brk, at, 512)
	chunk(256, 0)
	first, second := chunk(48, 1), chunk(48, 1)
	fast := chunk(32, 1)
	chunk(0x2000-at, 1)
	put(p.brk, topAt-brkAt+8, 0x1000|1)

	bin := uint64(arenaAt) + f.bins + 16*32 - 16
	put(p.data, bin+16-dataAt, brkAt+free, brkAt+free)
	put(p.brk, free+16, bin, bin)
	put(p.data, arenaAt-dataAt+f.fastBins, brkAt+fast)
	put(p.brk, fast+16, p.link(brkAt+fast+16, 0))

	for i := range f.cacheBins {
		count := uint64(0)
		if f.remaining {
			count = 7
		}
		if i == 1 {
			count = 2
			if f.remaining {
				count = 5
			}
		}
		p.brk[cache+16+i*f.countBytes] = byte(count)
	}
	put(p.brk, cache+16+f.entries+8, brkAt+first+16)
	put(p.brk, first+16, p.link(brkAt+first+16, brkAt+second+16))
	put(p.brk, second+16, p.link(brkAt+second+16, 0))

	put(p.heap, 0, heapAt+f.heapInfo, 0, 0x2000)
	p.arena(p.heap, f.heapInfo, heapAt+f.heapInfo, nextHeap+f.heapInfo+2032, arenaAt, 0x4000)
	put(p.heap, p.firstChunk()+8, (0x2000-32-p.firstChunk())|1|4)
	put(p.heap, 0x2000-32+8, 16|1, 16, 1) // the fence
	put(p.second, 0, heapAt+f.heapInfo, heapAt, 0x2000)
	put(p.second, f.heapInfo+8, 2032|1|4)
	put(p.second, f.heapInfo+2032+8, (0x2000-f.heapInfo-2032)|1)
	put(p.mapped, 8, 0x2000|2)
	return p
}

// link returns the stored form of a link at an address.
func (p *process) link(at, to uint64) uint64 {
	if p.form.protected {
		return at>>12 ^ to
	}
	return to
}

// open opens the process.
func (p *process) open(t testing.TB) *dump.File {
	t.Helper()
	const path = "/usr/lib/libc.so.6"
	head := synth.ELFImage(3, 0, [4]uint64{0, 0, 0x1000, 0x1000}, [4]uint64{0x1000, 0x1000, 0x2000, 0x2000})
	c := synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFThread(1, 0, make([]uint64, 27)),
			synth.ELFFiles(0x1000, synth.ELFFile{Start: libcAt, End: dataAt, Path: path}, synth.ELFFile{Start: dataAt, End: dataAt + 0x2000, Offset: 0x1000, Path: path})},
		Segments: []synth.ELFSegment{
			{Addr: brkAt, Data: p.brk, Size: 0x3000, Flags: 6},
			{Addr: libcAt, Data: head, Size: 0x1000, Flags: 4}, {Addr: dataAt, Data: p.data, Size: 0x2000, Flags: 6},
			{Addr: heapAt, Data: p.heap, Size: 0x2000, Flags: 6}, {Addr: nextHeap, Data: p.second, Size: 0x2000, Flags: 6},
			{Addr: mapAt, Data: p.mapped, Size: 0x2000, Flags: 6},
		},
	}
	if p.withoutData {
		c.Segments[2].Data = nil
	}
	if p.endless {
		c.Segments[5].Size = 1 << 60
	}
	if p.withoutHead {
		c.Segments[0].Data = p.brk[:0x800]
	}
	b := c.Bytes()
	f, err := dump.OpenReaderAt(target.BytesSource(b), int64(len(b)), dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// chunks returns the sizes of an arena's chunks by state, and the errors.
func chunks(a *malloc.Allocator, i int) (sizes map[malloc.ChunkState][]uint64, errs []error) {
	sizes = map[malloc.ChunkState][]uint64{}
	for c, err := range a.Chunks(context.Background(), &a.Arenas[i]) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sizes[c.State] = append(sizes[c.State], c.Size)
	}
	return sizes, errs
}

// TestArenas reads a synthetic process in the layouts of four versions.
func TestArenas(t *testing.T) {
	for version := range forms {
		t.Run(version, func(t *testing.T) {
			p := made(version)
			f := p.open(t)
			a, err := malloc.Open(f, f)
			require.NoError(t, err)
			assert.Empty(t, a.Missing)
			assert.Equal(t, "/usr/lib/libc.so.6", a.Library)
			assert.Equal(t, &malloc.Mapped{Chunks: 1, Bytes: 0x2000}, a.Mapped)
			require.Len(t, a.Arenas, 2)
			assert.Equal(t, []bool{true, false}, []bool{a.Arenas[0].Main, a.Arenas[1].Main})
			assert.Equal(t, []uint64{0x3000, 0x4000}, []uint64{a.Arenas[0].System, a.Arenas[1].System})
			assert.EqualValues(t, 2, a.Arenas[1].Threads)

			sizes, errs := chunks(a, 0)
			assert.Empty(t, errs)
			rest := 0x2000 - p.form.cache - 1024 - 512 - 256 - 48 - 48 - 32
			assert.Equal(t, map[malloc.ChunkState][]uint64{malloc.ChunkInUse: {p.form.cache, 1024, 256, rest}, malloc.ChunkFree: {512},
				malloc.ChunkCached: {48, 48, 32}, malloc.ChunkTop: {0x1000}}, sizes)

			require.Len(t, a.Arenas[1].Heaps, 2)
			sizes, errs = chunks(a, 1)
			assert.Empty(t, errs)
			assert.Equal(t, map[malloc.ChunkState][]uint64{malloc.ChunkInUse: {0x2000 - 32 - p.firstChunk(), 2032},
				malloc.ChunkTop: {0x2000 - p.form.heapInfo - 2032}}, sizes)

			own := a.MappedChunks([]target.Range{{Start: mapAt, End: mapAt + 0x2000}})
			assert.Equal(t, []malloc.Chunk{{Addr: mapAt, Size: 0x2000}}, own)
			c, ok := a.ChunkAt(context.Background(), brkAt+target.Addr(p.form.cache)+100)
			assert.True(t, ok)
			assert.EqualValues(t, 1024, c.Size)
			assert.EqualValues(t, brkAt+p.form.cache+16, c.Data())
			_, ok = a.ChunkAt(context.Background(), mapAt)
			assert.False(t, ok)
		})
	}
}

// TestWithoutMainArena reads a dump without the library's variables: threads' arenas by their
// addresses, and the main arena by its chunks.
func TestWithoutMainArena(t *testing.T) {
	p := made("2.36")
	p.withoutData, p.endless = true, true
	f := p.open(t)
	a, err := malloc.Open(f, f)
	require.NoError(t, err)
	require.Len(t, a.Missing, 1)
	assert.ErrorIs(t, a.Missing[0], target.ErrNotInDump)
	assert.Nil(t, a.Mapped)
	require.Len(t, a.Arenas, 2)
	assert.Zero(t, a.Arenas[0].Addr)
	sizes, errs := chunks(a, 0)
	assert.Empty(t, errs)
	assert.Equal(t, []uint64{48, 48}, sizes[malloc.ChunkCached], "the fast bins are in the malloc_state")
	assert.Equal(t, []uint64{0x1000}, sizes[malloc.ChunkTop])
}

// TestLies changes one field of a valid process at a time.
func TestLies(t *testing.T) {
	f := forms["2.36"]
	free := f.cache + 1024
	for _, c := range []struct {
		name    string
		change  func(p *process)
		kind    error
		missing string // text in Missing
		walk    string // text in the errors of the walk
	}{
		{"the ring of arenas leads back to a thread's", func(p *process) { put(p.heap, f.heapInfo+f.next, heapAt+f.heapInfo) }, target.ErrCorrupt, "come back to the main arena", ""},
		{"the ring of arenas leads nowhere", func(p *process) { put(p.heap, f.heapInfo+f.next, 0x1230) }, target.ErrNotInDump, "malloc arena 0000000000001230", ""},
		{"a heap is of another arena", func(p *process) { put(p.second, 0, arenaAt) }, target.ErrCorrupt, "heap 00007f0044000000 of arena", ""},
		{"heaps lead back to themselves", func(p *process) { put(p.second, 8, nextHeap) }, target.ErrCorrupt, "leads back", ""},
		{"a heap is too large", func(p *process) { put(p.heap, 16, 1<<40) }, target.ErrCorrupt, "has 1099511627776 bytes", ""},
		{"the top is in no heap", func(p *process) { put(p.heap, f.heapInfo+f.top, nextHeap+0x3000) }, target.ErrCorrupt, "in none of its heaps", ""},
		{"a thread's bins are not its own", func(p *process) { put(p.heap, f.heapInfo+f.bins, 16) }, target.ErrCorrupt, "bins", ""},
		{"the top is too long", func(p *process) { put(p.brk, topAt-brkAt+8, 1<<40|1) }, target.ErrCorrupt, "top", ""},
		{"a chunk has no size", func(p *process) { put(p.brk, f.cache+8, 1) }, target.ErrCorrupt, "", "impossible"},
		{"a chunk is longer than its heap", func(p *process) { put(p.brk, f.cache+8, 0x8000|1) }, target.ErrCorrupt, "", "longer"},
		{"a chunk runs over the top", func(p *process) { put(p.brk, f.cache+8, 0x2800|1) }, target.ErrCorrupt, "", "longer"},
		{"a size is no multiple of 16", func(p *process) { put(p.brk, f.cache+8, 1032|1) }, target.ErrCorrupt, "", "impossible"},
		{"a chunk of an arena claims to be mapped", func(p *process) { put(p.brk, f.cache+8, 1024|3) }, target.ErrCorrupt, "", "impossible"},
		{"a free chunk has two sizes", func(p *process) { put(p.brk, free+512, 528) }, target.ErrCorrupt, "", "by the next chunk"},
		{"the memory ends", func(p *process) { p.withoutHead = true }, target.ErrNotInDump, "top", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := made("2.36")
			c.change(p)
			d := p.open(t)
			a, err := malloc.Open(d, d)
			require.NoError(t, err)
			if c.missing != "" {
				require.NotEmpty(t, a.Missing)
				assert.ErrorIs(t, a.Missing[0], c.kind)
				assert.ErrorContains(t, a.Missing[0], c.missing)
				return
			}
			assert.Empty(t, a.Missing)
			_, errs := chunks(a, 0)
			require.Len(t, errs, 1)
			assert.ErrorIs(t, errs[0], c.kind)
			assert.ErrorContains(t, errs[0], c.walk)
			_, errs = chunks(a, 1)
			assert.Empty(t, errs, "the other arena is sound")
		})
	}
}

// TestUnprovenCaches: the chunks of a contradictory cache count as in use.
func TestUnprovenCaches(t *testing.T) {
	f := forms["2.36"]
	first := f.cache + 1024 + 512 + 256
	for name, change := range map[string]func(p *process){
		"a list that leads back": func(p *process) { put(p.brk, first+48+16, p.link(brkAt+first+48+16, brkAt+first+16)) },
		"a count too high":       func(p *process) { p.brk[16+2] = 3 },
		"a chunk of another size": func(p *process) {
			put(p.brk, 16+f.entries+8, brkAt+f.cache+16)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := made("2.36")
			change(p)
			d := p.open(t)
			a, err := malloc.Open(d, d)
			require.NoError(t, err)
			sizes, errs := chunks(a, 0)
			assert.Empty(t, errs)
			assert.Equal(t, []uint64{32}, sizes[malloc.ChunkCached], "of the fast bin")
			assert.Len(t, slices.DeleteFunc(sizes[malloc.ChunkInUse], func(n uint64) bool { return n != 48 }), 2)
		})
	}
}

// TestNoMalloc covers processes without glibc.
func TestNoMalloc(t *testing.T) {
	win := testdump.Open(t, "win-net8-zoo")
	_, err := malloc.Open(win.Target(), win.Memory())
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// TestCancelled cancels the walk of a heap.
func TestCancelled(t *testing.T) {
	d := made("2.36").open(t)
	a, err := malloc.Open(d, d)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range a.Chunks(ctx, &a.Arenas[0]) {
		assert.ErrorIs(t, err, context.Canceled)
		return
	}
	t.Error("no error")
}

// FuzzArenas changes memory of a synthetic process: chunks lie in their heap, and errors are typed.
func FuzzArenas(f *testing.F) {
	f.Add("2.36", uint16(arenaAt-dataAt+96), uint64(topAt), uint8(0))
	f.Add("2.31", uint16(8), uint64(0x291), uint8(1))
	f.Add("2.26", uint16(0), uint64(heapAt+32), uint8(2))
	f.Add("2.42", uint16(8), uint64(nextHeap), uint8(3))
	f.Add("2.36", uint16(0x290+8), uint64(1<<63|1), uint8(1))
	f.Fuzz(func(t *testing.T, version string, off uint16, value uint64, where uint8) {
		if _, known := forms[version]; !known {
			version = "2.36"
		}
		p := made(version)
		b := [][]byte{p.data, p.brk, p.heap, p.second}[where%4]
		put(b, uint64(off)%uint64(len(b)-8), value)
		d := p.open(t)
		a, err := malloc.Open(d, d)
		if err != nil {
			assert.True(t, testdump.Typed(err), "%v", err)
			return
		}
		for _, err := range a.Missing {
			assert.True(t, testdump.Typed(err), "%v", err)
		}
		for i := range a.Arenas {
			for _, h := range a.Arenas[i].Heaps {
				for c, err := range a.Chunks(context.Background(), &malloc.Arena{Heaps: []malloc.Heap{h}}) {
					if err != nil {
						assert.True(t, testdump.Typed(err), "%v", err)
						continue
					}
					assert.True(t, c.Addr >= h.Range.Start && c.Size > 0 && c.Size <= uint64(h.Range.End-c.Addr), "%v %d", c.Addr, c.Size)
				}
			}
		}
	})
}
