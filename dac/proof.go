package dac

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/target"
)

// A Strength is the certainty that a structure of the runtime is at an address. A contradicted structure is
// target.ErrCorrupt and has no Strength.
type Strength uint8

// The strengths.
const (
	// Unproven means that nothing contradicts, but the proof is not in the dump. Such a structure is accepted
	// at an address that the runtime's own structures contain; any other address is target.ErrNotInDump.
	Unproven Strength = iota
	// Consistent means that the structures it refers to refer back.
	Consistent
	// Listed means that a list or map of the runtime contains it, reached from the runtime's variables.
	Listed
)

var strengthNames = [...]string{"unproven", "consistent", "listed"}

func (s Strength) String() string { return enum.Name(strengthNames[:], s, "Strength") }

// A Proof is the reason to accept an address as a structure of the runtime. One function per structure takes
// addresses from any source and requires a proof: Runtime.Module, MethodTableAt, FieldDesc, CodeReader's
// MethodDesc and others. A contradicted address is a *target.AddressError. Functions with Trusted in their name are for addresses in the runtime's own
// structures, and only require that nothing contradicts.
type Proof struct {
	Strength Strength
	By       string // the proof in words: "the list of assemblies"
	Missing  error  // memory that an unproven structure needs and the dump lacks
}

// unproven returns the error for an unproven structure, nil for a proved one.
func (p Proof) unproven() error {
	switch {
	case p.Strength > Unproven:
		return nil
	case p.Missing != nil:
		return p.Missing
	}
	return target.ErrNotInDump
}

// A ForeignError reports that a structure belongs to another runtime of the process. It wraps
// target.ErrCorrupt: the address is wrong for this runtime. If a caller gave it, a *target.AddressError has it.
type ForeignError struct {
	Addr  target.Addr
	What  string    // "MethodTable"
	Owner *Instance // the runtime that owns the structure
}

func (e *ForeignError) Error() string {
	if e.Owner == nil {
		return fmt.Sprintf("%016x is a %s of another runtime", uint64(e.Addr), e.What)
	}
	return fmt.Sprintf("%016x is a %s of the other runtime %s: use -runtime %d", uint64(e.Addr), e.What, e.Owner.Title(), e.Owner.Index)
}

// Unwrap returns target.ErrCorrupt.
func (e *ForeignError) Unwrap() error { return target.ErrCorrupt }

// owner returns the other runtime of the process with the vtable of the Module at a in its image, or nil.
func (r *Runtime) owner(module target.Addr) *Instance {
	if len(r.inst.others) == 0 {
		return nil
	}
	vtable, err := target.Pointer(r.mem, module)
	if err != nil {
		return nil
	}
	for _, other := range r.inst.others {
		if other.Module.Contains(vtable) {
			return other
		}
	}
	return nil
}

// canonical reports whether a can be the address of a structure of the runtime: aligned, and in the range of
// user space.
func canonical(a target.Addr) bool { return a%8 == 0 && a >= lowestStructure && a <= highestStructure }

// The range of structures in a 64-bit process on x64 and ARM64: above the first pages, which systems keep free,
// and below the end of user space.
const (
	lowestStructure  = 64 << 10
	highestStructure = 1<<48 - 1
)

// MethodTableAt returns the type with its MethodTable at a, an address from any source, and the proof: its
// EEClass or, if that is not in the dump, its module. It returns a *target.AddressError if a is not a
// MethodTable, with a *ForeignError for a MethodTable of another runtime. target.CorruptAddress makes an
// error of it for an address that the process's memory contains.
func (r *Runtime) MethodTableAt(a target.Addr) (*MethodTable, Proof, error) {
	mt, p, err := r.impl.methodTableAt(a)
	return mt, p, target.WrongAddress(err)
}

func (r clr) methodTableAt(a target.Addr) (*MethodTable, Proof, error) {
	mt, err := r.MethodTable(a)
	p := Proof{Strength: Consistent, By: "its EEClass"}
	partial := errors.Is(err, target.ErrNotInDump)
	if partial {
		mt, err = r.partialMethodTable(a)
		p.By = "its Module"
	}
	if err != nil {
		return nil, Proof{}, err
	}
	if !partial && !r.hasHome(mt) {
		return nil, Proof{}, notMethodTable(a)
	}
	listed, err := r.listedType(mt)
	switch {
	case listed:
		p = Proof{Strength: Listed, By: "the types of its module"}
	case err != nil && partial:
		return nil, Proof{}, err
	}
	return mt, p, nil
}

// hasHome reports whether the module or the base class of mt can be one. That excludes two structures that
// point at each other, as on a stack. One of the two suffices, so that damage does not hide a type.
func (r *Runtime) hasHome(mt *MethodTable) bool {
	if _, err := r.provenModule(mt.Module); mt.Addr == r.known.Free || !errors.Is(err, target.ErrCorrupt) {
		return true
	}
	if mt.Parent == 0 || mt.Parent == mt.Addr {
		return false
	}
	_, err := r.MethodTable(mt.Parent)
	return !errors.Is(err, target.ErrCorrupt)
}

// partialMethodTable reads a MethodTable without its EEClass in the dump. Its module is the proof.
func (r *Runtime) partialMethodTable(a target.Addr) (*MethodTable, error) {
	mt, err := r.TrustedMethodTable(a)
	if err != nil {
		return nil, err
	}
	if _, err := mt.ModuleAddr(); err != nil {
		return nil, err
	}
	if !canonical(mt.Module) || !canonical(mt.Canonical) || mt.Parent != 0 && !canonical(mt.Parent) {
		return nil, notMethodTable(a)
	}
	if _, err := r.provenModule(mt.Module); err != nil {
		if errors.Is(err, target.ErrCorrupt) {
			err = notMethodTable(a)
		}
		return nil, fmt.Errorf("MethodTable %016x: %w", uint64(a), err)
	}
	return mt, nil
}

// listedType reports whether the module of mt lists it under its token. Modules do not list instances and
// arrays. It returns target.ErrCorrupt if the module lists another type.
func (r *Runtime) listedType(mt *MethodTable) (bool, error) {
	if mt.IsArray() {
		return false, nil
	}
	m, err := r.ModuleOf(mt)
	if err != nil {
		return false, err
	}
	if !m.mayHave(mt.Token) {
		return false, notMethodTable(mt.Addr)
	}
	at, err := m.Lookup(MapTypeDef, mt.Token.Row())
	switch {
	case err != nil || at == 0:
		return false, ignoreMissing(err)
	case at == mt.Addr:
		return true, nil
	case mt.IsGeneric():
		return false, nil
	}
	return false, notMethodTable(mt.Addr)
}

// ignoreMissing returns err, or nil if err is target.ErrNotInDump.
func ignoreMissing(err error) error {
	if errors.Is(err, target.ErrNotInDump) {
		return nil
	}
	return err
}
