package image_test

import (
	"encoding/binary"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// relocated returns the synthetic PE image after a loader moved it to testBase, including the
// loader's writes.
func relocated() blob {
	b := loadPE(buildPE())
	b.u64(peTextRVA+pePointer, testBase+peDataRVA)
	b.u64(0x98+24, testBase)
	b.u64(peTextRVA+peIAT, 0xdddddddddddddddd)
	b.u64(peTextRVA+0x970, 0xcccccccccccccccc)
	return b
}

func peFile(t testing.TB) *image.Image {
	im, err := image.NewBytes(buildPE(), image.Flat)
	require.NoError(t, err)
	return im
}

func TestOverlayPE(t *testing.T) {
	m := &target.Module{Base: testBase, Size: peImageSize, TimeDateStamp: peStamp, SizeOfImage: peImageSize}
	mem := relocated()
	o := image.NewOverlay(memory(mem, testBase, 0, 1, 2, 3, 4))
	require.NoError(t, o.Add(m, peFile(t)))

	p, err := target.Uint64(o, testBase+peTextRVA+pePointer)
	require.NoError(t, err)
	assert.Equal(t, uint64(testBase+peDataRVA), p, "relocated")
	_, ok := o.View(testBase+peTextRVA+pePointer, 8)
	assert.False(t, ok, "nothing that is relocated is lent")
	half, err := target.Uint32(o, testBase+peTextRVA+pePointer+4)
	require.NoError(t, err)
	assert.Equal(t, uint32(testBase>>32), half, "half of a pointer")

	for name, rva := range map[string]target.Addr{"import table": peTextRVA + peIAT, "guard pointer": peTextRVA + 0x970,
		"image base": 0x98 + 24, "data": peDataRVA, "beyond": peImageSize} {
		_, err := target.Uint8(o, testBase+rva)
		assert.ErrorIs(t, err, target.ErrNotInDump, name)
		assert.Empty(t, o.Source(testBase+rva))
	}
	assert.Len(t, o.Span(testBase+peTextRVA), pePointer, "up to the relocation")

	im, err := image.OpenMemory(o, m)
	require.NoError(t, err)
	assert.True(t, im.HasHeaders())
	checkPEIdentity(t, im)
	checkCLR(t, im)
}

// TestOverlayUnwindTable: the table of unwind data is supplied even from a writable section, but
// nothing else of the section.
func TestOverlayUnwindTable(t *testing.T) {
	const table, size = peDataRVA + 0x80, 24
	file := buildPE()
	file.u32(0x98+112+8*3, table, size)
	file.u64(peDataOff+0x80, 0x1234)
	im, err := image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	m := &target.Module{Base: testBase, Size: peImageSize, TimeDateStamp: peStamp, SizeOfImage: peImageSize}
	o := image.NewOverlay(memory(relocated(), testBase, 0, 1, 2, 3, 4))
	require.NoError(t, o.Add(m, im))
	got, err := target.Uint64(o, testBase+table)
	require.NoError(t, err)
	assert.Equal(t, uint64(0x1234), got)
	for _, rva := range []target.Addr{peDataRVA, table - 1, table + size} {
		_, err := target.Uint8(o, testBase+rva)
		assert.ErrorIs(t, err, target.ErrNotInDump, "%#x", rva)
	}
	file.u32(0x98+112+8*3, table, 1<<30) // longer than the file
	im, err = image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	o = image.NewOverlay(memory(relocated(), testBase, 0, 1, 2, 3, 4))
	require.NoError(t, o.Add(m, im))
	_, err = target.Uint8(o, testBase+peDataRVA+0x200)
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

func TestOverlayDumpFirst(t *testing.T) {
	m := &target.Module{Base: testBase, Size: peImageSize}
	mem := relocated()
	mem[peTextRVA+peIAT] = 0x77 // changed by the process
	o := image.NewOverlay(memory(mem, testBase, 3, 4))
	file := peFile(t)
	require.NoError(t, o.Add(m, file))
	b, err := target.Uint8(o, testBase+peTextRVA+peIAT)
	require.NoError(t, err)
	assert.Equal(t, byte(0x77), b)
	assert.Equal(t, image.SourceDump, o.Source(testBase+peTextRVA))
	v, ok := o.View(testBase+peTextRVA, 4)
	require.True(t, ok)
	assert.Equal(t, uint32(72), binary.LittleEndian.Uint32(v))
}

func TestOverlayFlat(t *testing.T) {
	file := buildPE()
	o := image.NewOverlay(memory(file, testBase, 1))
	require.NoError(t, o.Add(&target.Module{Base: testBase, Size: peFileSize}, peFile(t)))
	got := make([]byte, peFileSize)
	_, err := o.ReadMemory(got, testBase)
	require.NoError(t, err)
	assert.Equal(t, []byte(file), got, "a flat image is the file, relocated nowhere")
}

func TestOverlayELF(t *testing.T) {
	file := buildELF(true, 0)
	im, err := image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	o := image.NewOverlay(memory(file[:0x2000], testBase, 0))
	require.NoError(t, o.Add(&target.Module{Base: testBase}, im))
	b, err := target.Bytes(o, testBase, 0x1000)
	require.NoError(t, err)
	assert.Equal(t, []byte(file[:0x1000]), b)
	_, err = target.Uint8(o, testBase+0x2000)
	assert.ErrorIs(t, err, target.ErrNotInDump, "bss")
	n, err := o.ReadMemory(make([]byte, 0x3000), testBase)
	assert.Equal(t, 0x2000, n, "file, then dump")
	var me *target.MemoryError
	require.ErrorAs(t, err, &me)
	assert.Equal(t, target.Addr(testBase+0x2000), me.Addr)
}

// shrunk is the memory of a shrunk dump, with the sums of pages that it left to module files.
type shrunk struct {
	*memmap.Map

	sums map[target.Addr]uint64
}

func (shrunk) LeftOut() bool { return true }

func (s shrunk) PageSum(a target.Addr) (sum uint64, ok bool) {
	sum, ok = s.sums[a]
	return sum, ok
}

// TestOverlayChanged checks that a file does not supply a page that the process had changed.
func TestOverlayChanged(t *testing.T) {
	file := slices.Concat(buildPE(), make(blob, 1<<14)) // larger than its sections
	sum := leftout.Sum(file[0x1000:0x2000])
	for _, c := range []struct {
		sum uint64
		has bool
	}{{sum, true}, {sum + 1, false}, {0, false}} {
		o := image.NewOverlay(shrunk{memory(file, testBase, 1, 2), map[target.Addr]uint64{testBase + 0x1000: c.sum}})
		flat, err := image.NewBytes(file, image.Flat)
		require.NoError(t, err)
		require.NoError(t, o.Add(&target.Module{Base: testBase, Size: peFileSize}, flat))
		for a := target.Addr(testBase + 0xff0); a < testBase+0x3010; a += 8 {
			_, err := target.Uint64(o, a)
			if in := a >= testBase+0x1000 && a < testBase+0x2000; in && !c.has {
				require.ErrorIs(t, err, target.ErrNotInDump, "%v", a)
			} else {
				require.NoError(t, err, "%v", a)
			}
		}
	}
}

// TestInFile checks that the headers in memory give the ranges that an overlay takes from the file.
func TestInFile(t *testing.T) {
	file := buildELF(true, 0)
	ranges, err := image.InFile(memory(file[:0x2000], testBase), &target.Module{Base: testBase, Listed: true})
	require.NoError(t, err)
	assert.Equal(t, []target.Range{{Start: testBase, End: testBase + 0x1000}}, ranges, "what is not writable")

	m := &target.Module{Base: testBase, Size: peImageSize, TimeDateStamp: peStamp, SizeOfImage: peImageSize, Listed: true}
	mem := memory(relocated(), testBase)
	ranges, err = image.InFile(mem, m)
	require.NoError(t, err)
	o := image.NewOverlay(memory(relocated(), testBase, 0, 1, 2, 3, 4))
	require.NoError(t, o.Add(m, peFile(t)))
	require.NotEmpty(t, ranges)
	written := []target.Range{target.RangeAt(testBase+0x98+24, 8), target.RangeAt(testBase+peTextRVA+0x970, 8)} // the file's headers show them
	for _, r := range ranges {
		for a := r.Start; a < r.End; a++ {
			want, err := target.Uint8(mem, a)
			require.NoError(t, err)
			got, err := target.Uint8(o, a)
			if !written[0].Contains(a) && !written[1].Contains(a) {
				require.NoError(t, err)
				require.Equal(t, want, got, "%v", a)
			}
		}
	}

	ranges, err = image.InFile(memory(buildPE(), testBase), &target.Module{Base: testBase, Size: peFileSize})
	require.NoError(t, err)
	assert.Len(t, ranges, 1)
	assert.LessOrEqual(t, ranges[0].Size(), uint64(peFileSize))

	_, err = image.InFile(memory(buildPE(), testBase, 0), m)
	require.Error(t, err, "nothing shows the sections")
}

// TestOverlayRefuses: a file of another module adds nothing.
func TestOverlayRefuses(t *testing.T) {
	file := peFile(t)
	o := image.NewOverlay(memory(relocated(), testBase))
	err := o.Add(&target.Module{Base: testBase, TimeDateStamp: 1, SizeOfImage: peImageSize}, file)
	assert.ErrorIs(t, err, target.ErrCorrupt, "time stamp")

	other := relocated()
	for i := range other[peTextRVA : peTextRVA+0x1000] {
		other[peTextRVA+i] ^= 0x55
	}
	o = image.NewOverlay(memory(other, testBase, 0, 4))
	err = o.Add(&target.Module{Base: testBase, Mappings: []target.Mapping{{Start: testBase + peTextRVA, End: testBase + 0x3000, Offset: peTextOff}}}, file)
	assert.ErrorIs(t, err, target.ErrCorrupt, "bytes")
	_, err = target.Uint8(o, testBase)
	assert.ErrorIs(t, err, target.ErrNotInDump)

	loaded, err := image.OpenMemory(memory(relocated(), testBase), &target.Module{Base: testBase})
	require.NoError(t, err)
	assert.ErrorIs(t, o.Add(&target.Module{Base: testBase}, loaded), target.ErrUnsupported, "not a file")

	changed := buildELF(true, 0)
	changed[elfNote+16] ^= 1
	im, err := image.NewBytes(changed, image.Flat)
	require.NoError(t, err)
	err = image.NewOverlay(elfMemory(buildELF(true, 0), testBase)).Add(&target.Module{Base: testBase}, im)
	assert.ErrorIs(t, err, target.ErrCorrupt, "build id")
}

// TestOverlayChangedPage: the one page that the runtime changes in its own constants is no difference, also if the dump has only the headers
// beside it, as a kernel's core has. The headers have to be equal.
func TestOverlayChangedPage(t *testing.T) {
	const second = 64 + 56 // the program header of the second page
	file := buildELF(true, 0)
	file.u32(second+4, 4) // read only
	im, err := image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	running := func(at int) error {
		b := slices.Clone(file)
		b[at] ^= 0x55
		return image.NewOverlay(elfMemory(b, testBase)).Add(&target.Module{Base: testBase}, im)
	}
	require.NoError(t, running(0x1ff8))
	require.ErrorIs(t, running(0xff8), target.ErrCorrupt, "headers")
}

// withRegions is the memory of a dump that records regions.
type withRegions struct {
	*memmap.Map

	regions []target.Region
}

func (w withRegions) Regions() iter.Seq[target.Region] { return slices.Values(w.regions) }

// TestOverlayReprotected checks an image with two changed pages, as libcoreclr.so of .NET Core 3.1 is in a kernel's core. They are no difference
// if the process gave them a protection of their own.
func TestOverlayReprotected(t *testing.T) {
	const second, code, data = 64 + 56, target.ProtRead | target.ProtExec, target.ProtRead
	file := slices.Concat(buildELF(true, 0), make(blob, 0x2000))
	file.u32(second+4, 5)
	file.u64(second+32, 0x3000, 0x3000) // three pages behind the headers
	im, err := image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	changed := slices.Clone(file[:0x4000])
	changed[0x1ff8] ^= 0x55
	changed[0x2ff8] ^= 0x55
	page := func(n target.Addr, prot target.Protection, kind target.RegionKind) target.Region {
		return target.Region{Start: testBase + n<<12, Size: 0x1000, Stored: 0x1000, Prot: prot, Kind: kind}
	}
	for _, c := range []struct {
		name    string
		headers bool // are in the dump
		pages   []target.Region
		refused bool
	}{
		{"both", true, []target.Region{page(1, code|target.ProtWrite, target.RegionImage), page(2, data, target.RegionImage)}, false},
		{"one", true, []target.Region{page(1, code|target.ProtWrite, target.RegionImage), page(2, code, target.RegionImage)}, false}, // see TestOverlayChangedPage
		{"neither", true, []target.Region{page(1, code, target.RegionImage), page(2, code, target.RegionImage)}, true},
		{"not of the image", true, []target.Region{page(1, data, target.RegionPrivate), page(2, data, target.RegionUnknown)}, true},
		{"not recorded", true, nil, true},
		{"nothing else is equal", false, []target.Region{page(1, data, target.RegionImage), page(2, data, target.RegionImage)}, true},
	} {
		missing := []int{3}
		if !c.headers {
			missing = append(missing, 0)
		}
		o := image.NewOverlay(withRegions{memory(changed, testBase, missing...), c.pages})
		err := o.Add(&target.Module{Base: testBase}, im)
		if c.refused {
			require.ErrorIs(t, err, target.ErrCorrupt, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		b, err := target.Uint8(o, testBase+0x1ff8)
		require.NoError(t, err)
		assert.Equal(t, changed[0x1ff8], b, "the dump's byte")
		_, err = target.Uint8(o, testBase+0x3000)
		require.NoError(t, err, "the file's")
	}
	foreign := slices.Clone(changed)
	foreign[0xff8] ^= 0x55
	o := image.NewOverlay(withRegions{memory(foreign, testBase, 3), []target.Region{page(1, data, target.RegionImage), page(2, data, target.RegionImage)}})
	require.ErrorIs(t, o.Add(&target.Module{Base: testBase}, im), target.ErrCorrupt, "other headers")
}

// importing returns a PE file with cells that the runtime fills at the RVA cells, in a read-only section.
func importing(cells uint32) blob {
	b := buildPE()
	t := b[peTextOff:]
	t.u32(peR2R+12, 3)
	t.u32(peR2R+16+24, 101, peTextRVA+0x1d0, 20)
	t.u32(0x1d0, cells, 0x40)
	return b
}

// TestOverlayImportCells: cells that the runtime fills are no difference, and the file does not supply them. A changed
// method body is a difference, also on one page of many.
func TestOverlayImportCells(t *testing.T) {
	const cells, body = peTextRVA + 0xb00, peTextRVA + 0xc08
	file := importing(cells)
	im, err := image.NewBytes(file, image.Flat)
	require.NoError(t, err)
	m := &target.Module{Base: testBase, Size: peImageSize, TimeDateStamp: peStamp, SizeOfImage: peImageSize}
	running := func() blob {
		b := loadPE(file)
		b.u64(peTextRVA+pePointer, testBase+peDataRVA)
		b.u64(0x98+24, testBase)
		b.u64(peTextRVA+peIAT, 0xdddddddddddddddd)
		b.u64(peTextRVA+0x970, 0xcccccccccccccccc)
		for i := range 8 {
			b.u64(cells+8*i, 0x7f0000001000+uint64(i))
		}
		return b
	}
	require.NoError(t, image.NewOverlay(memory(running(), testBase, 0)).Add(m, im), "filled cells")

	o := image.NewOverlay(memory(running(), testBase, 2))
	require.NoError(t, o.Add(m, im))
	_, err = target.Uint64(o, testBase+cells+8)
	require.ErrorIs(t, err, target.ErrNotInDump, "what the process had in a cell")
	_, err = target.Uint64(o, testBase+body)
	require.NoError(t, err)

	changed := running()
	changed[body] ^= 1
	err = image.NewOverlay(memory(changed, testBase)).Add(m, im)
	require.ErrorIs(t, err, target.ErrCorrupt)
	assert.ErrorContains(t, err, "the first at 00007f0000002c08 (0x1008 in the file)")

	debugged := running()
	debugged[body] = 0xcc
	require.NoError(t, image.NewOverlay(memory(debugged, testBase)).Add(m, im), "a debugger's breakpoint")
	debugged[body+1] ^= 1
	require.ErrorIs(t, image.NewOverlay(memory(debugged, testBase)).Add(m, im), target.ErrCorrupt, "a breakpoint before a changed byte")
}
