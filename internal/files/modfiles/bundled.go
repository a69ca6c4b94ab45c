package modfiles

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/bundle"
	"github.com/sosgo/sosgo/target"
)

// A single-file app has its assemblies in a bundle after the program. The process maps them from the program's
// file, so that they are not modules with files of their own. The bundle's manifest locates each assembly.

// Smallest and largest page size of the dumped machines, in bytes. Files are mapped in pages.
const smallestPage, largestPage = 4096, 64 << 10

// pageOf returns the largest page size to which all mappings of a file are aligned: the machine's, or by chance
// a larger one, which works as well.
func pageOf(mappings []target.Mapping) uint64 {
	all := uint64(largestPage)
	for _, p := range mappings {
		all |= uint64(p.Start) | uint64(p.End) | p.Offset
	}
	return max(all&-all, smallestPage)
}

// An app is a single-file app with its file.
type app struct {
	image    *image.Image
	manifest *bundle.Manifest
	placed   bool  // the process has the manifest at the same place as the file
	err      error // why the app is unreadable
}

// appOf reads the bundle of the program m once. Only the memory of the dump proves the file of a program: the
// runtime's structures may come from the bundle.
func (f *Files) appOf(ctx context.Context, m *target.Module) *app {
	f.appsMu.Lock()
	key := keyOf(m)
	e := f.apps[key]
	if e == nil {
		if f.apps == nil {
			f.apps = map[fileKey]*appEntry{}
		}
		e = &appEntry{}
		f.apps[key] = e
	}
	f.appsMu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.app != nil {
		return e.app
	}
	a := f.readApp(ctx, m)
	if ctx.Err() == nil {
		e.app = a
	}
	return a
}

// An appEntry caches the bundle of one module. Each entry has its own lock: the search for a library's file may
// read the bundle of a program. A program's own file is never searched in a bundle.
type appEntry struct {
	mu  sync.Mutex
	app *app // nil before the search
}

func (f *Files) readApp(ctx context.Context, m *target.Module) *app {
	r := f.findAlone(ctx, m)
	if r.Err != nil {
		return &app{err: r.Err}
	}
	src := r.Image.File()
	if src == nil {
		return &app{err: target.Unsupportedf("%s is not read from a file", r.Image.Path())}
	}
	a := &app{image: r.Image}
	for _, s := range r.Image.Sections() {
		at, offset := findPlace(src, &s)
		if at < 0 {
			continue
		}
		if a.manifest, a.err = bundle.Read(src, offset); a.err == nil {
			word, err := target.Uint64(f.Memory, m.Base+target.Addr(s.RVA)+target.Addr(at))
			switch {
			case err == nil && int64(word) != offset:
				a.err = fmt.Errorf("%s: the process has its bundle at %#x, the file at %#x: %w", r.Image.Path(), word, offset, image.ErrMismatch)
			case err == nil:
				a.placed = true
			}
		}
		return a
	}
	a.err = target.Unsupportedf("%s has no bundle", r.Image.Path())
	return a
}

// findPlace searches a section of a program for the placeholder with the offset of the bundle's manifest. It
// returns the distance of the placeholder from the section's start, or -1, and the manifest's offset.
func findPlace(src target.Source, s *image.Section) (at int, manifest int64) {
	if s.Offset >= uint64(src.Size()) {
		return -1, 0
	}
	n := min(s.FileSize, uint64(src.Size())-s.Offset, limits.BundleProgram)
	b := src.Bytes(int64(s.Offset), int(n))
	if b == nil {
		b = make([]byte, n)
		if got, _ := src.ReadAt(b, int64(s.Offset)); uint64(got) < n {
			return -1, 0
		}
	}
	if at = bundle.Place(b); at < 0 {
		return -1, 0
	}
	return at, int64(binary.LittleEndian.Uint64(b[at:]))
}

// Bundled lists the assemblies that the process has mapped from the bundles of single-file apps, by address. It
// finds them if the dump records the mappings of a program's file, and the file is found.
func (f *Files) Bundled() []target.Module {
	if f.Process == nil {
		return nil
	}
	f.bundledMu.Lock()
	defer f.bundledMu.Unlock()
	if f.bundledDone {
		return f.bundled
	}
	ctx := f.context()
	strays := f.strays()
	f.bundled = nil
	for _, m := range f.Process.Modules() {
		if len(strays[m.Path]) == 0 {
			continue
		}
		if a := f.appOf(ctx, &m); a.err == nil {
			f.bundled = append(f.bundled, a.mapped(&m, strays[m.Path])...)
			delete(strays, m.Path)
		}
	}
	slices.SortStableFunc(f.bundled, func(x, y target.Module) int { return cmp.Compare(x.Base, y.Base) })
	f.bundledDone = ctx.Err() == nil
	return f.bundled
}

// strays returns the mappings of modules' files outside of all modules, by path and address. It joins adjacent
// mappings.
func (f *Files) strays() map[string][]target.Mapping {
	modules := f.Process.Modules()
	paths := map[string]bool{}
	for i := range modules {
		paths[modules[i].Path] = true
	}
	out := map[string][]target.Mapping{}
	for r := range f.Process.Regions() {
		if r.Offset == 0 || !paths[r.Path] || target.ModuleIndex(modules, r.Start) >= 0 {
			continue
		}
		list := out[r.Path]
		if n := len(list); n > 0 && list[n-1].End == r.Start && list[n-1].Offset+uint64(r.Start-list[n-1].Start) == r.Offset {
			list[n-1].End += target.Addr(r.Size)
			continue
		}
		out[r.Path] = append(list, target.Mapping{Start: r.Start, End: r.Start + target.Addr(r.Size), Offset: r.Offset})
	}
	return out
}

// mapped returns modules for the mappings of the program's file, which are sorted by address.
func (a *app) mapped(program *target.Module, mappings []target.Mapping) []target.Module {
	b := placing{app: a, program: program, page: pageOf(mappings)}
	for _, p := range mappings {
		for p.Start < p.End {
			n := b.place(p)
			p.Start += target.Addr(n)
			p.Offset += n
		}
	}
	return b.out
}

// A placing builds modules from mappings.
type placing struct {
	app     *app
	program *target.Module
	page    uint64
	out     []target.Module
	open    bool         // the last of out may continue: an image is mapped section by section
	image   *image.Image // of the last of out
	end     target.Addr  // of image, once it is laid out
}

// place finds the file at the start of the mapping p, and returns the number of bytes of p that belong to it.
func (b *placing) place(p target.Mapping) uint64 {
	length := uint64(p.End - p.Start)
	f := b.app.manifest.Starting(p.Offset, length, b.page)
	switch {
	case f == nil:
		b.extend(p)
		return length
	case b.hasSection(f, p):
		b.add(p) // the first page may begin with the end of another file
		return length
	}
	lead := uint64(f.Offset) - p.Offset // bytes before the file in its first page
	n := min(length, f.Extent(p.Offset, b.page))
	b.open = false
	if lead >= n || f.Packed > 0 {
		return n
	}
	img, err := b.app.open(f, 0)
	if err != nil || img.Kind() != image.KindPE {
		return n
	}
	start := p.Start + target.Addr(lead)
	end := start + target.Addr(min(n-lead, uint64(f.Size))) // the rest of the last page belongs to the next file
	b.out = append(b.out, target.Module{
		Base: start, Size: uint64(end - start), Path: path.Join(path.Dir(b.program.Path), f.Path),
		Mappings: []target.Mapping{{Start: start, End: end}},
		Bundle:   &target.InBundle{Program: b.program.Path, Offset: uint64(f.Offset)},
	})
	b.open, b.image, b.end = true, img, start+target.Addr(img.SizeOfImage())
	return n
}

// hasSection reports whether p is a section of the preceding image. A section in the file's first page, as
// after short headers, is mapped from the start of the file.
func (b *placing) hasSection(f *bundle.File, p target.Mapping) bool {
	if !b.open {
		return false
	}
	m := &b.out[len(b.out)-1]
	if uint64(f.Offset) != m.Bundle.Offset {
		return false
	}
	return slices.ContainsFunc(b.image.Sections(), func(s image.Section) bool {
		at, offset := m.Base+target.Addr(s.RVA), m.Bundle.Offset+s.Offset
		return s.FileSize > 0 && at >= p.Start && at < p.End && p.Offset+uint64(at-p.Start) == offset
	})
}

// extend adds the mapping to the preceding image, if it is a part of the same file.
func (b *placing) extend(p target.Mapping) {
	if !b.open {
		return
	}
	m := &b.out[len(b.out)-1]
	f := b.app.manifest.At(p.Offset)
	if f == nil || uint64(f.Offset) != m.Bundle.Offset || p.Start >= b.end {
		b.open = false
		return
	}
	b.add(p)
}

// add adds the mapping to the preceding image, from the start of its file on.
func (b *placing) add(p target.Mapping) {
	m := &b.out[len(b.out)-1]
	if p.Offset < m.Bundle.Offset {
		p.Start += target.Addr(m.Bundle.Offset - p.Offset)
		p.Offset = m.Bundle.Offset
	}
	m.Mappings = append(m.Mappings, target.Mapping{Start: p.Start, End: p.End, Offset: p.Offset - m.Bundle.Offset})
	m.Size = uint64(b.end - m.Base)
}

func (a *app) open(f *bundle.File, most int64) (*image.Image, error) {
	src, err := bundle.Open(a.image.File(), f, most)
	if err != nil {
		return nil, err
	}
	return image.OpenSource(a.image.Path()+":"+f.Path, src)
}

// lookInBundle searches the file of m in the bundle of the app that the dump records for it. The candidate is
// the tried file, or nil.
//
// The program's build id does not prove its bundle: programs for one version of the runtime differ only in the
// bundle. So the file must be proved like any other. If the dump has nothing to compare it with, it suffices
// that the process has the bundle's manifest, and the assembly, at the same places as the file.
func (f *Files) lookInBundle(ctx context.Context, m *target.Module, p *Policy) (Result, *Candidate) {
	if m.Bundle == nil || f.Process == nil || p.Structure == nil {
		return Result{}, nil
	}
	err := fmt.Errorf("%s: no program with a bundle: %w", m.Path, os.ErrNotExist)
	for _, program := range f.programs(m.Bundle) {
		a := f.appOf(ctx, &program)
		if a.err != nil {
			err = a.err
			continue
		}
		r := a.prove(f, m, p)
		return r, &Candidate{a.image.Path(), r.Err}
	}
	return Result{Err: err}, &Candidate{m.Bundle.Program, err}
}

// errNotExtracted is the error for a module with the path of no extracted file.
var errNotExtracted = fmt.Errorf("no file that a program of the process has in its bundle: %w", os.ErrNotExist)

// extracted searches for an extracted file m in the bundle of the program that wrote it. Programs write files
// that cannot be mapped from the bundle to FOLDER/PROGRAM/ID/PATH. FOLDER is DOTNET_BUNDLE_EXTRACT_BASE_DIR or
// a folder of the user, and ID identifies the bundle.
func (f *Files) extracted(ctx context.Context, m *target.Module, judge func(*image.Image) (Proof, error)) (*image.Image, Proof, error) {
	if f.Process == nil || m.Bundle != nil || !target.NamedLibrary(m.Path) {
		return nil, "", errNotExtracted
	}
	name := strings.ReplaceAll(m.Path, `\`, "/")
	for _, program := range f.programs(&target.InBundle{}) {
		a := f.appOf(ctx, &program)
		if a.err != nil || a.manifest.ID == "" {
			continue
		}
		for i := range a.manifest.Files {
			e := &a.manifest.Files[i]
			if !strings.HasSuffix(name, "/"+a.manifest.ID+"/"+e.Path) {
				continue
			}
			img, err := f.unpack(a, e)
			if err != nil {
				return nil, "", err
			}
			proof, err := judge(img)
			if err != nil {
				return nil, "", err
			}
			return img, proof, nil
		}
	}
	return nil, "", errNotExtracted
}

// programs returns the modules that may be the program with the bundle.
func (f *Files) programs(in *target.InBundle) []target.Module {
	var out []target.Module
	for _, m := range f.Process.Modules() {
		if m.Path == in.Program || in.Program == "" && !target.NamedLibrary(m.Path) {
			out = append(out, m)
		}
	}
	return out
}

// prove finds the file of m in the bundle and judges it.
func (a *app) prove(f *Files, m *target.Module, p *Policy) Result {
	i := slices.IndexFunc(a.manifest.Files, func(e bundle.File) bool { return uint64(e.Offset) == m.Bundle.Offset })
	if i < 0 {
		return Result{Err: fmt.Errorf("the bundle of %s has no file at %#x: %w", a.image.Path(), m.Bundle.Offset, image.ErrMismatch)}
	}
	img, err := f.unpack(a, &a.manifest.Files[i])
	if err != nil {
		return Result{Err: err}
	}
	id := image.IdentityOf(f.Memory, m)
	proof, err := p.Judge(f.Memory, m, &id, img)
	if errors.Is(err, ErrUnproven) && a.placed {
		proof, err = "the place of the bundle and of the assembly in it", nil
	}
	if err != nil {
		return Result{Err: err}
	}
	return Result{Image: img, Proof: proof}
}

// unpack opens a file of a bundle, within the limits on unpacked bytes.
func (f *Files) unpack(a *app, e *bundle.File) (*image.Image, error) {
	if e.Packed == 0 {
		return a.open(e, 0)
	}
	left := limits.BundleFiles - f.unpacked.Add(e.Size)
	if left < 0 {
		f.unpacked.Add(-e.Size)
		return nil, target.Unsupportedf("more than %d bytes of bundles would be unpacked", int64(limits.BundleFiles))
	}
	return a.open(e, limits.BundleFile)
}
