package dac

import (
	"path"
	"strings"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A composite image holds the code of many assemblies. Each assembly, a component, has a file without code; its
// ReadyToRun header names the composite's file. The range of code starts with the composite, and all RVAs of
// functions and their data count from it (readytorun-format.md, "Composite images"). No composite image was
// measured: the code follows the description, and returns target.ErrUnsupported where that is silent.

// imageMemory returns the memory of the image that contains the code range. The runtime assigns that code to
// module m with the ReadyToRunInfo info.
func (r *CodeReader) imageMemory(c *members, m *Module, info target.Addr, code target.Range) (*imageMemory, error) {
	mem := &imageMemory{Memory: r.mem, image: code, file: &lazy.Value[*image.Image]{}}
	mem.open = func() (*image.Image, error) { return m.openFile(nil) }
	own, err := m.Image()
	if err != nil || own.Start == 0 || own.Start == code.Start {
		return mem, nil
	}
	owner := r.ownerName(c, info, own.Start)
	if owner == "" && own.Contains(code.Start) {
		return mem, nil // a part of the module's own image
	}
	if c.ReadyToRun.Composite == layout.Absent {
		return nil, target.Unsupportedf("the code at %016x is of a composite ReadyToRun image, not of %s, and the layout of this "+
			"runtime does not tell where its methods are", uint64(code.Start), m.Label())
	}
	mem.open = func() (*image.Image, error) { return r.openComposite(m, owner, code.Start) }
	return mem, nil
}

// openComposite opens the file of the composite image at an address. The module there must have the name
// recorded in its component.
func (r *CodeReader) openComposite(m *Module, owner string, at target.Addr) (*image.Image, error) {
	tm := target.ModuleAt(r.Runtime().Target().Modules(), at)
	if tm == nil || tm.Base != at || owner != "" && !strings.EqualFold(target.BaseName(tm.Path), owner) {
		name := owner
		if name == "" {
			name = "a file of unknown name"
		}
		return nil, target.Unsupportedf("the code at %016x is of the composite ReadyToRun image of %s, %s, which is not a module of the process",
			uint64(at), m.Label(), name)
	}
	return m.openFileOf(tm)
}

// ownerName returns the file name of the composite image in a component's header, or "" if it is missing or not
// in the dump.
func (r *CodeReader) ownerName(c *members, info, base target.Addr) string {
	at, err := r.ptr(info, c.ReadyToRun.Header, "ReadyToRunInfo.ReadyToRunHeader")
	if err != nil || at == 0 {
		return ""
	}
	h := r2rHeader{mem: r.mem, base: base}
	if err := h.read(at); err != nil || h.flags&r2rComponent == 0 {
		return ""
	}
	const longest = 1024
	name := h.find(r2rSectionOwner)
	if name.Size() == 0 || name.Size() > longest {
		return ""
	}
	b, err := target.Bytes(r.mem, name.Start, int(name.Size()))
	if err != nil {
		return ""
	}
	return path.Base(strings.TrimRight(string(b), "\x00"))
}
