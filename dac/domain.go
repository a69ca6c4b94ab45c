package dac

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// An AppDomain is the application domain of the process (appdomain.hpp). .NET Core has one.
type AppDomain struct {
	Addr target.Addr
	Name string // friendly name, "clrhost"
}

// errNoDomain is the error for a runtime without an application domain. It makes one before its first managed thread.
var errNoDomain = target.Corruptf("the runtime has no application domain")

// domain returns the address of the application domain.
func (r *Runtime) domain() (target.Addr, error) {
	a, err := r.GlobalPointer("AppDomain")
	if err == nil && a == 0 {
		err = errNoDomain
	}
	return a, err
}

// AppDomain returns the application domain.
func (r *Runtime) AppDomain() (AppDomain, error) {
	if err := r.Check(FeatureDomains); err != nil {
		return AppDomain{}, err
	}
	a, err := r.domain()
	if err != nil {
		return AppDomain{}, fmt.Errorf("AppDomain: %w", err)
	}
	d := AppDomain{Addr: a}
	p, err := r.ptr(a, r.off.AppDomain.FriendlyName, "AppDomain.FriendlyName")
	if err == nil && p != 0 {
		d.Name, err = target.UTF16String(r.mem, p, limits.PathBytes)
	}
	if err != nil {
		err = fmt.Errorf("name of AppDomain %016x: %w", uint64(a), err)
	}
	return d, err
}

// RootAssembly returns the address of the Assembly with the Main that the runtime runs
// (Assembly::ExecuteMainMethod). It returns 0 if a native program started the runtime and does not run a Main.
func (r *Runtime) RootAssembly() (target.Addr, error) {
	if err := r.Check(FeatureDomains); err != nil {
		return 0, err
	}
	if r.off.AppDomain.RootAssembly == layout.Absent {
		return 0, target.Unsupportedf("the layout lacks the AppDomain's root assembly")
	}
	a, err := r.domain()
	if err == nil {
		a, err = r.ptr(a, r.off.AppDomain.RootAssembly, "AppDomain.RootAssembly")
	}
	if err != nil {
		return 0, fmt.Errorf("root assembly: %w", err)
	}
	return a, nil
}

// SystemDomain returns the address of the system domain.
func (r *Runtime) SystemDomain() (target.Addr, error) {
	if err := r.Check(FeatureDomains); err != nil {
		return 0, err
	}
	return r.GlobalPointer("SystemDomain")
}

// Modules returns a copy of the list of modules of the application domain, in load order, with the first error if
// some are unreadable.
func (r *Runtime) Modules() ([]*Module, error) {
	list, err := r.assembled.Get(r.readModules)
	return slices.Clone(list), err
}

func (r *Runtime) readModules() ([]*Module, error) {
	if err := r.Check(FeatureModules); err != nil {
		return nil, err
	}
	domain, err := r.domain()
	if err != nil {
		return nil, fmt.Errorf("assemblies: %w", err)
	}
	list, err := r.modulesOf(domain, func(error) {})
	if err == nil {
		if err = r.unlisted(list); err != nil {
			err = fmt.Errorf("assemblies: %w", err)
		}
	}
	return list, err
}

// modulesOf reads the list of assemblies of the domain at an address. It calls unready for an assembly without a module.
func (r *Runtime) modulesOf(domain target.Addr, unready func(error)) ([]*Module, error) {
	list := domain + target.Addr(r.off.AppDomain.Assemblies)
	rd := layout.Reader{Mem: r.mem, Base: list}
	count := rd.U32(r.off.ArrayList.Count)
	if rd.Err != nil {
		return nil, fmt.Errorf("assemblies: %w", rd.Err)
	}
	if count > limits.AssembliesList {
		return nil, target.Corruptf("list of %d assemblies", count)
	}
	var out []*Module
	var firstErr error
	note := func(err error) {
		if firstErr == nil {
			firstErr = fmt.Errorf("assemblies: %w", err)
		}
	}
	block := list + target.Addr(r.off.ArrayList.First)
	for seen := uint32(0); block != 0 && seen < count; {
		b := layout.Reader{Mem: r.mem, Base: block}
		next, size := b.Ptr(r.off.ArrayListBlock.Next), b.U32(r.off.ArrayListBlock.Size)
		if b.Err == nil && size == 0 {
			b.Err = target.Corruptf("empty block of the assembly list at %#x", uint64(block))
		}
		if b.Err != nil {
			note(b.Err)
			break
		}
		items, stored := block+target.Addr(r.off.ArrayListBlock.Items), int(min(size, count-seen))
		seen += uint32(stored)
		for i := 0; i < stored; i++ {
			m, err := r.domainModule(items + target.Addr(8*i))
			if errors.Is(err, errNoModule) {
				unready(err)
			} else if err != nil {
				note(err)
				i = max(i, nextStoredWord(r.mem, items, i, stored)-1)
			} else if m != nil {
				out = append(out, m)
			}
		}
		if block = next; block == 0 && seen < count {
			note(target.Corruptf("the list ends after %d of %d", seen, count))
		}
	}
	return out, firstErr
}

// errNoModule is the error for an assembly without a module. The runtime lists an assembly before it has made the module.
var errNoModule = fmt.Errorf("it has no module; it is damaged, or was being loaded or unloaded and is %w", target.ErrNotInDump)

// domainModule returns the module of the DomainAssembly or Assembly that the word at slot points to, or nil for
// an empty slot. It returns errNoModule for an assembly without one.
func (r *Runtime) domainModule(slot target.Addr) (*Module, error) {
	da, err := target.Pointer(r.mem, slot)
	if err != nil || da == 0 {
		return nil, err
	}
	var module target.Addr
	switch o := &r.off.DomainAssembly; {
	case o.Assembly != layout.Absent:
		var assembly target.Addr
		if assembly, err = r.ptr(da, o.Assembly, "DomainAssembly.Assembly"); err == nil && assembly != 0 {
			module, err = r.ptr(assembly, r.off.Assembly.Module, "Assembly.Module")
		}
	case o.Module != layout.Absent:
		module, err = r.ptr(da, o.Module, "DomainAssembly.Module")
	default: // since 11 the list contains Assemblies
		module, err = r.ptr(da, r.off.Assembly.Module, "Assembly.Module")
	}
	if err == nil && module == 0 {
		err = fmt.Errorf("assembly %016x: %w", uint64(da), errNoModule)
	}
	if err != nil {
		return nil, err
	}
	return r.TrustedModule(module)
}

// unlisted returns an error if the list of modules lacks one that must be in it: the root assembly's, or one that has types and has
// precompiled code in a range of code. The runtime enters the code of an assembly that it loads before it lists the assembly, several of
// them at once; it makes types afterwards.
func (r *Runtime) unlisted(list []*Module) error {
	listed := map[target.Addr]bool{}
	for _, m := range list {
		listed[m.Addr] = true
	}
	if root, err := r.RootAssembly(); err == nil && root != 0 && !slices.ContainsFunc(list, func(m *Module) bool { return m.Assembly == root }) {
		return target.Corruptf("the root assembly %016x is not in the list", uint64(root))
	}
	for _, s := range CodeOf(r).knownSections() {
		if s.Kind != CodeReadyToRun || listed[s.Image] {
			continue
		}
		if m, err := r.TrustedModule(s.Image); err == nil && len(m.definedRows()) > 0 {
			return target.Corruptf("the module %016x has types, and code in a range of code, and is not in the list", uint64(m.Addr))
		}
	}
	return nil
}

// CoreLib returns the module that defines System.Object.
func (r *Runtime) CoreLib() (*Module, error) {
	if err := r.Check(FeatureModules); err != nil {
		return nil, err
	}
	mt, err := r.TrustedMethodTable(r.known.Object)
	if err != nil {
		return nil, err
	}
	return r.ModuleOf(mt)
}

// KnownModules is Modules for dumps without the list of assemblies: it adds CoreLib.
func (r *Runtime) KnownModules() ([]*Module, error) {
	mods, err := r.Modules()
	if err == nil || !errors.Is(err, target.ErrNotInDump) {
		return mods, err
	}
	have := map[target.Addr]bool{}
	for _, m := range mods {
		have[m.Addr] = true
	}
	if m, cerr := r.CoreLib(); cerr == nil && !have[m.Addr] {
		mods = append([]*Module{m}, mods...)
	}
	return mods, err
}
