package sosgo

import (
	"errors"
	"sync"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/modfiles"
	"github.com/sosgo/sosgo/internal/symstore"
	"github.com/sosgo/sosgo/target"
)

// moduleFiles finds module files on this machine and keeps them open.
type moduleFiles struct {
	finder *modfiles.Finder
	packed []dump.PackedFile
	mem    target.Memory
	wrap   func(*target.Module, target.Memory) target.Memory // Options.WrapFile

	mu    sync.Mutex
	files map[target.Addr]*foundFile
}

type foundFile struct {
	once sync.Once
	img  *image.Image
	read *image.Image // img, or img through Options.WrapFile
	err  error
}

func newModuleFiles(f *dump.File, o Options) *moduleFiles {
	return &moduleFiles{
		finder: &modfiles.Finder{Dirs: o.Modules, Recorded: !o.NoLocalFiles, More: moduleSources(o)},
		packed: f.PackedFiles(),
		mem:    f,
		wrap:   o.WrapFile,
		files:  map[target.Addr]*foundFile{},
	}
}

// moduleSources are the places beyond the folders that the user names.
func moduleSources(o Options) []modfiles.Source {
	var out []modfiles.Source
	if !o.NoLocalFiles {
		out = append(out, modfiles.Installed{})
		for _, c := range symstore.DefaultCaches() {
			out = append(out, c)
		}
	}
	cache := symstore.Cache{Dir: o.SymbolCache}
	if cache.Dir == "" {
		cache = symstore.DownloadCache()
	}
	for _, url := range o.SymbolServers {
		out = append(out, &symstore.Server{URL: url, Cache: cache})
	}
	return out
}

// File implements dac.ModuleFiles.
func (f *moduleFiles) File(m *target.Module, _ *image.Image) (*image.Image, error) {
	found := f.find(m)
	return found.read, found.err
}

func (f *moduleFiles) find(m *target.Module) *foundFile {
	f.mu.Lock()
	found := f.files[m.Base]
	if found == nil {
		found = &foundFile{}
		f.files[m.Base] = found
	}
	f.mu.Unlock()
	found.once.Do(func() {
		id := image.IdentityOf(f.mem, m)
		if found.img = f.fromPack(m, &id); found.img == nil {
			found.img, _, found.err = f.finder.Find(m, id)
		}
		found.read = found.img
		if f.wrap != nil && found.img != nil {
			found.read = found.img.Through(func(rvas target.Memory) target.Memory { return f.wrap(m, rvas) })
		}
	})
	return found
}

// fromPack opens the file of m in the pack that the dump came in, nil if there
// is none that is proved to be the one.
func (f *moduleFiles) fromPack(m *target.Module, id *image.Identity) *image.Image {
	for i := range f.packed {
		p := &f.packed[i]
		if p.Path != m.Path || !id.Known() {
			continue
		}
		img, err := image.OpenSource(p.Path, p.Source())
		if err == nil && id.Check(img) == nil {
			return img
		}
	}
	return nil
}

func (f *moduleFiles) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, found := range f.files {
		if found.img != nil {
			found.img.Close()
		}
	}
}

// memory is the dump's memory, completed by module files. The file of a module
// is looked for when the first byte is missed in it, and not before.
type memory struct {
	base    target.Target
	overlay *image.Overlay
	files   *moduleFiles
	modules []target.Module // sorted by Base
	added   []sync.Once     // beside modules
}

func newMemory(t target.Target, files *moduleFiles) *memory {
	mods := t.Modules()
	return &memory{base: t, overlay: image.NewOverlay(t), files: files, modules: mods, added: make([]sync.Once, len(mods))}
}

// miss makes the file of the module at a available; it reports whether the
// overlay may have the byte now.
func (m *memory) miss(a target.Addr) bool {
	i := target.ModuleIndex(m.modules, a)
	if i < 0 {
		return false
	}
	m.added[i].Do(func() {
		if found := m.files.find(&m.modules[i]); found.err == nil {
			// A file that contradicts the dump is left out: the bytes stay absent.
			_ = m.overlay.Add(&m.modules[i], found.img)
		}
	})
	return true
}

// ReadMemory implements target.Memory.
func (m *memory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := m.base.ReadMemory(p, a)
	var missing *target.MemoryError
	if err == nil || !errors.As(err, &missing) || !errors.Is(err, target.ErrNotInDump) || !m.miss(missing.Addr) {
		return n, err
	}
	return m.overlay.ReadMemory(p, a)
}

// View implements target.Memory.
func (m *memory) View(a target.Addr, n int) ([]byte, bool) {
	if b, ok := m.base.View(a, n); ok || !m.miss(a) {
		return b, ok
	}
	return m.overlay.View(a, n)
}

// Span implements target.Memory.
func (m *memory) Span(a target.Addr) []byte {
	if b := m.base.Span(a); b != nil || !m.miss(a) {
		return b
	}
	return m.overlay.Span(a)
}

// NextStored implements target.SparseMemory for the dump's own bytes.
func (m *memory) NextStored(a target.Addr) (target.Addr, bool) { return target.NextStored(m.base, a) }

func (m *memory) source(a target.Addr) string {
	if m.base.Span(a) == nil {
		m.miss(a)
	}
	return m.overlay.Source(a)
}
