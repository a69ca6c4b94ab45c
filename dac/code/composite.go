package code

import (
	"path"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/lazy"
	"github.com/sosgo/sosgo/target"
)

// In a composite image the code of many assemblies lies together. Each of them, a
// component, has a file without code whose ReadyToRun header names the composite's
// file; the range of code starts with the composite, and all RVAs of functions and
// of what is recorded beside them are the composite's (readytorun-format.md,
// "Composite images"). None was ever measured: what is read here follows the
// format's description, and what it does not tell is target.ErrUnsupported.

// imageMemory is the memory of the image with the code at the range, which the
// runtime says is of module m with the ReadyToRunInfo info.
func (r *Reader) imageMemory(c *members, m *dac.Module, info target.Addr, code target.Range) (*imageMemory, error) {
	mem := &imageMemory{Memory: r.mem, image: code, file: &lazy.Value[*image.Image]{}}
	mem.open = func() (*image.Image, error) { return m.OpenFile(nil) }
	own, err := m.Image()
	if err != nil || own.Start == 0 || own.Start == code.Start {
		return mem, nil
	}
	owner := r.ownerName(c, info, own.Start)
	if owner == "" && own.Contains(code.Start) {
		return mem, nil // a part of its own image
	}
	if c.ReadyToRun.Composite == layout.Absent {
		return nil, target.Unsupportedf("the code at %016x is of a composite ReadyToRun image, not of %s, and the layout of this "+
			"runtime does not tell where its methods are", uint64(code.Start), m.Label())
	}
	mem.open = func() (*image.Image, error) { return r.openComposite(m, owner, code.Start) }
	return mem, nil
}

// openComposite opens the file of the composite image at an address: that of the
// process's module there, which has the name that its component gives.
func (r *Reader) openComposite(m *dac.Module, owner string, at target.Addr) (*image.Image, error) {
	tm := target.ModuleAt(r.rt.Target().Modules(), at)
	if tm == nil || tm.Base != at || owner != "" && !strings.EqualFold(target.BaseName(tm.Path), owner) {
		name := owner
		if name == "" {
			name = "a file of unknown name"
		}
		return nil, target.Unsupportedf("the code at %016x is of the composite ReadyToRun image of %s, %s, which is no module of the process",
			uint64(at), m.Label(), name)
	}
	return m.OpenFileOf(tm)
}

// ownerName is the file name of the composite image that a component's header
// names, empty where the dump or the header does not tell it.
func (r *Reader) ownerName(c *members, info, base target.Addr) string {
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
