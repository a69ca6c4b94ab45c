package dac

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// A Strength says how sure it is that a structure of the runtime lies at an
// address. What is contradicted has none: it is target.ErrCorrupt.
type Strength uint8

// The strengths.
const (
	// Unproven is what nothing contradicts, but whose proof the dump lacks: it is
	// believed of an address that the runtime's own structures name, and is
	// target.ErrNotInDump for any other.
	Unproven Strength = iota
	// Consistent is what its neighbours name back.
	Consistent
	// Listed is what a list or map of the runtime has, which was reached from the
	// runtime's variables.
	Listed
)

func (s Strength) String() string {
	if s <= Listed {
		return [...]string{"unproven", "consistent", "listed"}[s]
	}
	return fmt.Sprintf("Strength(%d)", uint8(s))
}

// A Proof says why an address is believed to hold a structure of the runtime.
// Where a structure is asked for by an address of whatever origin, the one
// function that gives it (Runtime.Module, MethodTableAt, FieldDesc, code.Reader's
// MethodDesc …) wants one; those with Trusted in their name are for addresses
// that the runtime's structures name, and demand only that nothing contradicts.
type Proof struct {
	Strength Strength
	By       string // what proves it, in words: "the list of assemblies"
	Missing  error  // of what is unproven: the memory that would tell
}

// Unproven is the error for what is only trusted, nil for what is proved.
func (p Proof) Unproven() error {
	switch {
	case p.Strength > Unproven:
		return nil
	case p.Missing != nil:
		return p.Missing
	}
	return target.ErrNotInDump
}

// A ForeignError says that a structure belongs to another CLR of the process. It
// is target.ErrCorrupt: for this one the address is wrong.
type ForeignError struct {
	Addr  target.Addr
	What  string    // "MethodTable"
	Owner *Instance // whose it is
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%016x is a %s of the other runtime %s: use -runtime %d", uint64(e.Addr), e.What, e.Owner.Title(), e.Owner.Index)
}

// Unwrap makes it target.ErrCorrupt.
func (e *ForeignError) Unwrap() error { return target.ErrCorrupt }

// owner is the CLR of the process, another one than r's, whose image has the
// vtable that the first word of the Module at a points to; nil for none.
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

// Where structures of a 64-bit process can lie, on x64 and ARM64: not in the first
// pages, which systems keep free, nor where user space ends.
const (
	lowestStructure  = 64 << 10
	highestStructure = 1<<48 - 1
)

// MethodTableAt returns the type whose MethodTable is at a, an address of
// whatever origin, with what proves it: its EEClass, or where the dump lacks that,
// the module that it says it is of. An address that holds no MethodTable is
// target.ErrCorrupt, one of another CLR a *ForeignError.
func (r *Runtime) MethodTableAt(a target.Addr) (*MethodTable, Proof, error) {
	if r.native != nil {
		return r.nativeMethodTableAt(a)
	}
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

// hasHome reports whether the module or the base class of mt may be one: two
// structures that point at each other, as on a stack, are no type and its class. One
// of the two is enough, so that damage to a type does not hide it.
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

// partialMethodTable reads a MethodTable whose EEClass the dump lacks. That its
// module is one is then the proof.
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

// listedType reports whether the module of mt has it by its token. An instance or
// an array is in no such list. With an error that is target.ErrCorrupt the list
// has something else.
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

// ignoreMissing is err, unless the dump lacks what was asked for.
func ignoreMissing(err error) error {
	if errors.Is(err, target.ErrNotInDump) {
		return nil
	}
	return err
}
