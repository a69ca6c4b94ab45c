package modfiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Files are the module files of one dump: those of a pack, and those that a
// Finder finds. It keeps them open, and is safe for concurrent use.
type Files struct {
	// Finder finds what is not packed. Its Policy judges the packed files, too.
	Finder *Finder
	Packed []PackedFile  // the files that came with the dump
	Memory target.Memory // the dump's memory, which identifies the modules
	// Process, if not nil, lists what the process has mapped: without it the files of bundles are not looked for.
	Process target.Target
	// Wrap, if not nil, returns what stands between the readers and a file's bytes, which are addressed as the loaded image is, from 0.
	Wrap    func(*target.Module, target.Memory) target.Memory
	Context func() context.Context // if not nil, returns the context that ends a search

	mu    sync.Mutex
	files map[fileKey]*moduleFile
	pdbs  []io.Closer

	appsMu      sync.Mutex
	apps        map[fileKey]*appEntry
	bundledMu   sync.Mutex
	bundledDone bool
	bundled     []target.Module
	unpacked    atomic.Int64 // bytes of bundles' files
}

// A fileKey holds what a search goes by: an image that was found by its headers alone is looked for again once the runtime says what it is.
type fileKey struct {
	base    target.Addr
	path    string
	bundled bool
}

func keyOf(m *target.Module) fileKey { return fileKey{m.Base, m.Path, m.Bundle != nil} }

// A moduleFile holds the result of looking for a module's file: by what the dump holds of the module alone, and with
// the runtime's help, for which the runtime must be read, whose own file must have been found by then.
type moduleFile struct{ alone, all search }

// A search is done once, unless its context ends it.
type search struct {
	mu   sync.Mutex
	done bool
	Result
	read *image.Image // Image, or Image through Wrap
}

// A Result holds the result of looking for a module's file.
type Result struct {
	Image *image.Image // nil if Err is set
	Proof Proof        // that Image is the file
	Tried []Candidate  // what was looked at, in order
	Err   error        // why no file was found
}

// A PackedFile is a file that came with a dump.
type PackedFile struct {
	Path   string // the path that the process had the module under; of a PDB, beside that
	Source target.Source
}

// File implements dac.ModuleFiles.
func (f *Files) File(m *target.Module, _ *image.Image) (*image.Image, error) {
	r, read := f.find(f.context(), m)
	return read, r.Err
}

// Found returns the file of m as it is on this machine, without Wrap.
func (f *Files) Found(m *target.Module) (*image.Image, error) {
	r := f.Look(f.context(), m)
	return r.Image, r.Err
}

// Look searches for the file of m and returns the result.
func (f *Files) Look(ctx context.Context, m *target.Module) Result {
	r, _ := f.find(ctx, m)
	return r
}

// Alone finds only files that the dump proves without the runtime's help. It
// implements dac.ModuleFiles for the runtime that gives this help.
type Alone struct{ Files *Files }

// File implements dac.ModuleFiles.
func (a Alone) File(m *target.Module, _ *image.Image) (*image.Image, error) { return a.Found(m) }

// Found is File.
func (a Alone) Found(m *target.Module) (*image.Image, error) {
	r := a.Files.findAlone(a.Files.context(), m)
	return r.Image, r.Err
}

// DebugFile finds the file with the symbols of m, an ELF image that was stripped of them: X.dbg or X.debug for X, where
// module files are looked for, with the build id that the dump has of X. It is an optional part of dac.ModuleFiles.
func (f *Files) DebugFile(m *target.Module) (*image.Image, error) {
	id := image.IdentityOf(f.Memory, m)
	if !id.Known() {
		return nil, fmt.Errorf("%s: %w", m.Path, ErrUnproven)
	}
	judge := func(file *image.Image) (Proof, error) { return Proof(id.Kind()), id.Check(file) }
	var first error
	for _, end := range []string{".dbg", ".debug"} {
		found, _, _, err := f.Finder.Find(f.context(), &target.Module{Path: withoutDeleted(m.Path) + end}, &image.Identity{}, judge)
		if err == nil {
			f.mu.Lock()
			f.pdbs = append(f.pdbs, found)
			f.mu.Unlock()
			return found, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

func (f *Files) context() context.Context {
	if f.Context != nil {
		return f.Context()
	}
	return context.Background()
}

func (f *Files) entry(m *target.Module) *moduleFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := keyOf(m)
	e := f.files[key]
	if e == nil {
		if f.files == nil {
			f.files = map[fileKey]*moduleFile{}
		}
		e = &moduleFile{}
		f.files[key] = e
	}
	return e
}

// findAlone looks for a file that the dump's memory alone proves.
func (f *Files) findAlone(ctx context.Context, m *target.Module) Result {
	s := &f.entry(m).alone
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		policy := f.Finder.Policy
		policy.Structure = nil
		s.Result = f.look(ctx, m, &policy)
		s.done = ctx.Err() == nil || s.Err == nil
	}
	return s.Result
}

// find also returns the image through Wrap.
func (f *Files) find(ctx context.Context, m *target.Module) (Result, *image.Image) {
	s := &f.entry(m).all
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return s.Result, s.read
	}
	s.Result = f.findAlone(ctx, m)
	if s.Err != nil && f.Finder.Structure != nil && (m.Bundle != nil || errors.Is(s.Err, ErrUnproven)) {
		s.Result = f.look(ctx, m, &f.Finder.Policy)
	}
	s.read = s.Image
	if f.Wrap != nil && s.Image != nil {
		s.read = s.Image.Through(func(rvas target.Memory) target.Memory { return f.Wrap(m, rvas) })
	}
	s.done = ctx.Err() == nil || s.Err == nil
	return s.Result, s.read
}

// look looks for the file of m in its bundle, in the pack that the dump came in, and then on this machine.
func (f *Files) look(ctx context.Context, m *target.Module, p *Policy) Result {
	inBundle, refusedThere := f.lookInBundle(ctx, m, p)
	if inBundle.Image != nil {
		inBundle.Tried = []Candidate{*refusedThere}
		return inBundle
	}
	id := image.IdentityOf(f.Memory, m)
	judge := func(img *image.Image) (Proof, error) { return p.Judge(f.Memory, m, &id, img) }
	var refused []Candidate
	for i := range f.Packed {
		file := &f.Packed[i]
		if file.Path != m.Path {
			continue
		}
		img, err := image.OpenSource(file.Path, file.Source)
		if err == nil {
			var proof Proof
			if proof, err = judge(img); err == nil {
				return Result{Image: img, Proof: proof, Tried: append(refused, Candidate{file.Path, nil})}
			}
		}
		refused = append(refused, Candidate{file.Path, err})
	}
	img, proof, tried, err := f.Finder.Find(ctx, m, &id, judge)
	tried = append(refused, tried...)
	if err != nil && ctx.Err() == nil {
		img, proof, err = f.extracted(ctx, m, judge)
	}
	if refusedThere != nil {
		tried = append([]Candidate{*refusedThere}, tried...)
	}
	if err != nil && ctx.Err() == nil {
		err = notFound(m, tried)
	}
	return Result{img, proof, tried, err}
}

// Close closes all files that were found.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, found := range f.files {
		if found.alone.Image != nil {
			errs = append(errs, found.alone.Image.Close())
		}
		if img := found.all.Image; img != nil && img != found.alone.Image {
			errs = append(errs, img.Close())
		}
	}
	for _, pdb := range f.pdbs {
		errs = append(errs, pdb.Close())
	}
	return errors.Join(errs...)
}

// A pdbStore keeps portable PDBs by their ids: a symbol cache or server. The error is os.ErrNotExist if it has none.
type pdbStore interface {
	PortablePDB(ctx context.Context, path string, guid [16]byte) (file string, err error)
}

// PDB implements dac.PDBFiles: in the pack that the dump came in, beside the module's file and in the folders that the
// user names first, then in symbol caches and on the servers.
func (f *Files) PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error) {
	return f.FindPDB(f.context(), m, id, check)
}

// FindPDB is PDB with a context that ends the search.
func (f *Files) FindPDB(ctx context.Context, m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error) {
	var tried []Candidate
	for i := range f.Packed {
		file := &f.Packed[i]
		if lowerName(file.Path) != lowerName(pdbName(m.Path)) && lowerName(file.Path) != lowerName(id.Path) {
			continue
		}
		b, err := pdbContent(file.Source, id.GUID)
		if err == nil {
			err = check(b)
		}
		if err == nil {
			return b, file.Path, nil
		}
		tried = append(tried, Candidate{file.Path, err})
	}
	beside := ""
	if found := f.Look(ctx, m); found.Err == nil {
		beside = found.Image.Path()
	}
	file, err := f.Finder.FindPDB(ctx, m, id, beside, check)
	if e, ok := errors.AsType[*NotFoundError](err); ok {
		tried = append(tried, e.Tried...)
	}
	for _, source := range f.Finder.More {
		store, ok := source.(pdbStore)
		if !ok || file != nil || ctx.Err() != nil {
			continue
		}
		path, serr := store.PortablePDB(ctx, id.Path, id.GUID)
		if serr == nil {
			file, serr = f.Finder.openPDB(path, id.GUID, check)
		}
		if serr != nil {
			tried = append(tried, Candidate{path, serr})
		}
	}
	if file == nil {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		return nil, "", noPDB(m, tried)
	}
	f.mu.Lock()
	f.pdbs = append(f.pdbs, file)
	f.mu.Unlock()
	return file.Data, file.Path, nil
}
