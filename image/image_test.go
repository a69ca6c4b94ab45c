package image_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

const testBase = 0x7f0000000000

// peViews returns the synthetic PE image opened in all ways.
func peViews(t *testing.T) map[string]*image.Image {
	file := buildPE()
	path := filepath.Join(t.TempDir(), "synth.dll")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	views := map[string]*image.Image{}
	var err error
	views["file"], err = image.OpenFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, views["file"].Close()) })
	views["bytes"], err = image.NewBytes(loadPE(file), image.Loaded)
	require.NoError(t, err)
	views["loaded"], err = image.OpenMemory(memory(loadPE(file), testBase), &target.Module{Base: testBase})
	require.NoError(t, err)
	views["flat"], err = image.OpenMemory(memory(file, testBase), &target.Module{Base: testBase, Size: peFileSize})
	require.NoError(t, err)
	return views
}

func TestPE(t *testing.T) {
	for name, im := range peViews(t) {
		t.Run(name, func(t *testing.T) {
			want := image.Flat
			if name == "loaded" || name == "bytes" {
				want = image.Loaded
			}
			assert.Equal(t, want, im.Layout())
			assert.Equal(t, image.KindPE, im.Kind())
			assert.Equal(t, target.ArchAMD64, im.Arch())
			assert.Equal(t, []uint32{peStamp, peImageSize}, []uint32{im.TimeDateStamp(), im.SizeOfImage()})
			require.Len(t, im.Sections(), 2)
			assert.Equal(t, image.Section{Name: ".data", RVA: peDataRVA, Size: 0x400, Offset: peDataOff, FileSize: 0x200,
				Prot: target.ProtRead | target.ProtWrite}, im.Sections()[1])
			assert.Equal(t, image.Directory{RVA: peTextRVA + 0xa00, Size: 24}, im.ExceptionDirectory())
			checkPEExports(t, im)
			checkPEIdentity(t, im)
			checkPEResources(t, im)
			checkCLR(t, im)
		})
	}
}

// TestLayoutUnknown: if the dump holds only the headers of an image, its layout is unknown, unless
// a loader listed the image.
func TestLayoutUnknown(t *testing.T) {
	for name, im := range peViews(t) {
		assert.True(t, im.LayoutKnown(), name)
	}
	headers := memory(buildPE()[:0x400], testBase)
	for listed, want := range map[bool]bool{false: false, true: true} {
		im, err := image.OpenMemory(headers, &target.Module{Base: testBase, Listed: listed})
		require.NoError(t, err)
		assert.Equal(t, image.Loaded, im.Layout())
		assert.Equal(t, want, im.LayoutKnown(), "listed: %v", listed)
	}
}

// TestSmallFileMapped: the mapping of an image's headers may hold all of a small file. The image is
// not flat if the loader copied its sections to their RVAs; the bytes there decide.
func TestSmallFileMapped(t *testing.T) {
	file := buildPE()
	all := []target.Mapping{{Start: testBase, End: testBase + 0x10000}}
	for want, bytes := range map[image.Layout][]byte{image.Loaded: loadPE(file), image.Flat: file} {
		im, err := image.OpenMemory(memory(bytes, testBase), &target.Module{Base: testBase, Mappings: all})
		require.NoError(t, err)
		assert.Equal(t, want, im.Layout())
		assert.True(t, im.LayoutKnown())
		_, err = im.CLRHeader()
		assert.NoError(t, err)
	}
}

func checkPEExports(t *testing.T, im *image.Image) {
	rva, size, err := im.Symbol("Alpha")
	require.NoError(t, err)
	assert.Equal(t, image.RVA(peDataRVA), rva)
	assert.Zero(t, size)
	b, err := im.BytesRVA(rva, 8)
	require.NoError(t, err)
	assert.Equal(t, byte(0x88), b[0])
	_, _, err = im.Symbol("Gamma")
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, _, err = im.Symbol("Delta")
	assert.ErrorIs(t, err, image.ErrNoSymbol)
	var got []image.Export
	for e, err := range im.Exports() {
		require.NoError(t, err)
		got = append(got, e)
	}
	assert.Equal(t, []image.Export{{Name: "Alpha", RVA: peDataRVA}, {Name: "Beta", RVA: peTextRVA},
		{Name: "Gamma", Forward: "other.Gamma"}}, got)
}

func checkPEIdentity(t *testing.T, im *image.Image) {
	list, err := im.CodeViews()
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "synth.ni.pdb", list[0].Path)
	assert.False(t, list[0].Portable)
	pdb, err := im.PDB()
	require.NoError(t, err)
	assert.Equal(t, "/src/synth.pdb", pdb.Path)
	assert.Equal(t, byte(0x10), pdb.GUID[0])
	assert.Equal(t, uint32(1), pdb.Age)
	_, err = im.BuildID()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	v, err := im.VersionString()
	require.NoError(t, err)
	assert.Equal(t, "10.0.1426.52326 @Commit: abc", v)
}

func checkPEResources(t *testing.T, im *image.Image) {
	b, err := im.Resource(image.ResourceRCData, "table")
	require.NoError(t, err)
	assert.Equal(t, []byte{120, 0, 0, 0, 68, 0, 0, 0}, b)
	_, err = im.Resource(image.ResourceRCData, "other")
	assert.ErrorIs(t, err, target.ErrUnsupported)
	v, err := im.VersionInfo()
	require.NoError(t, err)
	assert.Equal(t, [4]uint16{10, 0, 1426, 52326}, v.File)
	assert.Equal(t, [4]uint16{10, 1, 2, 3}, v.Product)
}

func checkCLR(t *testing.T, im *image.Image) {
	h, err := im.CLRHeader()
	require.NoError(t, err)
	assert.Equal(t, uint32(0x06000001), h.EntryPoint)
	md, err := im.Metadata()
	require.NoError(t, err)
	assert.Equal(t, "BSJB", string(md.Data[:4]))
	assert.Len(t, md.Data, 0xf0)
	assert.Empty(t, md.Gaps)
	id, err := im.MVID()
	require.NoError(t, err)
	assert.Equal(t, byte(0xa0), id[0])
	r2r, err := im.ReadyToRun()
	require.NoError(t, err)
	assert.Equal(t, []uint16{9, 2}, []uint16{r2r.Major, r2r.Minor})
	d, ok := r2r.Section(102)
	assert.True(t, ok)
	assert.Equal(t, image.Directory{RVA: peTextRVA + 0x20, Size: 24}, d)
}

func TestELF(t *testing.T) {
	for _, gnu := range []bool{true, false} {
		for _, relocated := range []bool{true, false} {
			t.Run(fmt.Sprintf("gnu=%v/relocated=%v", gnu, relocated), func(t *testing.T) {
				var add uint64
				if relocated {
					add = testBase - elfVaddr // glibc adds it
				}
				im, err := image.OpenMemory(elfMemory(buildELF(gnu, add), testBase), &target.Module{Base: testBase})
				require.NoError(t, err)
				assert.Equal(t, image.Loaded, im.Layout())
				checkELF(t, im)
				_, _, err = im.Symbol("gamma")
				assert.ErrorIs(t, err, image.ErrNoSymbol)
			})
		}
		file, err := image.NewBytes(buildELF(gnu, 0), image.Flat)
		require.NoError(t, err)
		checkELF(t, file)
		rva, size, err := file.Symbol("gamma")
		require.NoError(t, err)
		assert.Equal(t, image.RVA(0x50), rva)
		assert.Equal(t, uint64(3), size)
		_, err = file.BytesRVA(0x3100, 8)
		assert.ErrorIs(t, err, target.ErrNotInDump, "bss has no bytes in the file")
	}
}

func checkELF(t *testing.T, im *image.Image) {
	assert.Equal(t, image.KindELF, im.Kind())
	assert.Equal(t, target.ArchAMD64, im.Arch())
	assert.Equal(t, uint64(0x4000), im.Size())
	id, err := im.BuildID()
	require.NoError(t, err)
	assert.Len(t, id, 20)
	assert.Equal(t, byte(20), id[19])
	assert.Equal(t, image.Directory{RVA: 0x280, Size: 0x20}, im.EHFrameHeader())
	for name, want := range map[string]image.Export{"alpha": {RVA: 0x3100, Size: 0x408}, "beta": {RVA: 0x40, Size: 0x409}} {
		rva, size, err := im.Symbol(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, image.Export{RVA: rva, Size: size})
	}
	_, _, err = im.Symbol("outside")
	assert.ErrorIs(t, err, image.ErrNoSymbol)
	var names []string
	for e, err := range im.Exports() {
		require.NoError(t, err)
		names = append(names, e.Name)
	}
	assert.Equal(t, []string{"alpha", "beta"}, names)
	v, err := im.VersionString()
	require.NoError(t, err)
	assert.Equal(t, "10.0.1.2 @Commit: abc", v)
	_, err = im.Metadata()
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// TestMissing: missing data and wrong data are different errors.
func TestMissing(t *testing.T) {
	loaded := loadPE(buildPE())
	m := &target.Module{Base: testBase}

	_, err := image.OpenMemory(memory(loaded, testBase, 0), m)
	assert.ErrorIs(t, err, target.ErrNotInDump, "no headers")

	im, err := image.OpenMemory(memory(loaded, testBase, 2), m)
	require.NoError(t, err)
	_, _, err = im.Symbol("Alpha")
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, err = im.Metadata()
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, err = im.BytesRVA(peImageSize-4, 8)
	assert.ErrorIs(t, err, target.ErrCorrupt, "past the end of the image")

	// Without headers, the module list and the export directory remain.
	m = &target.Module{Base: testBase, Path: `C:\app\Synth.DLL`, SizeOfImage: peImageSize, TimeDateStamp: peStamp}
	im, err = image.OpenMemory(memory(loaded, testBase, 0), m)
	require.NoError(t, err)
	assert.False(t, im.HasHeaders())
	assert.Equal(t, uint32(peStamp), im.TimeDateStamp())
	rva, _, err := im.Symbol("Alpha")
	require.NoError(t, err)
	assert.Equal(t, image.RVA(peDataRVA), rva)
	_, err = im.CLRHeader()
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

func TestReadSparse(t *testing.T) {
	b := make([]byte, 5*4096)
	for i := range b {
		b[i] = 0xee
	}
	mem := memory(b, testBase, 1, 2, 4)
	got, gaps, err := image.ReadSparse(mem, testBase+100, len(b)-100)
	require.NoError(t, err)
	assert.Equal(t, []image.Gap{{Off: 4096 - 100, Len: 8192}, {Off: 4*4096 - 100, Len: 4096}}, gaps)
	assert.Equal(t, byte(0xee), got[4095-100])
	assert.Zero(t, got[4096-100])
	_, _, err = image.ReadSparse(mem, testBase+4096, 10)
	assert.ErrorIs(t, err, target.ErrNotInDump)
	_, _, err = image.ReadSparse(mem, testBase, 1<<30)
	assert.ErrorIs(t, err, target.ErrNotInDump, "a size that lies allocates nothing")
}

// TestLies has a case for each number in a file that may be wrong.
func TestLies(t *testing.T) {
	const text = peTextOff
	pe := func(change func(b blob)) blob { b := buildPE(); change(b); return b }
	elf := func(gnu bool, change func(b blob)) blob { b := buildELF(gnu, 0); change(b); return b }
	tests := []struct {
		name string
		file blob
		use  func(im *image.Image) error // nil if opening fails
	}{
		{"empty", blob{}, nil},
		{"text", blob("just some text, no image"), nil},
		{"PE header far away", pe(func(b blob) { b.u32(0x3c, 1<<30) }), nil},
		{"no PE signature", pe(func(b blob) { b[0x80] = 'X' }), nil},
		{"optional header too small", pe(func(b blob) { b.u16(0x94, 20) }), nil},
		{"65535 sections", pe(func(b blob) { b.u16(0x86, 0xffff) }), nil},
		{"4 billion exports", pe(func(b blob) { b.u32(text+peExports+20, 1<<31, 1<<31) }), symbol("Alpha")},
		{"ordinal past the table", pe(func(b blob) { b.u16(text+peExports+64, 99) }), symbol("Alpha")},
		{"export outside the image", pe(func(b blob) { b.u32(text+peExports+40, 1<<30) }), symbol("Alpha")},
		{"CLR header too small", pe(func(b blob) { b.u32(text, 8) }), metadataOf},
		{"metadata of 4 GB", pe(func(b blob) { b.u32(text+12, 0xffffffff) }), metadataOf},
		{"metadata without signature", pe(func(b blob) { b[text+peMetadata] = 0 }), metadataOf},
		{"CodeView of 4 GB", pe(func(b blob) { b.u32(text+peDebug+16, 0xffffffff) }), codeViews},
		{"debug directory of 4 GB", pe(func(b blob) { b.u32(0x98+112+6*8+4, 0xffffffff) }), codeViews},
		{"resource cycle", pe(func(b blob) { b.u32(text+peRes+0x24+16, 1<<31) }), resource},
		{"resource outside", pe(func(b blob) { b.u32(text+peRes+0x64+16-4+4, 0x7fffffff) }), resource},
		{"resource of 4 GB", pe(func(b blob) { b.u32(text+peRes+0xa4, 0xffffffff) }), resource},
		{"a million R2R sections", pe(func(b blob) { b.u32(text+peR2R+12, 1<<20) }), r2r},
		{"no program headers", elf(true, func(b blob) { b.u16(56, 0) }), nil},
		{"program headers past the end", elf(true, func(b blob) { b.u64(32, 1<<40) }), nil},
		{"segment wraps around", elf(true, func(b blob) { b.u64(64+40, ^uint64(0)) }), nil},
		{"notes lie", elf(true, func(b blob) { b.u32(elfNote, 1<<31) }), buildID},
		{"build id of 4 GB", elf(true, func(b blob) { b.u32(elfNote+4, 0xfffffff0) }), buildID},
		{"no buckets", elf(true, func(b blob) { b.u32(elfHash, 0) }), symbol("alpha")},
		{"4 billion buckets", elf(true, func(b blob) { b.u32(elfHash, 0xffffffff) }), symbol("alpha")},
		{"hash table outside", elf(true, func(b blob) { b.u64(elfDynamic+8, 1<<40) }), symbol("alpha")},
		{"DT_HASH cycle", elf(false, func(b blob) { b.u32(elfHash+8+4+8, 2) }), symbol("none")},
		{"DT_HASH chain leaves", elf(false, func(b blob) { b.u32(elfHash+8, 77) }), symbol("none")},
		{"symbol outside", elf(true, func(b blob) { b.u64(elfSymtab+48+8, 5) }), symbol("alpha")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			im, err := image.NewBytes(tt.file, image.Flat)
			if tt.use != nil {
				require.NoError(t, err)
				err = tt.use(im)
			}
			require.Error(t, err)
			assert.ErrorIs(t, err, target.ErrCorrupt)
		})
	}
}

func symbol(name string) func(*image.Image) error {
	return func(im *image.Image) error { _, _, err := im.Symbol(name); return err }
}

func metadataOf(im *image.Image) error { _, err := im.Metadata(); return err }
func codeViews(im *image.Image) error  { _, err := im.CodeViews(); return err }
func buildID(im *image.Image) error    { _, err := im.BuildID(); return err }
func r2r(im *image.Image) error        { _, err := im.ReadyToRun(); return err }
func resource(im *image.Image) error {
	_, err := im.Resource(image.ResourceRCData, "TABLE")
	return err
}

// touch calls every method of an image.
func touch(im *image.Image) {
	for range im.Exports() {
	}
	for _, name := range []string{"Alpha", "alpha", "none"} {
		_, _, _ = im.Symbol(name)
	}
	_, _ = im.BuildID()
	_, _ = im.PDB()
	_, _ = im.MVID()
	_, _ = im.VersionString()
	_, _ = im.Resource(image.ResourceRCData, "TABLE")
	_, _ = im.ReadyToRun()
	var b [64]byte
	for _, s := range im.Sections() {
		_, _ = im.ReadRVA(b[:], s.RVA)
		_, _ = im.ViewRVA(s.RVA, 64)
		_, _ = im.Address(s.RVA)
	}
	o := image.NewOverlay(memory(nil, 0))
	if o.Add(&target.Module{Base: testBase}, im) == nil {
		for a := target.Addr(testBase); a < testBase+0x8000; a += 0x800 {
			_, _ = o.ReadMemory(b[:], a)
			_ = o.Span(a)
		}
	}
}

// TestTruncated cuts the images at every length.
func TestTruncated(t *testing.T) {
	for _, file := range []blob{buildPE(), buildELF(true, 0), buildELF(false, 0)} {
		for n := 0; n < len(file); n += 16 {
			if im, err := image.NewBytes(file[:n], image.Flat); err == nil {
				touch(im)
			}
			if im, err := image.OpenMemory(memory(file[:n], testBase), &target.Module{Base: testBase}); err == nil {
				touch(im)
			}
		}
	}
}

func FuzzPE(f *testing.F) {
	f.Add([]byte(buildPE()))
	f.Add([]byte(loadPE(buildPE())))
	f.Fuzz(fuzzImage)
}

func FuzzELF(f *testing.F) {
	f.Add([]byte(buildELF(true, 0)))
	f.Add([]byte(buildELF(false, testBase-elfVaddr)))
	f.Fuzz(fuzzImage)
}

func fuzzImage(t *testing.T, b []byte) {
	for _, l := range []image.Layout{image.Flat, image.Loaded} {
		if im, err := image.NewBytes(b, l); err == nil {
			touch(im)
		}
	}
	if im, err := image.OpenMemory(memory(b, testBase), &target.Module{Base: testBase, SizeOfImage: 0x5000}); err == nil {
		touch(im)
	}
}
