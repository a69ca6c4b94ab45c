package dac

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// An Assembly is a loaded assembly (assembly.hpp). In .NET Core it has one module. Verified on 3.1, 6, 8, 9 and
// 10.
type Assembly struct {
	Addr            target.Addr
	Module          *Module
	PEAssembly      target.Addr
	LoaderAllocator target.Addr // 0 if the layout lacks it
}

// Assembly reads the assembly at a. The proof: the assembly and its module refer to each other. It returns a
// *target.AddressError for another address.
func (r *Runtime) Assembly(a target.Addr) (*Assembly, error) {
	if err := r.Check(FeatureModules); err != nil {
		return nil, err
	}
	as, err := r.readAssembly(a)
	if err != nil {
		return nil, target.WrongAddress(fmt.Errorf("Assembly %016x: %w", uint64(a), err))
	}
	return as, nil
}

func (r *Runtime) readAssembly(a target.Addr) (*Assembly, error) {
	if !canonical(a) {
		return nil, target.Corruptf("not an Assembly")
	}
	o := &r.off.Assembly
	rd := layout.Reader{Mem: r.mem, Base: a}
	module := rd.Ptr(o.Module)
	as := &Assembly{Addr: a}
	if o.PEAssembly != layout.Absent {
		as.PEAssembly = rd.Ptr(o.PEAssembly)
	}
	if o.LoaderAllocator != layout.Absent {
		as.LoaderAllocator = rd.Ptr(o.LoaderAllocator)
	}
	if rd.Err != nil {
		return nil, rd.Err
	}
	var err error
	if as.Module, err = r.provenModule(module); err != nil {
		var foreign *ForeignError
		if errors.As(err, &foreign) {
			err = &ForeignError{Addr: a, What: "Assembly", Owner: foreign.Owner}
		}
		return nil, err
	}
	if o.PEAssembly == layout.Absent {
		as.PEAssembly = as.Module.PEAssembly
	}
	if as.Module.Assembly != a {
		return nil, target.Corruptf("its Module names the Assembly %016x", uint64(as.Module.Assembly))
	}
	return as, nil
}

// MapTable returns the address of the first part of a lookup map's table, or 0 for an empty map. SOS prints it
// as the map.
func (m *Module) MapTable(k Map) (target.Addr, error) {
	at, err := m.MapAddr(k)
	if err != nil {
		return 0, err
	}
	return m.r.ptr(at, m.r.off.LookupMap.TableData, "ModuleLookupMap.TableData")
}

// ImageLayout flags of PEImageLayout (peimagelayout.h).
const peLayoutMapped = 0x01

// isFlat reports whether the module's image has the layout of its file, instead of sections at their RVAs.
func (m *Module) isFlat() (bool, error) {
	lay, err := m.peLayout()
	if err != nil || lay == 0 {
		return false, err
	}
	flags, err := m.r.u32(lay, m.r.off.PEImageLayout.Flags, "PEImageLayout.Flags")
	return err == nil && flags&peLayoutMapped == 0, err
}

// Interfaces returns the MethodTables of the interfaces that mt implements (MethodTable::m_pInterfaceMap).
func (r *Runtime) Interfaces(mt *MethodTable) ([]target.Addr, error) {
	if mt.NumInterfaces == 0 {
		return nil, nil
	}
	return r.impl.interfaces(mt)
}

func (r clr) interfaces(mt *MethodTable) ([]target.Addr, error) {
	m, err := r.ptr(mt.Addr, r.off.MethodTable.InterfaceMap, "MethodTable.InterfaceMap")
	if err != nil {
		return nil, err
	}
	rd, out := layout.Reader{Mem: r.mem, Base: m}, make([]target.Addr, 0, mt.NumInterfaces)
	for i := range int(mt.NumInterfaces) {
		// The lowest bit marks an entry that is not fully loaded.
		out = append(out, rd.Ptr(8*i)&^1)
	}
	if rd.Err != nil {
		return nil, fmt.Errorf("interfaces of %016x: %w", uint64(mt.Addr), rd.Err)
	}
	return out, nil
}

// DescribeAssemblies describes the modules of KnownModules in their order. match, if not nil, selects them by
// the last part of File. An incomplete list ends with the error. Without any module DescribeAssemblies returns
// the error instead.
func (r *Runtime) DescribeAssemblies(ctx context.Context, match func(name string) bool) (iter.Seq2[*answer.LoadedModule, error], error) {
	modules, incomplete := r.KnownModules()
	if incomplete != nil && len(modules) == 0 {
		return nil, incomplete
	}
	return func(yield func(*answer.LoadedModule, error) bool) {
		for _, m := range modules {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			row := &answer.LoadedModule{}
			row.Name = row.Gaps.Text(m.File())
			if match != nil && !match(target.BaseName(row.Name.String())) {
				continue
			}
			m.describeLoaded(row)
			if !yield(row, nil) {
				return
			}
		}
		if incomplete != nil {
			yield(nil, incomplete)
		}
	}, nil
}

func (m *Module) describeLoaded(row *answer.LoadedModule) {
	row.Module, row.Assembly = m.Addr, m.Assembly
	dynamic, err := m.IsDynamic()
	row.Dynamic = dynamic
	row.Note(err)
	at, err := m.Image()
	row.ImageBase, row.Size, row.PE = row.Pointer(at.Start, err), at.Size(), at.Start != 0
	if flat, err := m.isFlat(); err == nil && row.PE {
		row.Layout = "Mapped"
		if flat {
			row.Layout = "Flat"
		}
	}
	if _, err := m.Metadata(); err != nil {
		row.Note(err)
		row.MetadataErr = err
	} else {
		where := m.MetadataSource()
		row.Metadata, row.MetadataSize = where.Addr, where.Size
	}
	if !row.PE {
		return
	}
	img, err := m.PEImage()
	if err != nil {
		row.PDBErr, row.Version = err, row.Text("", err)
		return
	}
	row.PDB, row.PDBErr = img.DescribePDB()
	row.Note(row.PDBErr)
	if tm, err := m.imageModule(); err == nil {
		row.Version = image.DescribeVersion(&row.Gaps, m.r.mem, tm)
	}
}
