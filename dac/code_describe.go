package dac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// DescribeMethod describes the method with its MethodDesc at a.
func (r *CodeReader) DescribeMethod(a target.Addr) (*answer.Method, error) {
	m, err := r.MethodDesc(a)
	if err != nil {
		return nil, err
	}
	return r.describeMethod(m, 0), nil
}

// DescribeMethodAt describes the method with the address ip in its code, or in the interpreter's byte code, and
// the place of ip in it. It returns ErrNoCode for an address outside of the code of methods.
func (r *CodeReader) DescribeMethodAt(ip target.Addr) (*answer.Method, error) {
	if ip == 0 {
		return nil, fmt.Errorf("%016x is not an instruction pointer: %w", uint64(ip), ErrNoCode)
	}
	info, err := r.PlaceAt(ip)
	if err == nil && info.Method == nil {
		err = ErrNoCode
	}
	if err != nil {
		return nil, fmt.Errorf("%016x: %w", uint64(ip), err)
	}
	running := info.Start
	if info.Kind == CodeInterpreted {
		running = 0 // not a version of the code: the method's entry point leads to the interpreter
	}
	out := r.describeMethod(info.Method, running)
	if info.Kind == CodeInterpreted {
		out.Code, out.Jitted = out.Pointer(info.Start, nil), answer.Known(false)
	}
	out.Address, out.Offset = &ip, &info.Offset
	if line, err := r.SourceLine(info); err == nil { // most methods have no source
		out.Source = &answer.SourcePlace{File: line.File, Line: line.Line}
	}
	return out, nil
}

// describeMethod describes m. running is the body in question, 0 for the one that calls run now.
func (r *CodeReader) describeMethod(m *MethodDesc, running target.Addr) *answer.Method {
	out := &answer.Method{MethodDesc: m.Addr, Kind: m.Kind.String(), MethodTable: m.MethodTable, Token: answer.Hex(m.Token),
		Slot: int(m.Slot), Versions: []answer.CodeVersion{}, MetadataInDump: r.metadataInDump(m)}
	out.Name = answer.Of(r.MethodName(m, MethodFull))
	out.Note(out.Name.Err())
	r.describeOwner(m, out)
	il, err := r.ILAddress(m)
	if errors.Is(err, ErrNoIL) {
		err = nil
	}
	out.IL = out.Pointer(il, err)
	r.describeVersions(m, running, out)
	if out.ReJIT.Err() == nil && out.ReJIT.Value != 0 {
		out.IL = out.Pointer(0, rejitted(&CodeVersion{ReJIT: out.ReJIT.Value}))
	} else {
		out.Note(r.ILReplaced(m))
	}
	return out
}

// describeOwner adds the class and the module of m's type.
func (r *CodeReader) describeOwner(m *MethodDesc, out *answer.Method) {
	mt, err := r.Runtime().TrustedMethodTable(m.MethodTable)
	if err != nil {
		out.Class, out.Module = out.Pointer(0, err), out.Pointer(0, err)
		return
	}
	out.Module = out.Pointer(mt.ModuleAddr())
	if r.Runtime().CanonicalForClass() {
		out.Class = out.Pointer(mt.Canonical, nil)
		return
	}
	class, err := r.Runtime().EEClass(mt)
	if err != nil {
		out.Class = out.Pointer(0, err)
		return
	}
	out.Class = out.Pointer(class.Addr, nil)
}

func (r *CodeReader) describeVersions(m *MethodDesc, running target.Addr, out *answer.Method) {
	versions, err := r.CodeVersions(m)
	for _, v := range versions {
		tier := v.Tier.String()
		if v.TierErr != nil {
			tier = answer.Absent(v.TierErr)
			out.Note(v.TierErr)
		}
		out.Versions = append(out.Versions, answer.CodeVersion{Node: v.Node, Code: v.Code, Tier: tier, Active: v.Active})
	}
	out.Note(err)
	i := slices.IndexFunc(versions, func(v CodeVersion) bool {
		return running == 0 && v.Active || running != 0 && v.Code == running
	})
	switch {
	case i >= 0:
		out.ReJIT = answer.Of(versions[i].ReJIT, versions[i].ReJITErr)
		running, err = versions[i].Code, nil
	case running != 0: // the running version was not found
		out.ReJIT = answer.Of(uint64(0), cmp.Or(err, target.ErrNotInDump))
		err = nil
	default:
		out.ReJIT = answer.Of(uint64(0), err)
	}
	out.Code = answer.Pointer{Maybe: answer.Of(running, err)}
	out.Jitted = answer.Of(running != 0, err)
}

// metadataInDump reports whether the metadata of m's module is in the dump.
func (r *CodeReader) metadataInDump(m *MethodDesc) bool {
	mod, err := m.Module()
	if err != nil {
		return false
	}
	at := mod.MetadataSource()
	return at.Path == "" && target.Available(r.Runtime().Target(), at.Addr, int(at.Size))
}
