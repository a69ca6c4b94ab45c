package modfiles

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// The process of these tests runs a single-file app: the program at appBase, one assembly of its bundle flat at
// flatBase, and one laid out, with its headers at laidBase and a section after them.
const (
	appBase  = 0x10000
	flatBase = 0x40000
	laidBase = 0x80000
	appPlace = 0x180
	appPath  = "/srv/app"
)

// assembly returns a PE image with a page of headers.
func assembly(stamp byte, size uint32, pages int) []byte {
	b := synth.PEImage(size, 0x200)
	b[0x88] = stamp
	b[0x98], b[0x99] = 0x0b, 0x02 // PE32+
	b[0x94] = 112                 // size of the optional header
	return append(b, make([]byte, (pages-1)*4096)...)
}

func appProgram() []byte {
	b := library(1)
	copy(b[appPlace:], synth.BundlePlace())
	return b
}

func appBundle() *synth.Bundle {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestSpeed)
	_, _ = w.Write(assembly(3, 0x2000, 2))
	_ = w.Close()
	return &synth.Bundle{Major: 6, Align: 4096, Files: []synth.BundleFile{
		{Path: "Flat.dll", Data: assembly(1, 0x3000, 3), Kind: 1},
		{Path: "Laid.dll", Data: assembly(2, 0x9000, 3), Kind: 1},
		{Path: "Packed.dll", Data: packed.Bytes(), Size: 0x2000, Kind: 1},
	}}
}

// appFiles returns the files of a core of that process, with the app's file. structure judges assemblies.
func appFiles(t *testing.T, app []byte, offsets []uint64, place []byte, structure func(*target.Module, *image.Image) (string, error)) *Files {
	return filesOf(t, app, place, structure,
		synth.ELFFile{Start: appBase, End: appBase + 0x1000, Path: appPath},
		synth.ELFFile{Start: flatBase, End: flatBase + 0x3000, Offset: offsets[0], Path: appPath},
		synth.ELFFile{Start: laidBase, End: laidBase + 0x1000, Offset: offsets[1], Path: appPath},
		synth.ELFFile{Start: laidBase + 0x4000, End: laidBase + 0x5000, Offset: offsets[1] + 0x1000, Path: appPath},
		synth.ELFFile{Start: laidBase + 0x10000, End: laidBase + 0x11000, Offset: offsets[1] + 0x1000, Path: appPath})
}

// filesOf returns the files of a core with these mappings of the app's file.
func filesOf(t *testing.T, app []byte, place []byte, structure func(*target.Module, *image.Image) (string, error), files ...synth.ELFFile) *Files {
	memory := bytes.Clone(app[:0x200])
	copy(memory[appPlace:], place)
	core := &synth.ELFCore{
		Notes:    []synth.ELFNote{synth.ELFProcess(42, "app", appPath), synth.ELFFiles(4096, files...)},
		Segments: []synth.ELFSegment{{Addr: appBase, Data: memory, Flags: 4}},
	}
	f, err := elfcore.Open(target.BytesSource(core.Bytes()))
	require.NoError(t, err)
	path := write(t, filepath.Join(t.TempDir(), "app"), app)
	return &Files{Finder: &Finder{Policy: Policy{Structure: structure}, Dirs: []string{path}}, Memory: f, Process: f}
}

var errNothing = errors.New("nothing to compare")

func comparesNothing(*target.Module, *image.Image) (string, error) { return "", errNothing }

// TestBundled finds the assemblies of a bundle by the recorded mappings of the app's file.
func TestBundled(t *testing.T) {
	app, _, offsets := appBundle().Append(appProgram(), appPlace)
	f := appFiles(t, app, offsets, app[appPlace:appPlace+8], comparesNothing)
	list := f.Bundled()
	require.Len(t, list, 2, "the last mapping has no start")
	assert.Equal(t, target.Module{Base: flatBase, Size: 0x3000, Path: "/srv/Flat.dll",
		Mappings: []target.Mapping{{Start: flatBase, End: flatBase + 0x3000}},
		Bundle:   &target.InBundle{Program: appPath, Offset: offsets[0]}}, list[0])
	assert.Equal(t, target.Addr(laidBase), list[1].Base)
	assert.EqualValues(t, 0x9000, list[1].Size, "as far as the image goes")
	require.Len(t, list[1].Mappings, 2)
	assert.Equal(t, target.Mapping{Start: laidBase + 0x4000, End: laidBase + 0x5000, Offset: 0x1000}, list[1].Mappings[1])

	// In a core without file names only headers are known at first. The failed search must not prove anything
	// later.
	_, err := f.Found(&target.Module{Base: flatBase, Size: 0x3000})
	require.EqualError(t, err, "nothing names its file")
	img, err := f.Found(&list[0])
	require.NoError(t, err)
	assert.EqualValues(t, 0x3000, img.SizeOfImage())
	assert.Equal(t, Proof("the place of the bundle and of the assembly in it"), f.Look(t.Context(), &list[0]).Proof)
	_, err = Alone{f}.Found(&list[0])
	assert.Error(t, err, "the runtime is asked before a file of a bundle is believed")
	assert.NoError(t, f.Close())
}

// shortHeaders returns an assembly with its first section in the first page.
func shortHeaders() []byte {
	dll := assembly(1, 0x14000, 3)
	section := func(i int, rva, size, offset uint32) {
		copy(dll[0x108+40*i:], synth.Fields(uint64(0x747865742e), size, rva, size, offset))
	}
	dll[0x86] = 2
	section(0, 0x10200, 0x1e00, 0x200)
	section(1, 0x13000, 0x1000, 0x2000)
	return dll
}

// TestBundledShortHeaders checks an image with its first section in the file's first page, which is mapped
// twice. It is one assembly.
func TestBundledShortHeaders(t *testing.T) {
	dll := shortHeaders()
	app, _, at := (&synth.Bundle{Major: 6, Align: 4096, Files: []synth.BundleFile{
		{Path: "Short.dll", Data: dll, Kind: 1},
		{Path: "Flat.dll", Data: assembly(2, 0x1000, 1), Kind: 1},
	}}).Append(appProgram(), appPlace)
	place := func(start, n, offset uint64) synth.ELFFile {
		return synth.ELFFile{Start: start, End: start + n, Offset: offset, Path: appPath}
	}
	f := filesOf(t, app, app[appPlace:appPlace+8], comparesNothing, place(appBase, 0x1000, 0),
		place(laidBase, 0x1000, at[0]), place(laidBase+0x10000, 0x2000, at[0]), place(laidBase+0x13000, 0x1000, at[0]+0x2000),
		place(0x100000, 0x3000, at[0]), place(0x110000, 0x1000, at[1]))
	list := f.Bundled()
	require.Len(t, list, 3)
	assert.Equal(t, target.Module{Base: laidBase, Size: 0x14000, Path: "/srv/Short.dll", Bundle: list[0].Bundle, Mappings: []target.Mapping{
		{Start: laidBase, End: laidBase + 0x1000},
		{Start: laidBase + 0x10000, End: laidBase + 0x12000},
		{Start: laidBase + 0x13000, End: laidBase + 0x14000, Offset: 0x2000}}}, list[0])
	assert.Equal(t, target.Addr(0x100000), list[1].Base, "the same file once more, flat")
	assert.EqualValues(t, 0x3000, list[1].Size)
	assert.Equal(t, "/srv/Flat.dll", list[2].Path)
	assert.NoError(t, f.Close())
}

// TestBundledShortHeadersUnaligned is TestBundledShortHeaders for a file that begins within a page, as .NET 8 has its core
// library: the first page of the section begins with the end of the file before.
func TestBundledShortHeadersUnaligned(t *testing.T) {
	dll := shortHeaders()
	app, _, at := (&synth.Bundle{Major: 6, Align: 64, Files: []synth.BundleFile{
		{Path: "Before.dll", Data: assembly(2, 0x1100, 1), Kind: 1},
		{Path: "Short.dll", Data: dll, Kind: 1},
	}}).Append(append(appProgram(), make([]byte, 4096)...), appPlace)
	lead := at[1] % 4096
	require.NotZero(t, lead)
	place := func(start, n, offset uint64) synth.ELFFile {
		return synth.ELFFile{Start: start, End: start + n, Offset: offset, Path: appPath}
	}
	f := filesOf(t, app, app[appPlace:appPlace+8], comparesNothing, place(appBase, 0x1000, 0),
		place(laidBase, 0x1000, at[1]-lead), place(laidBase+0x10000, 0x3000, at[1]-lead), place(laidBase+0x13000, 0x2000, at[1]-lead+0x2000))
	list := f.Bundled()
	require.Len(t, list, 1)
	base := target.Addr(laidBase + lead)
	assert.Equal(t, target.Module{Base: base, Size: 0x14000, Path: "/srv/Short.dll", Bundle: list[0].Bundle, Mappings: []target.Mapping{
		{Start: base, End: laidBase + 0x1000},
		{Start: base + 0x10000, End: laidBase + 0x13000},
		{Start: laidBase + 0x13000, End: laidBase + 0x15000, Offset: 0x2000 - lead}}}, list[0])
	assert.NoError(t, f.Close())
}

// TestBundledUnaligned checks bundles of x64 programs, which are not aligned to pages. The first page of a
// mapping may have the end of another file, or small files; the mapped size decides. An ambiguous mapping is no
// file.
func TestBundledUnaligned(t *testing.T) {
	app, _, at := (&synth.Bundle{Major: 6, Align: 64, Files: []synth.BundleFile{
		{Path: "Head.dll", Data: assembly(1, 0x3000, 3), Kind: 1},
		{Path: "Small.dll", Data: assembly(2, 0x300, 1)[:0x300], Kind: 1},
		{Path: "Behind.dll", Data: assembly(3, 0x2000, 2), Kind: 1},
		{Path: "Twin.dll", Data: assembly(4, 0x200, 1)[:0x200], Kind: 1},
		{Path: "Other.dll", Data: assembly(5, 0x200, 1)[:0x200], Kind: 1},
	}}).Append(append(appProgram(), make([]byte, 4096)...), appPlace)
	floor := func(i int) uint64 { return at[i] &^ 4095 }
	end := func(i int, size uint64) uint64 { return (at[i]+size+4095)&^4095 - floor(i) }
	require.NotZero(t, at[0]%4096)
	require.Equal(t, floor(1), floor(2), "two files begin in one page")
	require.Equal(t, floor(3), floor(4))
	bases := []uint64{0x40000, 0x50000, 0x60000, 0x70000}
	sizes := []uint64{0x3000, 0x300, 0x2000, 0x200}
	files := []synth.ELFFile{{Start: appBase, End: appBase + 0x1000, Path: appPath}}
	for i, base := range bases {
		files = append(files, synth.ELFFile{Start: base, End: base + end(i, sizes[i]), Offset: floor(i), Path: appPath})
	}
	f := filesOf(t, app, app[appPlace:appPlace+8], comparesNothing, files...)
	var got []target.Module
	for _, m := range f.Bundled() {
		assert.Equal(t, m.Base+target.Addr(m.Size), m.Mappings[0].End, m.Path)
		m.Mappings, m.Bundle = nil, nil
		got = append(got, m)
	}
	var want []target.Module
	for i, name := range []string{"/srv/Head.dll", "/srv/Small.dll", "/srv/Behind.dll"} {
		want = append(want, target.Module{Base: target.Addr(bases[i] + at[i] - floor(i)), Size: sizes[i], Path: name})
	}
	assert.Equal(t, want, got)
	assert.NoError(t, f.Close())
}

// TestBundledAdjacent checks files of a bundle that are mapped one after another as one mapping.
func TestBundledAdjacent(t *testing.T) {
	app, _, at := appBundle().Append(appProgram(), appPlace)
	f := filesOf(t, app, app[appPlace:appPlace+8], comparesNothing, synth.ELFFile{Start: appBase, End: appBase + 0x1000, Path: appPath},
		synth.ELFFile{Start: flatBase, End: flatBase + 0x6000, Offset: at[0], Path: appPath})
	list := f.Bundled()
	require.Len(t, list, 2)
	assert.Equal(t, target.Addr(flatBase), list[0].Base)
	assert.EqualValues(t, 0x3000, list[0].Size)
	assert.Equal(t, target.Addr(flatBase+0x3000), list[1].Base)
	assert.Equal(t, "/srv/Laid.dll", list[1].Path)
	assert.NoError(t, f.Close())
}

// TestBundleProof checks that a contradicted file of a bundle is refused, and a file if the process has its
// bundle elsewhere: all apps with this version of the runtime share the program's build id.
func TestBundleProof(t *testing.T) {
	app, _, offsets := appBundle().Append(appProgram(), appPlace)
	place := app[appPlace : appPlace+8]
	fits := func(*target.Module, *image.Image) (string, error) { return "4 of 4 types fit", nil }
	differs := func(*target.Module, *image.Image) (string, error) {
		return "", fmt.Errorf("a type: %w", image.ErrMismatch)
	}
	for name, c := range map[string]struct {
		place     []byte
		structure func(*target.Module, *image.Image) (string, error)
		offset    uint64
		want      error
		proof     Proof
	}{
		"the runtime's types fit":    {place, fits, offsets[1], nil, "structure: 4 of 4 types fit"},
		"the runtime's types differ": {place, differs, offsets[1], image.ErrMismatch, ""},
		"another bundle":             {[]byte{1, 2, 3, 4, 5, 6, 7, 8}, fits, offsets[1], image.ErrMismatch, ""},
		"no file there":              {place, fits, offsets[1] + 4096, image.ErrMismatch, ""},
		"a compressed file":          {place, fits, offsets[2], nil, "structure: 4 of 4 types fit"},
	} {
		t.Run(name, func(t *testing.T) {
			f := appFiles(t, app, offsets, c.place, c.structure)
			m := &target.Module{Base: 0x200000, Size: 0x2000, Bundle: &target.InBundle{Offset: c.offset}}
			r := f.Look(t.Context(), m)
			require.ErrorIs(t, r.Err, c.want)
			assert.Equal(t, c.proof, r.Proof)
			assert.NoError(t, f.Close())
		})
	}
}

// TestPartlyMapped checks a core that lists only the first pages of an assembly in a bundle. The runtime's
// types prove it.
func TestPartlyMapped(t *testing.T) {
	dll := assembly(1, 0x14000, 5)
	dll[0x86] = 1
	copy(dll[0x108:], synth.Fields(uint64(0x747865742e), uint32(0x1000), uint32(0x2000), uint32(0x1000), uint32(0x200)))
	app, _, offsets := (&synth.Bundle{Major: 6, Align: 4096, Files: []synth.BundleFile{{Path: "Part.dll", Data: dll, Kind: 1}}}).Append(appProgram(), appPlace)
	fits := func(*target.Module, *image.Image) (string, error) { return "4 of 4 types fit", nil }
	f := filesOf(t, app, app[appPlace:appPlace+8], fits, synth.ELFFile{Start: appBase, End: appBase + 0x1000, Path: appPath})
	m := &target.Module{Base: flatBase, Size: 0x1b40, Mappings: []target.Mapping{{Start: flatBase, End: flatBase + 0x1b40}},
		Bundle: &target.InBundle{Offset: offsets[0]}}
	r := f.Look(t.Context(), m)
	require.NoError(t, r.Err)
	assert.Equal(t, Proof("structure: 4 of 4 types fit"), r.Proof)
	assert.NoError(t, f.Close())
}

// TestNoBundle checks that programs without a bundle, or with an invalid one, have no assemblies and return the
// reason.
func TestNoBundle(t *testing.T) {
	app, manifest, offsets := appBundle().Append(appProgram(), appPlace)
	cut := app[:manifest+20]
	plain := append(library(1), app[0x200:]...)
	for name, c := range map[string]struct {
		app  []byte
		want error
	}{"cut": {cut, target.ErrCorrupt}, "no place": {plain, target.ErrUnsupported}} {
		t.Run(name, func(t *testing.T) {
			f := appFiles(t, c.app, offsets, app[appPlace:appPlace+8], comparesNothing)
			assert.Empty(t, f.Bundled())
			r := f.Look(t.Context(), &target.Module{Base: flatBase, Bundle: &target.InBundle{Program: appPath, Offset: offsets[0]}})
			assert.ErrorIs(t, r.Err, c.want)
			assert.NoError(t, f.Close())
		})
	}
}

// TestBundledOnWindows checks a single-file app on Windows. The program is a PE image with the manifest's
// offset in its data, proved by time stamp and size. The runtime records which file an assembly is.
func TestBundledOnWindows(t *testing.T) {
	const base, place = 0x7ff700000000, 0x1040
	program := assembly(7, 0x3000, 2)
	program[0x84], program[0x85] = 0x64, 0xaa // ARM64
	program[0x86] = 1
	copy(program[0x108:], synth.Fields([]byte(".data\x00\x00\x00"), uint32(0x1000), uint32(0x1000), uint32(0x1000), uint32(0x1000),
		make([]byte, 12), uint32(0xc0000040)))
	copy(program[place:], synth.BundlePlace())
	app, _, offsets := appBundle().Append(program, place)
	path := write(t, filepath.Join(t.TempDir(), "app.exe"), app)
	for name, tc := range map[string]struct {
		word  []byte
		proof Proof
	}{
		"the manifest's place is the file's": {app[place : place+8], "the place of the bundle and of the assembly in it"},
		"another one":                        {synth.Fields(uint64(0x4242)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := synth.NewMinidump()
			m.SystemInfo(synth.MinidumpARM64)
			m.Modules(synth.MinidumpModule{Base: base, Size: 0x3000, Time: uint32(program[0x88]) | 0x5e00, Path: `C:\srv\app.exe`})
			m.Memory(synth.MinidumpRange{Addr: base, Data: app[:0x400]}, synth.MinidumpRange{Addr: base + place, Data: tc.word})
			d, err := minidump.Open(target.BytesSource(m.Bytes()))
			require.NoError(t, err)
			f := &Files{Finder: &Finder{Policy: Policy{Structure: comparesNothing}, Dirs: []string{path}}, Memory: d, Process: d}
			r := f.Look(t.Context(), &target.Module{Base: flatBase, Size: 0x3000, Path: "Flat.dll",
				Bundle: &target.InBundle{Program: `C:\srv\app.exe`, Offset: offsets[0]}})
			assert.Equal(t, tc.proof, r.Proof)
			assert.Equal(t, tc.proof == "", r.Err != nil, "%v", r.Err)
			require.NoError(t, f.Close())
		})
	}
}

// TestExtracted checks that a library extracted by a program is read from the bundle, and judged like any file.
func TestExtracted(t *testing.T) {
	lib := library(9)
	b := &synth.Bundle{Major: 6, Align: 16, Files: []synth.BundleFile{{Path: "sub/libnative.so", Data: lib, Kind: 2}, {Path: "libother.so", Data: library(8), Kind: 2}}}
	app, _, _ := b.Append(appProgram(), appPlace)
	const libBase = 0x90000
	core := &synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFProcess(42, "app", appPath), synth.ELFFiles(4096, synth.ELFFile{Start: appBase, End: appBase + 0x1000, Path: appPath},
			synth.ELFFile{Start: libBase, End: libBase + 0x1000, Path: "/tmp/base/app/ABCD/sub/libnative.so"})},
		Segments: []synth.ELFSegment{{Addr: appBase, Data: app[:0x200], Flags: 4}, {Addr: libBase, Data: lib, Flags: 4}},
	}
	d, err := elfcore.Open(target.BytesSource(core.Bytes()))
	require.NoError(t, err)
	path := write(t, filepath.Join(t.TempDir(), "app"), app)
	for name, found := range map[string]bool{
		"/tmp/base/app/ABCD/sub/libnative.so": true,
		"/tmp/base/app/ABCE/sub/libnative.so": false, // another bundle
		"/tmp/base/app/ABCD/libnative.so":     false,
		"/tmp/base/app/ABCD/libother.so":      false, // another build
	} {
		f := &Files{Finder: &Finder{Dirs: []string{path}}, Memory: d, Process: d}
		img, err := f.Found(&target.Module{Base: libBase, Size: 0x1000, Path: name})
		if assert.Equal(t, found, err == nil, "%s: %v", name, err); err == nil {
			id, err := img.BuildID()
			require.NoError(t, err)
			assert.Equal(t, []byte{9, 2, 3, 4}, id)
		}
		require.NoError(t, f.Close())
	}
}

// TestStrayOfLibrary checks a library with more mappings than its image, as in damaged dumps. It is examined
// like a program with a bundle, while its file is searched in the program's bundle; this must not deadlock.
func TestStrayOfLibrary(t *testing.T) {
	b := &synth.Bundle{Major: 6, Align: 16, Files: []synth.BundleFile{{Path: "libother.so", Data: library(8), Kind: 2}}}
	app, _, _ := b.Append(appProgram(), appPlace)
	const libBase, libPath = 0x90000, "/tmp/base/app/ABCD/libnative.so"
	core := &synth.ELFCore{
		Notes: []synth.ELFNote{synth.ELFProcess(42, "app", appPath), synth.ELFFiles(4096, synth.ELFFile{Start: appBase, End: appBase + 0x1000, Path: appPath},
			synth.ELFFile{Start: libBase, End: libBase + 0x1000, Path: libPath})},
		Segments: []synth.ELFSegment{{Addr: appBase, Data: app[:0x200], Flags: 4}, {Addr: libBase, Data: library(9), Flags: 4}},
	}
	d, err := elfcore.Open(target.BytesSource(core.Bytes()))
	require.NoError(t, err)
	f := &Files{Finder: &Finder{Dirs: []string{write(t, filepath.Join(t.TempDir(), "app"), app)}}, Memory: d, Process: d}
	require.Error(t, f.appOf(t.Context(), &target.Module{Base: libBase, Size: 0x1000, Path: libPath}).err)
	require.NoError(t, f.Close())
}

// TestBundledChangedBody checks a file of the app with one changed method body in an assembly of its bundle: it has the same build id, place,
// headers and names, and the page that the dump has of the method differs.
func TestBundledChangedBody(t *testing.T) {
	const body = 0x1100 // in the file; its section is at 0x10200 in the image
	dll := assembly(1, 0x14000, 3)
	dll[0x86], dll[0x94], dll[0x98+108] = 1, 240, 16
	copy(dll[0x98+112+8*14:], synth.Fields(uint32(0x10200), uint32(72)))
	copy(dll[0x98+240:], synth.Fields(uint64(0x747865742e), uint32(0x1e00), uint32(0x10200), uint32(0x1e00), uint32(0x200)))
	dll[0x98+240+36+3] = 0x60                                                                              // code
	copy(dll[0x200:], synth.Fields(uint32(72), uint32(0x50002), uint32(0x10300), uint32(0x40), uint32(1))) // the CLR header: IL alone
	copy(dll[body:], "the IL of a method")
	changed := bytes.Clone(dll)
	changed[body+4] ^= 1
	for name, c := range map[string]struct {
		file []byte
		want error
	}{"the file of the process": {dll, nil}, "another": {changed, target.ErrCorrupt}} {
		t.Run(name, func(t *testing.T) {
			bundle := &synth.Bundle{Major: 6, Align: 4096, Files: []synth.BundleFile{{Path: "Short.dll", Data: c.file, Kind: 1}}}
			app, _, at := bundle.Append(appProgram(), appPlace)
			mapped := func(start, n, offset uint64) synth.ELFFile {
				return synth.ELFFile{Start: start, End: start + n, Offset: offset, Path: appPath}
			}
			core := &synth.ELFCore{
				Notes: []synth.ELFNote{synth.ELFProcess(42, "app", appPath), synth.ELFFiles(4096, mapped(appBase, 0x1000, 0),
					mapped(laidBase, 0x1000, at[0]), mapped(laidBase+0x10000, 0x2000, at[0]))},
				Segments: []synth.ELFSegment{{Addr: appBase, Data: app[:0x200], Flags: 4}, {Addr: laidBase, Data: dll[:0x1000], Flags: 4},
					{Addr: laidBase + 0x10000, Data: dll[:0x2000], Flags: 5}},
			}
			process, err := elfcore.Open(target.BytesSource(core.Bytes()))
			require.NoError(t, err)
			path := write(t, filepath.Join(t.TempDir(), "app"), app)
			f := &Files{Finder: &Finder{Policy: Policy{Structure: comparesNothing}, Dirs: []string{path}}, Memory: process, Process: process}
			list := f.Bundled()
			require.Len(t, list, 1)
			img, err := f.Found(&list[0])
			require.NoError(t, err)
			err = image.NewOverlay(process).Add(&list[0], img)
			require.ErrorIs(t, err, c.want)
			if c.want != nil {
				assert.ErrorContains(t, err, "the first at 0000000000091104 (0x1104 in the file)")
			}
			assert.NoError(t, f.Close())
		})
	}
}
