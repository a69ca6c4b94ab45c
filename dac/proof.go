package dac

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/target"
)

// A Strength is the certainty that a structure of the runtime is at an address. A contradicted structure has none: it is target.ErrCorrupt.
type Strength uint8

// The strengths.
const (
	// Unproven: nothing contradicts, but the dump lacks the proof. Such a structure is accepted at an address that the
	// runtime's own structures refer to; any other address is target.ErrNotInDump.
	Unproven Strength = iota
	// Consistent: the structures that it refers to refer back.
	Consistent
	// Listed: a list or map of the runtime contains it, reached from the runtime's variables.
	Listed
)

var strengthNames = [...]string{"unproven", "consistent", "listed"}

func (s Strength) String() string { return enum.Name(strengthNames[:], s, "Strength") }

// A Proof is the reason to accept an address as a structure of the runtime. For an address from any source, one function per structure
// (Runtime.Module, MethodTableAt, FieldDesc, code.Reader's MethodDesc …) requires a proof. Functions with Trusted in their name are for
// addresses that the runtime's structures refer to, and require only that nothing contradicts.
type Proof struct {
	Strength Strength
	By       string // the proof in words: "the list of assemblies"
	Missing  error  // the missing memory of an unproven structure
}

// Unproven returns the error for a structure that is only trusted, nil for a proved one.
func (p Proof) Unproven() error {
	switch {
	case p.Strength > Unproven:
		return nil
	case p.Missing != nil:
		return p.Missing
	}
	return target.ErrNotInDump
}

// A ForeignError means that a structure belongs to another CLR of the process. It is a target.ErrCorrupt: the address
// is wrong for this one.
type ForeignError struct {
	Addr  target.Addr
	What  string    // "MethodTable"
	Owner *Instance // the CLR that owns the structure
}

func (e *ForeignError) Error() string {
	if e.Owner == nil {
		return fmt.Sprintf("%016x is a %s of another runtime", uint64(e.Addr), e.What)
	}
	return fmt.Sprintf("%016x is a %s of the other runtime %s: use -runtime %d", uint64(e.Addr), e.What, e.Owner.Title(), e.Owner.Index)
}

// Unwrap makes it target.ErrCorrupt.
func (e *ForeignError) Unwrap() error { return target.ErrCorrupt }

// owner returns the other CLR of the process whose image has the vtable of the Module at a, or nil.
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

// canonical reports whether a can be the address of a structure of the runtime:
// aligned, and in the range that processes have.
func canonical(a target.Addr) bool { return a%8 == 0 && a >= lowestStructure && a <= highestStructure }

// The range of a 64-bit process's structures on x64 and ARM64: above the first pages, which systems keep free, and
// below the end of user space.
const (
	lowestStructure  = 64 << 10
	highestStructure = 1<<48 - 1
)

// MethodTableAt returns the type whose MethodTable is at a, an address from any source, with its proof: its EEClass, or
// if the dump lacks that, its module. The error is target.ErrCorrupt for an address without a MethodTable, and a
// *ForeignError for a MethodTable of another CLR.
func (r *Runtime) MethodTableAt(a target.Addr) (*MethodTable, Proof, error) {
	return r.of().methodTableAt(a)
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

// hasHome reports whether the module or the base class of mt can be one. Two structures that point at each other, as on
// a stack, are no type and class. One of the two is enough, so that damage to a type does not hide it.
func (r *Runtime) hasHome(mt *MethodTable) bool {
	if _, err := r.Module(mt.Module); mt.Addr == r.known.Free || !errors.Is(err, target.ErrCorrupt) {
		return true
	}
	if mt.Parent == 0 || mt.Parent == mt.Addr {
		return false
	}
	_, err := r.MethodTable(mt.Parent)
	return !errors.Is(err, target.ErrCorrupt)
}

// partialMethodTable reads a MethodTable whose EEClass the dump lacks. Its module is the proof then.
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
	if _, err := r.Module(mt.Module); err != nil {
		if errors.Is(err, target.ErrCorrupt) {
			err = notMethodTable(a)
		}
		return nil, fmt.Errorf("MethodTable %016x: %w", uint64(a), err)
	}
	return mt, nil
}

// listedType reports whether the module of mt has it by its token. An instance or an array is in no such list. With an error that is
// target.ErrCorrupt the list has something else.
func (r *Runtime) listedType(mt *MethodTable) (bool, error) {
	if mt.IsArray() {
		return false, nil
	}
	m, err := r.ModuleOf(mt)
	if err != nil {
		return false, err
	}
	if !m.MayHave(mt.Token) {
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

// ignoreMissing returns err, or nil if the dump lacks the memory.
func ignoreMissing(err error) error {
	if errors.Is(err, target.ErrNotInDump) {
		return nil
	}
	return err
}
