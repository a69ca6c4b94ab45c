package modfiles

import (
	"errors"
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Files are the module files of one dump: those of a pack, and those that a
// Finder finds. It keeps them open, and is safe for concurrent use.
type Files struct {
	// Finder finds what is not packed.
	Finder *Finder
	// Packed are the files that came with the dump.
	Packed []PackedFile
	// Memory is that of the dump, which identifies the modules.
	Memory target.Memory
	// Wrap, if not nil, returns what stands between the readers and a file's
	// bytes, which are addressed as the loaded image is, from 0.
	Wrap func(*target.Module, target.Memory) target.Memory

	mu    sync.Mutex
	files map[target.Addr]*foundFile
}

type foundFile struct {
	once sync.Once
	img  *image.Image
	read *image.Image // img, or img through Wrap
	err  error
}

// A PackedFile is a module file that came with a dump.
type PackedFile struct {
	Path   string // the path that the process had the module under
	Source target.Source
}

// File implements dac.ModuleFiles.
func (f *Files) File(m *target.Module, _ *image.Image) (*image.Image, error) {
	found := f.find(m)
	return found.read, found.err
}

// Found is the file of m as it lies on this machine, without Wrap.
func (f *Files) Found(m *target.Module) (*image.Image, error) {
	found := f.find(m)
	return found.img, found.err
}

func (f *Files) find(m *target.Module) *foundFile {
	f.mu.Lock()
	found := f.files[m.Base]
	if found == nil {
		if f.files == nil {
			f.files = map[target.Addr]*foundFile{}
		}
		found = &foundFile{}
		f.files[m.Base] = found
	}
	f.mu.Unlock()
	found.once.Do(func() {
		id := image.IdentityOf(f.Memory, m)
		if found.img = f.fromPack(m, &id); found.img == nil {
			found.img, _, found.err = f.Finder.Find(m, id)
		}
		found.read = found.img
		if f.Wrap != nil && found.img != nil {
			found.read = found.img.Through(func(rvas target.Memory) target.Memory { return f.Wrap(m, rvas) })
		}
	})
	return found
}

// fromPack opens the file of m in the pack that the dump came in, nil if there
// is none that is proved to be the one.
func (f *Files) fromPack(m *target.Module, id *image.Identity) *image.Image {
	for i := range f.Packed {
		p := &f.Packed[i]
		if p.Path != m.Path || !id.Known() {
			continue
		}
		img, err := image.OpenSource(p.Path, p.Source)
		if err == nil && id.Check(img) == nil {
			return img
		}
	}
	return nil
}

// Close closes all files that were found.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, found := range f.files {
		if found.img != nil {
			errs = append(errs, found.img.Close())
		}
	}
	return errors.Join(errs...)
}

// A pdbStore keeps portable PDBs by their ids: a symbol cache or server.
type pdbStore interface {
	PortablePDB(path string, guid [16]byte) (file string, ok bool)
}

// PDB implements dac.PDBFiles: beside the module's file and in the folders
// that the user names first, then in symbol caches and on the servers.
func (f *Files) PDB(m *target.Module, id target.PDBID, check func([]byte) error) ([]byte, string, error) {
	beside := ""
	if found := f.find(m); found.err == nil {
		beside = found.img.Path()
	}
	b, path, err := f.Finder.FindPDB(m, id, beside, check)
	if err == nil {
		return b, path, nil
	}
	for _, source := range f.Finder.More {
		store, ok := source.(pdbStore)
		if !ok {
			continue
		}
		file, ok := store.PortablePDB(id.Path, id.GUID)
		if !ok {
			continue
		}
		b, rerr := readPDB(file)
		if rerr == nil {
			rerr = check(b)
		}
		if rerr == nil {
			return b, file, nil
		}
		err = errors.Join(err, fmt.Errorf("%s: %w", file, rerr))
	}
	return nil, "", err
}
