package dac

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// lookupMapNames holds SOS's names of the lookup maps.
var lookupMapNames = map[Map]string{
	MapTypeDef: "TypeDefToMethodTableMap", MapTypeRef: "TypeRefToMethodTableMap", MapMethodDef: "MethodDefToDescMap",
	MapFieldDef: "FieldDefToDescMap", MapMemberRef: "MemberRefToDescMap", MapFileRef: "FileReferencesMap",
	MapAssemblyRef: "AssemblyReferencesMap",
}

// ModuleOptions select what DescribeModule adds.
type ModuleOptions struct {
	Types bool `opt:"mt" help:"the loaded types that it defines and refers to"`
}

// DescribeModule describes the Module at a. Members that the runtime's version does not record are 0. Members
// that are not in the dump are missing.
func (r *Runtime) DescribeModule(a target.Addr, o ModuleOptions) (*answer.ModuleDetails, error) {
	m, err := r.Module(a)
	if err != nil {
		return nil, wrongAddress(a, "a Module", err)
	}
	d := &answer.ModuleDetails{Module: answer.Module{Module: m.Addr, Assembly: m.Assembly}}
	d.Module.Name = d.Text(m.FileOr("Unknown Module"))
	d.Module.Dynamic, err = m.IsDynamic()
	d.Note(err)
	m.describeImage(d)
	d.Module.Maps = m.describeMaps(&d.Gaps)
	allocator, err := m.LoaderAllocator()
	d.Module.LoaderAllocator = d.Pointer(allocator, ignoreUnsupported(err))
	m.describeMetadata(d)
	m.describeStatics(d)
	if o.Types {
		d.Types, d.References = m.types(&d.Gaps, MapTypeDef), m.types(&d.Gaps, MapTypeRef)
	}
	return d, nil
}

// wrongAddress returns the error for an address a that is not the structure what. It keeps a *target.AddressError with a
// ForeignError, and an error about a missing proof.
func wrongAddress(a target.Addr, what string, err error) error {
	var foreign *ForeignError
	switch {
	case errors.As(err, &foreign):
		return &target.AddressError{Err: foreign}
	case errors.As(err, new(*target.AddressError)):
		return &target.AddressError{Err: target.Corruptf("%016x is not %s", uint64(a), what)}
	}
	return fmt.Errorf("%016x can't be proved to be %s: %w", uint64(a), what, err)
}

// ignoreUnsupported returns err, or nil for target.ErrUnsupported: a member that the runtime's version does not record
// is not missing.
func ignoreUnsupported(err error) error {
	if errors.Is(err, target.ErrUnsupported) {
		return nil
	}
	return err
}

func (m *Module) describeImage(d *answer.ModuleDetails) {
	at, err := m.Image()
	d.Module.ImageBase = d.Pointer(at.Start, err)
	path, pathErr := m.Path()
	d.Module.InMemory = pathErr == nil && path == "" && at.Start != 0
	d.Module.Flat = answer.Of(m.isFlat())
	d.Note(d.Module.Flat.Err())
}

func (m *Module) describeMaps(g *answer.Gaps) map[string]answer.Maybe[target.Addr] {
	out := make(map[string]answer.Maybe[target.Addr], len(lookupMapNames))
	for kind := MapTypeDef; kind <= MapAssemblyRef; kind++ {
		table, err := m.MapTable(kind)
		err = ignoreUnsupported(err)
		g.Note(err)
		out[lookupMapNames[kind]] = answer.Of(table, err)
	}
	return out
}

func (m *Module) describeMetadata(d *answer.ModuleDetails) {
	_, err := m.Metadata()
	where := m.MetadataSource()
	d.Module.Metadata, d.Module.MetadataSize = d.Pointer(where.Addr, err), where.Size
}

// describeStatics adds the DomainLocalModule, if the runtime has such structures and the module has one.
func (m *Module) describeStatics(d *answer.ModuleDetails) {
	l, err := m.r.DomainLocalModule(m.Addr)
	if err != nil || l.Addr == 0 {
		d.Note(ignoreUnsupported(err))
		return
	}
	d.Module.DomainLocal = &answer.DomainLocalModule{Address: l.Addr, GCStatics: d.Pointer(l.GCStatics, l.missing)}
	for _, err := range l.DynamicClasses() {
		if err != nil {
			d.Note(err)
			break
		}
		d.Module.DomainLocal.DynamicClasses++
	}
}

// types lists the loaded types of a lookup map, MapTypeDef or MapTypeRef.
func (m *Module) types(g *answer.Gaps, kind Map) iter.Seq2[answer.ModuleType, error] {
	table := metadata.TableTypeDef
	if kind == MapTypeRef {
		table = metadata.TableTypeRef
	}
	return answer.NewRows(g, func(yield func(answer.ModuleType, error) bool) error {
		for e, err := range m.Entries(kind) {
			t := answer.ModuleType{}
			if err == nil {
				token := metadata.NewToken(table, e.Row)
				t = answer.ModuleType{MethodTable: e.Value, Token: answer.Hex(token), Name: g.Text(m.rowName(token, e.Value))}
			}
			if !yield(t, err) {
				break
			}
		}
		return nil
	})
}

// rowName returns the name of a type in a lookup map. It prefers metadata, which works without the MethodTable.
func (m *Module) rowName(token metadata.Token, mt target.Addr) (string, error) {
	if md, err := m.Metadata(); err == nil {
		if name, err := md.TypeFullName(token); err == nil {
			return name, nil
		}
	}
	return m.r.TypeName(mt, NameNative)
}

// DescribeAssembly describes the Assembly at a.
func (r *Runtime) DescribeAssembly(a target.Addr) (*answer.Assembly, error) {
	as, err := r.Assembly(a)
	if err != nil {
		return nil, wrongAddress(a, "an Assembly", err)
	}
	domain, err := r.AppDomain()
	if domain.Addr != 0 {
		err = nil // only the name is missing
	}
	out := &answer.Assembly{}
	out.Note(err)
	*out = as.Module.describeAssembly(answer.Of(domain.Addr, err), out.Gaps)
	return out, nil
}

// describeAssembly describes the assembly of m; g are the gaps so far.
func (m *Module) describeAssembly(domain answer.Maybe[target.Addr], g answer.Gaps) answer.Assembly {
	a := answer.Assembly{Gaps: g, Assembly: m.Assembly, Domain: domain, Module: m.Addr}
	a.Path = a.Text(m.Path())
	dynamic, err := m.IsDynamic()
	a.Dynamic = dynamic
	a.Note(err)
	a.Name = a.Text(m.Title())
	return a
}

// DescribeDomains lists the system domain and the application domain; .NET Core has no others. With addresses
// it lists only those domains, and returns target.ErrCorrupt for an address that is not a domain.
func (r *Runtime) DescribeDomains(only ...target.Addr) (iter.Seq2[*answer.Domain, error], error) {
	system, err := r.SystemDomain()
	if err != nil {
		return nil, err
	}
	app, err := r.AppDomain()
	if err != nil && app.Addr == 0 {
		return nil, err
	}
	for _, a := range only {
		if a != system && a != app.Addr {
			return nil, target.WrongAddress(target.Corruptf("%016x is not a domain", uint64(a)))
		}
	}
	wanted := func(a target.Addr) bool { return len(only) == 0 || slices.Contains(only, a) }
	return func(yield func(*answer.Domain, error) bool) {
		heaps, heapsErr := r.domainHeaps()
		if heapsErr != nil && !yield(nil, heapsErr) {
			return
		}
		if wanted(system) && !yield(&answer.Domain{Address: system, Kind: answer.DomainSystem, Heaps: heaps}, nil) {
			return
		}
		if wanted(app.Addr) {
			yield(r.describeAppDomain(app.Addr, answer.Text{S: app.Name, Err: err}, heaps), nil)
		}
	}, nil
}

func (r *Runtime) describeAppDomain(a target.Addr, name answer.Text, heaps []answer.DomainHeap) *answer.Domain {
	d := &answer.Domain{Address: a, Kind: answer.DomainApplication, Heaps: heaps}
	d.Name = d.Text(name.S, name.Err)
	mods, err := r.Modules()
	d.Note(err)
	if err == nil {
		_, err = r.modulesOf(a, d.Note)
		d.Note(err)
	}
	for _, m := range mods {
		as := m.describeAssembly(answer.Known(a), answer.Gaps{})
		for _, gap := range as.Noted() {
			d.Note(gap)
		}
		d.Assemblies = append(d.Assemblies, as)
	}
	return d
}

// domainHeaps returns the heaps that SOS prints for a domain.
func (r *Runtime) domainHeaps() ([]answer.DomainHeap, error) {
	global, err := r.GlobalLoaderAllocator()
	var l *LoaderAllocator
	if err == nil {
		l, err = r.LoaderAllocator(global)
	}
	if l == nil {
		return nil, err
	}
	var out []answer.DomainHeap
	for _, k := range []LoaderHeapKind{LowFrequencyHeap, HighFrequencyHeap, StubHeap} {
		if h := l.heap(k); h != nil {
			out = append(out, answer.DomainHeap{Kind: k.String(), Address: h.Addr})
		}
	}
	return out, err
}

// AppDomainOf returns the application domain of the object at a: .NET Core has only one, with the number 1.
func (r *Runtime) AppDomainOf(a target.Addr) (*answer.AppDomain, error) {
	mt, err := r.ObjectMethodTable(a)
	if err == nil {
		_, err = r.MethodTable(mt)
	}
	if errors.Is(err, target.ErrCorrupt) || a == 0 {
		return nil, target.WrongAddress(fmt.Errorf("%016x is not a managed object: %w", uint64(a), err))
	}
	domain, err := r.AppDomain()
	if err != nil && domain.Addr == 0 {
		return nil, err
	}
	out := &answer.AppDomain{Address: domain.Addr, ID: 1}
	out.Name = out.Text(domain.Name, err)
	return out, nil
}
