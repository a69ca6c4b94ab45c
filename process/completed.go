package process

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// A completedMemory is the memory of a process, completed by module files. It searches for a module's
// file when a byte in the module is missing for the first time. It is safe for concurrent use.
type completedMemory struct {
	base    target.Target
	overlay *image.Overlay
	find    func(*target.Module) (*image.Image, error)
	listed  completions
	more    func() []target.Module // sorted by Base; may be nil
	late    sync.Once
	others  completions // the modules that more returned
}

// completions are modules and the states of their completion.
type completions struct {
	modules []target.Module // sorted by Base
	done    []completion    // by index of modules
}

func completionsOf(modules []target.Module) completions {
	return completions{modules, make([]completion, len(modules))}
}

// A completion is done once, or again if its search for the file was stopped.
type completion struct {
	mu      sync.Mutex
	done    atomic.Bool
	refused error // of the file that was found
}

// complete returns the memory of t, completed by the files that find returns. A file that
// contradicts the dump is ignored; see image.Overlay. find is called at most once for each module,
// possibly by several goroutines for different modules. If its error is a context's, it is called
// again when a byte is missing next.
//
// more, if not nil, lists further images, in bundles. It is called once, when a byte outside all
// modules of t is missing.
func complete(t target.Target, find func(*target.Module) (*image.Image, error), more func() []target.Module) *completedMemory {
	if find == nil {
		find = func(*target.Module) (*image.Image, error) { return nil, os.ErrNotExist }
	}
	return &completedMemory{base: t, overlay: image.NewOverlay(t), find: find, listed: completionsOf(t.Modules()), more: more}
}

// addFileAt adds the file of the module at a, and reports whether the overlay may have the byte
// now.
func (m *completedMemory) addFileAt(a target.Addr) bool {
	of, c := m.moduleAt(a)
	if of == nil {
		return false
	}
	if !c.done.Load() {
		m.complete(c, of)
	}
	return true
}

func (m *completedMemory) moduleAt(a target.Addr) (*target.Module, *completion) {
	in := &m.listed
	i := target.ModuleIndex(in.modules, a)
	if i < 0 && m.more != nil {
		m.late.Do(func() { m.others = completionsOf(m.more()) })
		in = &m.others
		i = target.ModuleIndex(in.modules, a)
	}
	if i < 0 {
		return nil, nil
	}
	return &in.modules[i], &in.done[i]
}

// fileAt returns the module that contains a, also an assembly in a bundle, and the reason why the file that was
// found for it does not complete the memory. It is nil for an address outside all modules.
func (m *completedMemory) fileAt(a target.Addr) (of *target.Module, refused error) {
	of, c := m.moduleAt(a)
	if of == nil {
		return nil, nil
	}
	m.addFileAt(a)
	c.mu.Lock()
	defer c.mu.Unlock()
	clone := *of
	return &clone, c.refused
}

func (m *completedMemory) complete(c *completion, of *target.Module) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done.Load() {
		return
	}
	img, err := m.find(of)
	if err == nil {
		c.refused = m.overlay.Add(of, img) // on failure the bytes stay missing
	}
	c.done.Store(!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded))
}

// ReadMemory implements target.Memory.
func (m *completedMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n, err := m.base.ReadMemory(p, a)
	if !m.completes(err) {
		return n, err
	}
	return m.overlay.ReadMemory(p, a)
}

// Search reads memory that is only searched; see target.Searching.
func (m *completedMemory) Search(p []byte, a target.Addr) (int, error) {
	n, err := target.Searching(m.base).ReadMemory(p, a)
	if !m.completes(err) {
		return n, err
	}
	return m.overlay.Search(p, a)
}

// completes reports whether a file was found that may have the memory that err says is missing.
func (m *completedMemory) completes(err error) bool {
	var missing *target.MemoryError
	return err != nil && errors.As(err, &missing) && errors.Is(err, target.ErrNotInDump) && m.addFileAt(missing.Addr)
}

// View implements target.Memory.
func (m *completedMemory) View(a target.Addr, n int) ([]byte, bool) {
	if m.base == nil {
		return nil, false
	}
	if b, ok := m.base.View(a, n); ok || !m.addFileAt(a) {
		return b, ok
	}
	return m.overlay.View(a, n)
}

// Span implements target.Memory.
func (m *completedMemory) Span(a target.Addr) []byte {
	if m.base == nil {
		return nil
	}
	if b := m.base.Span(a); b != nil || !m.addFileAt(a) {
		return b
	}
	return m.overlay.Span(a)
}

// Holds reports whether the dump or files have all n bytes at a; see target.Available.
func (m *completedMemory) Holds(a target.Addr, n int) bool {
	if m.base == nil {
		return false
	}
	if target.Available(m.base, a, n) {
		return true
	}
	last := a + target.Addr(max(n, 1)-1)
	if here, _ := m.moduleAt(a); here == nil {
		if there, _ := m.moduleAt(last); there == nil {
			return false // no file has a part of it
		}
	}
	_, err := target.Bytes(m, a, n)
	return err == nil
}

// NextStored implements target.SparseMemory for the bytes in the dump.
func (m *completedMemory) NextStored(a target.Addr) (target.Addr, bool) {
	return target.NextStored(m.base, a)
}

// Source returns the source of the byte at a; see image.Overlay.Source.
func (m *completedMemory) Source(a target.Addr) string {
	if m.base == nil {
		return ""
	}
	if m.base.Span(a) == nil {
		m.addFileAt(a)
	}
	return m.overlay.Source(a)
}
