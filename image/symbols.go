package image

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// A Symbol names an address in native code.
type Symbol struct {
	Module target.Module
	Name   string // the export that contains the address, or empty
	Offset uint64 // from the export, or from the module if Name is empty
}

// String returns "libc.so.6!pthread_cond_wait+0x1b8", or "libc.so.6+0x7f1b8".
func (s Symbol) String() string {
	name := target.BaseName(s.Module.Path)
	if s.Name != "" {
		name += "!" + s.Name
	}
	return fmt.Sprintf("%s+%#x", name, s.Offset)
}

// Symbols names addresses by the modules that contain them and by their exports. It caches the
// exports of modules. It is safe for concurrent use.
type Symbols struct {
	mem     target.Memory
	modules []target.Module                           // by address
	exports []moduleExports                           // by index of modules
	others  []func(target.Addr) (string, target.Addr) // see AlsoNamed
}

// moduleExports are the exports of one module, by address.
type moduleExports struct {
	once sync.Once
	list []export
}

type export struct {
	addr target.Addr
	size uint64 // 0 if the image does not record it
	name string
}

// NewSymbols returns Symbols for modules, which are sorted by Base, with images in mem.
func NewSymbols(mem target.Memory, modules []target.Module) *Symbols {
	return &Symbols{mem: mem, modules: modules, exports: make([]moduleExports, len(modules))}
}

// AlsoNamed adds a function with better names than exports: it returns the name of the function at
// an address and its start, or "". Call AlsoNamed before the first use of the Symbols.
func (s *Symbols) AlsoNamed(name func(target.Addr) (string, target.Addr)) {
	s.others = append(s.others, name)
}

// At names the address a. It reports false if no module contains it.
func (s *Symbols) At(a target.Addr) (Symbol, bool) {
	i := target.ModuleIndex(s.modules, a)
	if i < 0 {
		return Symbol{}, false
	}
	m := &s.modules[i]
	for _, other := range s.others {
		if name, start := other(a); name != "" {
			return Symbol{Module: *m, Name: name, Offset: uint64(a - start)}, true
		}
	}
	x := &s.exports[i]
	x.once.Do(func() { x.list = readExports(s.mem, m) })
	if e := x.exportAt(a); e != nil {
		return Symbol{Module: *m, Name: e.name, Offset: uint64(a - e.addr)}, true
	}
	return Symbol{Module: *m, Offset: uint64(a - m.Base)}, true
}

// maxExportDistance is the maximum distance of a named address from an export without a size, as in
// PE images. Functions between exports have no name, and most functions are shorter.
const maxExportDistance = 0x1000

// exportAt returns the export that contains a, or nil.
func (x *moduleExports) exportAt(a target.Addr) *export {
	i := sort.Search(len(x.list), func(i int) bool { return x.list[i].addr > a }) - 1
	if i < 0 {
		return nil
	}
	e := &x.list[i]
	limit := e.size
	limit = cmp.Or(limit, maxExportDistance)
	if uint64(a-e.addr) >= limit {
		return nil
	}
	return e
}

// readExports returns the readable exports of a module. Without any, code is named by its module.
func readExports(mem target.Memory, m *target.Module) []export {
	img, err := OpenMemory(mem, m)
	if err != nil {
		return nil
	}
	var list []export
	for e, err := range img.Exports() {
		if err != nil || e.Forward != "" || e.Name == "" {
			continue
		}
		if a, err := img.Address(e.RVA); err == nil {
			list = append(list, export{a, e.Size, e.Name})
		}
	}
	// If an address has several names, the first in the table is used.
	slices.SortStableFunc(list, func(a, b export) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		}
		return 0
	})
	return slices.CompactFunc(list, func(a, b export) bool { return a.addr == b.addr })
}
