package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// LoadContext returns the address of the managed AssemblyLoadContext into which m was loaded. It returns 0 if
// the managed object was never made, as for the default context in most processes. Runtimes before 8 do not
// record it.
//
// The assembly's binder has a handle to it (assemblybinder.h). Since 10 the PEAssembly refers to its binder.
// Before 10 the binder's assembly does, or the fallback binder for assemblies without a file.
func (m *Module) LoadContext() (target.Addr, error) {
	o, err := m.r.loaderLayout()
	if err != nil {
		return 0, err
	}
	obj, err := m.r.loadContext(o, m.PEAssembly)
	if err != nil {
		return 0, fmt.Errorf("AssemblyLoadContext of %s: %w", m.Label(), err)
	}
	return obj, nil
}

func (r *Runtime) loadContext(o *loaderOffsets, pe target.Addr) (target.Addr, error) {
	if o.Binder.LoadContext == layout.Absent {
		return 0, &layout.Error{Type: "AssemblyBinder", Field: "AssemblyLoadContext"}
	}
	binder, err := r.binder(o, pe)
	if err != nil || binder == 0 {
		return 0, err
	}
	handle, err := r.ptr(binder, o.Binder.LoadContext, "AssemblyBinder.AssemblyLoadContext")
	if err != nil || handle == 0 {
		return 0, err
	}
	return target.Pointer(r.mem, handle)
}

func (r *Runtime) binder(o *loaderOffsets, pe target.Addr) (target.Addr, error) {
	if o.PEAssembly.Binder != layout.Absent {
		return r.ptr(pe, o.PEAssembly.Binder, "PEAssembly.AssemblyBinder")
	}
	host, err := r.ptr(pe, o.PEAssembly.HostAssembly, "PEAssembly.HostAssembly")
	if err != nil {
		return 0, err
	}
	if host == 0 {
		return r.ptr(pe, o.PEAssembly.FallbackBinder, "PEAssembly.FallbackBinder")
	}
	return r.ptr(host, o.HostAssembly.Binder, "BinderAssembly.Binder")
}

// LoaderModule returns the module with the allocator that owns the structures of mt. For a generic instance it
// may differ from the defining module.
func (r *Runtime) LoaderModule(mt *MethodTable) (target.Addr, error) {
	if off := r.off.MethodTable.LoaderModule; off != layout.Absent {
		return r.ptr(mt.Addr, off, "MethodTable.LoaderModule")
	}
	return r.ptr(mt.Auxiliary, r.off.Auxiliary.LoaderModule, "MethodTableAuxiliaryData.LoaderModule")
}

// IsCollectible reports whether the type can be unloaded.
func (r *Runtime) IsCollectible(mt *MethodTable) bool {
	return mt != nil && mt.Flags&r.consts.collectible != 0
}

// LoaderAllocatorObject returns the address of the managed LoaderAllocator that keeps the collectible type mt
// alive. It returns 0 for a type that is not collectible, or if the object is gone.
func (r *Runtime) LoaderAllocatorObject(mt *MethodTable) (target.Addr, error) {
	if !r.IsCollectible(mt) {
		return 0, nil
	}
	obj, err := r.loaderAllocatorObject(mt)
	if err != nil {
		return 0, fmt.Errorf("LoaderAllocator of %016x: %w", uint64(mt.Addr), err)
	}
	return obj, nil
}

func (r *Runtime) loaderAllocatorObject(mt *MethodTable) (target.Addr, error) {
	loader, err := r.LoaderModule(mt)
	if err != nil {
		return 0, err
	}
	m, err := r.TrustedModule(loader)
	if err != nil {
		return 0, err
	}
	return m.LoaderAllocatorObject()
}

// LoaderAllocatorObject returns the address of the managed LoaderAllocator that keeps m loaded. It returns 0
// for a module that cannot be unloaded, or if the object is gone.
func (m *Module) LoaderAllocatorObject() (target.Addr, error) {
	r := m.r
	o, err := r.loaderLayout()
	if err != nil {
		return 0, err
	}
	allocator, err := m.LoaderAllocator()
	if err != nil {
		return 0, err
	}
	handle, err := r.ptr(allocator, o.Allocator.ObjectHandle, "LoaderAllocator.ObjectHandle")
	if err != nil || handle == 0 {
		return 0, err
	}
	return target.Pointer(r.mem, handle)
}
