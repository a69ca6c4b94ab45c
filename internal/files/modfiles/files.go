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
	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/target"
)

// A Files finds the module files of one dump, in a pack and with a Finder, and keeps them open. It is safe for
// concurrent use.
type Files struct {
	// Finder finds files that are not packed. Its Policy also judges the packed files.
	Finder *Finder
	Packed []PackedFile  // files that came with the dump
	Memory target.Memory // the dump's memory; it identifies the modules
	// Process, if not nil, lists the mappings of the process. Without it, files are not searched in bundles.
	Process target.Target
	// Wrap, if not nil, wraps the bytes of a file. They are addressed like the loaded image, from 0.
	Wrap    func(*target.Module, target.Memory) target.Memory
	Context func() context.Context // if not nil, returns a context for searches

	mu     sync.Mutex
	files  map[fileKey]*moduleFile
	opened []io.Closer // files that were found on this machine
	closed bool
	lost   error // of a file in opened

	appsMu      sync.Mutex
	apps        map[fileKey]*appEntry
	bundledMu   sync.Mutex
	bundledDone bool
	bundled     []target.Module
	unpacked    atomic.Int64 // bytes of files in bundles
}

// A fileKey identifies a search. An image found by its headers alone is searched again once the runtime
// identifies it.
type fileKey struct {
	base    target.Addr
	path    string
	bundled bool
}

func keyOf(m *target.Module) fileKey { return fileKey{m.Base, m.Path, m.Bundle != nil} }

// A moduleFile holds the results of two searches: alone uses only the dump's memory, all also the runtime's
// structures. Reading those requires the runtime's own file, so that alone comes first.
type moduleFile struct{ alone, all search }

// A search runs once, unless its context ends it.
type search struct {
	mu   sync.Mutex
	done bool
	Result
	read *image.Image // Image, or Image wrapped by Wrap
}

// A Result is the result of a search for a module's file.
type Result struct {
	Image *image.Image // nil if Err is set
	Proof Proof        // why Image is the file
	Tried []Candidate  // tried files, in order
	Err   error        // why no file was found
}

// A PackedFile is a file that came with a dump.
type PackedFile struct {
	Path   string // path of the module in the process; a PDB is beside it
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

// Alone finds only files that the dump's memory proves. It implements dac.ModuleFiles for opening the runtime.
type Alone struct{ Files *Files }

// File implements dac.ModuleFiles.
func (a Alone) File(m *target.Module, _ *image.Image) (*image.Image, error) { return a.Found(m) }

// Found returns the same as File.
func (a Alone) Found(m *target.Module) (*image.Image, error) {
	r := a.Files.findAlone(a.Files.context(), m)
	return r.Image, r.Err
}

// DebugFile finds the file with the symbols of m, a stripped ELF image: X.dbg or X.debug for X, in the folders
// of module files, with the build id of X in the dump. It is an optional part of dac.ModuleFiles.
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
			err = f.own(found)
		}
		if err == nil {
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

// findAlone searches for a file that the dump's memory proves.
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

// find searches for the file of m. It also returns the image wrapped by Wrap.
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

// look searches the file of m in its bundle, in the dump's pack, and then on this machine.
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
	if err == nil {
		if err = f.own(img); err != nil {
			return Result{Tried: tried, Err: err}
		}
	} else if ctx.Err() == nil {
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

// own makes Close close a file that was found. If Close has run, own closes the file and fails.
func (f *Files) own(file io.Closer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errors.Join(target.Closedf("the dump is closed"), file.Close())
	}
	f.opened = append(f.opened, file)
	return nil
}

// Lost returns an error if a file that was found could no longer be read as it was then. After Close it returns what it did before.
func (f *Files) Lost() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, file := range f.opened {
		f.lost = cmp.Or(f.lost, machine.Lost(file))
	}
	return f.lost
}

// Close closes all files that were found. Files that a running search finds later are closed by the search.
func (f *Files) Close() error {
	_ = f.Lost() // which keeps it
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	var errs []error
	for _, file := range f.opened {
		errs = append(errs, file.Close())
	}
	f.opened = nil
	return errors.Join(errs...)
}

// A pdbStore finds portable PDBs by their ids: a symbol cache or server. It returns os.ErrNotExist for a
// missing PDB.
type pdbStore interface {
	PortablePDB(ctx context.Context, path string, guid [16]byte) (file string, err error)
}

// PDB implements dac.PDBFiles. It searches the dump's pack, beside the module's file and the user's folders
// first, then symbol caches and servers.
func (f *Files) PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error) {
	return f.FindPDB(f.context(), m, id, check)
}

// FindPDB is PDB with a context.
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
	if err := f.own(file); err != nil {
		return nil, "", err
	}
	return file.Data, file.Path, nil
}
