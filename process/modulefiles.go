package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/internal/files/symstore"
	"github.com/sosgo/sosgo/target"
)

// moduleFiles returns the finder of module files, with the sources that the options allow.
func (d *Dump) moduleFiles() *modfiles.Files {
	o := &d.options
	if o.Offline {
		o.NoLocalFiles, o.SymbolServers = true, nil
	}
	var more []modfiles.Source
	if !o.NoLocalFiles {
		more = symstore.Local()
	}
	for _, server := range o.SymbolServers {
		more = append(more, symstore.Remote{Server: server})
	}
	finder := &modfiles.Finder{
		Policy: modfiles.Policy{Recorded: !o.NoLocalFiles, NoMmap: o.NoMmap, Structure: d.fitStructure},
		Dirs:   o.Modules,
		More:   more,
	}
	files := &modfiles.Files{Memory: d.file, Process: d.file, Wrap: o.WrapFile, Finder: finder, Context: d.searching}
	for _, p := range d.file.PackedFiles() {
		files.Packed = append(files.Packed, modfiles.PackedFile{Path: p.Path, Source: p.Source()})
	}
	return files
}

// searching returns the context for a search that starts at a read of memory: Options.OpenContext's, or the dump's.
func (d *Dump) searching() context.Context {
	if d.options.OpenContext != nil {
		return d.options.OpenContext()
	}
	return d.life
}

// fitStructure compares the file of a managed module with the runtime's structures for the module. It proves files
// that the dump does not identify.
func (d *Dump) fitStructure(m *target.Module, file *image.Image) (string, error) {
	for _, rt := range d.witnesses() {
		of := moduleOf(rt, m)
		if of == nil {
			continue
		}
		fit, err := of.FitFile(file)
		switch {
		case err != nil:
			return "", err
		case fit.Differs():
			return "", fmt.Errorf("%s: %w", &fit, image.ErrMismatch)
		case fit.Proves():
			return fit.String(), nil
		}
		return "", fmt.Errorf("too little of it is in the dump: %s", &fit)
	}
	words, err := d.fitReturnAddresses(m, file)
	if errors.Is(err, errFewReturns) {
		err = errors.New("no runtime that could be read has loaded it, and " + err.Error())
	}
	return words, err
}

// moduleOf returns the runtime's module for the image m or for another mapping of the same file. The runtime maps an
// assembly twice: flat and laid out.
func moduleOf(rt *dac.Runtime, m *target.Module) *dac.Module {
	known, _ := rt.KnownModules() // a partial list suffices
	var same *dac.Module
	for _, k := range known {
		at, err := k.Image()
		if err != nil || at.Start == 0 {
			continue
		}
		if at.Start == m.Base {
			return k
		}
		if tm := target.ModuleAt(rt.Target().Modules(), at.Start); same == nil && tm != nil && tm.Path == m.Path {
			same = k
		}
	}
	return same
}

// witnesses returns the CLRs of the process, opened without the files of assemblies. Their data then cannot come from
// the file that is to be proved.
func (d *Dump) witnesses() []*dac.Runtime {
	list, _ := d.witness.Get(func() ([]*dac.Runtime, error) {
		alone := modfiles.Alone{Files: d.files}
		mem := complete(d.file, alone.Found, nil)
		var out []*dac.Runtime
		for _, inst := range dac.Find(d.file, mem, alone) {
			if inst.Flavor != dac.FlavorCoreCLR {
				continue
			}
			if rt, err := inst.Open(); err == nil {
				out = append(out, rt)
			}
		}
		return out, nil
	})
	return list
}

// FileProblems returns the failures of symbol servers so far. A file that a server does not have is not a failure.
func (d *Dump) FileProblems() []error {
	var out []error
	for _, server := range d.options.SymbolServers {
		if err := server.Problem(); err != nil {
			out = append(out, fmt.Errorf("symbol server %s: %w", server, err))
		}
	}
	return out
}

// ModuleFile returns the result of the search for m's file.
func (d *Dump) ModuleFile(m *target.Module) (answer.ModuleFile, error) {
	if m == nil {
		return answer.ModuleFile{}, target.Argumentf("no module was given")
	}
	r := d.files.Look(d.searching(), m)
	f := answer.ModuleFile{Path: m.Path, Proof: string(r.Proof)}
	if r.Image != nil {
		f.File = r.Image.Path()
	}
	for _, c := range r.Tried {
		if words := c.Refusal(); words != "" {
			f.Refused = append(f.Refused, words)
		}
	}
	if r.Err == nil {
		if _, refused := d.mem.fileAt(m.Base); errors.Is(refused, target.ErrCorrupt) {
			f.File, f.Proof, f.Refused = "", "", append(f.Refused, refused.Error())
			return f, refused
		}
	}
	return f, r.Err
}

// ModuleAt returns the image that contains a, which may be an assembly in the bundle of a single-file app. It returns
// nil for an address outside all images.
func (d *Dump) ModuleAt(a target.Addr) *target.Module {
	m, _ := d.mem.fileAt(a)
	return m
}

// PackEntries returns the files of a module that belong into a pack. It is a dump.PackFinder.
func (d *Dump) PackEntries(ctx context.Context, m *target.Module) ([]dump.PackEntry, error) {
	r := d.files.Look(ctx, m)
	if r.Err != nil {
		if ctx.Err() == nil && !d.needsFile(m) {
			return nil, fmt.Errorf("%w: %w", dump.ErrNotNeeded, r.Err)
		}
		return nil, r.Err
	}
	out := []dump.PackEntry{d.packEntry(r.Image.Path(), m.Path)}
	id, err := r.Image.PDB()
	if err != nil {
		return out, nil // the file names no PDB
	}
	_, path, err := d.files.FindPDB(ctx, m, id, func([]byte) error { return nil })
	if err != nil {
		return out, ctx.Err()
	}
	// A pack holds the PDB beside the module; readers look for it there.
	beside := strings.TrimSuffix(m.Path, filepath.Ext(m.Path)) + ".pdb"
	return append(out, d.packEntry(path, beside)), nil
}

// packEntry returns the entry of a file of this machine or of the pack that the dump came in.
func (d *Dump) packEntry(path, module string) dump.PackEntry {
	e := dump.PackEntry{Path: path, Module: module}
	for _, p := range d.files.Packed {
		if p.Path == path {
			e.Source, e.Size = p.Source, p.Source.Size()
		}
	}
	return e
}

// needsFile reports whether answers need m's file: m is a runtime or an assembly that a runtime has loaded.
func (d *Dump) needsFile(m *target.Module) bool {
	for _, inst := range d.Runtimes() {
		if inst.Module.Base == m.Base {
			return true
		}
		if rt, err := d.ProcessOf(inst).Runtime(); err == nil && moduleOf(rt, m) != nil {
			return true
		}
	}
	return len(d.Runtimes()) == 0
}

// Symbols returns the names of native code: exports of modules, and methods of NativeAOT programs by the names kept
// for stack traces. In a dump without the runtime's data it also names precompiled methods, using module files.
func (d *Dump) Symbols() *image.Symbols {
	s := image.NewSymbols(d.read, d.file.Modules())
	for _, inst := range d.Runtimes() {
		if d.ProcessOf(inst).StacksOnly() {
			s.AlsoNamed(d.precompiledNamer())
			break
		}
		if inst.Flavor != dac.FlavorNativeAOT {
			continue
		}
		if rt, err := d.ProcessOf(inst).Runtime(); err == nil {
			s.AlsoNamed(methodNamer(rt))
		}
	}
	return s
}

// methodNamer returns a function that names methods of a NativeAOT program.
func methodNamer(rt *dac.Runtime) func(target.Addr) (string, target.Addr) {
	return func(a target.Addr) (string, target.Addr) {
		m, err := dac.CodeOf(rt).NativeAt(a)
		if err != nil {
			return "", 0 // unreadable: no name
		}
		return m.Name, m.Start
	}
}
