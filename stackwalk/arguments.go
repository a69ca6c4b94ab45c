package stackwalk

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// This file finds the arguments that an explicit frame of a stub keeps. The called method has not started, because it
// is being compiled or resolved, so nothing else refers to the arguments (callingconvention.h, ArgIterator).

// A heldSlot is a word that holds a reference.
type heldSlot struct {
	at       target.Addr
	interior bool
}

// ErrUncalled is the error of a stub's frame whose method is not resolved yet: which of the words of its call are references is not known.
var ErrUncalled = target.Unsupportedf("the called method is not known yet")

// heldArguments returns the references among the arguments of a call to the method of an explicit frame. If the place
// of an argument is unknown, it returns an error and the references before it.
func heldArguments(f *Frame, area dac.ArgumentArea, abi *target.ABI) ([]heldSlot, error) {
	md, err := f.Method()
	if err != nil {
		return nil, err
	}
	if md == nil {
		return nil, ErrUncalled
	}
	a := &arguments{rt: f.Runtime, abi: abi, area: area, method: md, reader: objects.New(f.Runtime)}
	err = a.collect()
	return a.slots, err
}

// An arguments iterates over the arguments of a call.
type arguments struct {
	rt      *dac.Runtime
	abi     *target.ABI
	area    dac.ArgumentArea
	method  *dac.MethodDesc
	reader  *objects.Reader
	context dac.SigContext

	integers, floats, words int // registers and stack words taken so far
	slots                   []heldSlot
}

// collect finds the arguments in the order of the calling convention: this, the address of the result, the generic
// context, and the arguments of the signature.
func (a *arguments) collect() error {
	sig, _, err := a.method.Signature()
	if err != nil {
		return err
	}
	if k := sig.Conv.Kind(); k == metadata.CallVarArg || k == metadata.CallNativeVarArg {
		return target.Unsupportedf("arguments of a variadic call")
	}
	mt, err := a.rt.MethodTable(a.method.MethodTable)
	if err != nil {
		return err
	}
	if a.context.Module, err = a.method.Module(); err != nil {
		return err
	}
	if a.context.MethodArgs, err = a.method.TypeArguments(); err != nil {
		return err
	}
	if a.context.TypeArgs, err = a.rt.TypeArguments(mt); err != nil {
		return err
	}
	if sig.Conv.HasThis() {
		a.hold(a.takeInteger(), mt.IsValueType())
	}
	buffer, err := a.returnsByBuffer(&sig.Return)
	if err != nil {
		return err
	}
	if buffer {
		a.takeInteger()
	}
	shared, err := a.hasContext(mt)
	if err != nil {
		return err
	}
	if shared {
		a.takeInteger()
	}
	for i := range sig.Params {
		if err := a.addArgument(&sig.Params[i]); err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
	}
	return nil
}

// hasContext reports whether the call passes a generic context. It does if instances share the method's code and this
// does not identify the instance (MethodDesc::RequiresInstArg).
func (a *arguments) hasContext(mt *dac.MethodTable) (bool, error) {
	if !mt.IsShared() {
		shared, err := a.sharedArgument()
		return shared, err
	}
	return len(a.context.MethodArgs) > 0 || a.method.IsStatic() || mt.IsValueType() || mt.IsInterface(), nil
}

// sharedArgument stands for a reference type in the names of shared code.
const sharedArgument = "System.__Canon"

// sharedArgument reports whether a type argument of the method is, or contains, System.__Canon.
func (a *arguments) sharedArgument() (bool, error) {
	for _, th := range a.context.MethodArgs {
		name, err := a.rt.TypeName(th, dac.NameManaged)
		if err != nil || strings.Contains(name, sharedArgument) {
			return err == nil, err
		}
	}
	return false, nil
}

// returnsByBuffer reports whether the caller passes the address for the result.
func (a *arguments) returnsByBuffer(sig *metadata.TypeSig) (bool, error) {
	if a.abi.ResultBuffer != target.NoReg {
		return false, nil // in a register that is not used for arguments
	}
	v, err := a.value(sig)
	if err != nil || v == nil {
		return sig.Unmodified().Kind == metadata.ElementTypedByRef, err
	}
	if a.abi.ArgumentSlots {
		return !fitsSlot(v.size), nil
	}
	_, ok, err := v.registers()
	return !ok, err
}

// takeInteger takes the place of the next argument that is not a floating-point number.
func (a *arguments) takeInteger() target.Addr {
	if a.abi.ArgumentSlots {
		return a.takeWord()
	}
	if a.integers == len(a.abi.Arguments) {
		return a.takeWord()
	}
	a.integers++
	return a.area.Registers + target.Addr(8*(a.integers-1))
}

// takeWord takes the next word of the stack, or the next slot if arguments have slots.
func (a *arguments) takeWord() target.Addr {
	a.words++
	return a.area.Stack + target.Addr(8*(a.words-1))
}

// takeFloat takes the place of the next floating-point number.
func (a *arguments) takeFloat() {
	if !a.abi.ArgumentSlots && a.floats < a.abi.FloatArguments {
		a.floats++
		return
	}
	a.takeWord()
}

func (a *arguments) hold(at target.Addr, interior bool) {
	a.slots = append(a.slots, heldSlot{at, interior})
}

// addArgument takes the place of an argument and records the references in it.
func (a *arguments) addArgument(sig *metadata.TypeSig) error {
	kind := sig.Unmodified().Kind
	if kind == metadata.ElementTypedByRef {
		return target.Unsupportedf("a TypedReference")
	}
	v, err := a.value(sig)
	if err != nil {
		return err
	}
	if v != nil {
		return a.addStruct(v)
	}
	switch kind {
	case metadata.ElementR4, metadata.ElementR8:
		a.takeFloat()
	case metadata.ElementByRef:
		a.hold(a.takeInteger(), true)
	case metadata.ElementString, metadata.ElementClass, metadata.ElementObject, metadata.ElementArray, metadata.ElementSZArray,
		metadata.ElementGenericInst, metadata.ElementVar, metadata.ElementMVar, metadata.ElementInternal:
		a.hold(a.takeInteger(), false)
	default:
		a.takeInteger()
	}
	return nil
}

// A structValue is an argument or result that is a struct.
type structValue struct {
	typ    *objects.Type
	size   uint64
	leaves []objects.Leaf
}

// value returns the struct that a signature describes, or nil for other types.
func (a *arguments) value(sig *metadata.TypeSig) (*structValue, error) {
	sig = sig.Unmodified()
	kind := sig.Kind
	if kind == metadata.ElementGenericInst {
		kind = sig.Elem.Kind
	}
	switch kind {
	case metadata.ElementValueType, metadata.ElementVar, metadata.ElementMVar, metadata.ElementInternal:
	default:
		return nil, nil
	}
	th, err := a.rt.ResolveType(sig, a.context)
	if err == nil && th != 0 {
		th, err = a.rt.TypeHandleMethodTable(th)
	}
	if err == nil && th == 0 {
		err = target.Unsupportedf("its type is not loaded")
	}
	if err != nil {
		return nil, err
	}
	t, err := a.reader.TrustedType(th)
	if err != nil || !t.MT.IsValueType() {
		return nil, err
	}
	v := &structValue{typ: t}
	if v.leaves, err = t.Leaves(); err != nil {
		return nil, err
	}
	v.size = sizeOf(t, v.leaves)
	return v, nil
}

// sizeOf returns the size of a struct: the extent of its leaves, or its declared size if that is larger. The size of a
// box includes padding.
func sizeOf(t *objects.Type, leaves []objects.Leaf) uint64 {
	size, align := uint64(1), uint64(1)
	for _, l := range leaves {
		size, align = max(size, l.Offset+l.Size()), max(align, l.Size())
	}
	size = (size + align - 1) / align * align
	if boxed := max(uint64(t.MT.BaseSize), boxBytes) - boxBytes; boxed >= size+8 {
		return boxed
	}
	return size
}

// fitsSlot reports whether a struct of that size is passed in a slot.
func fitsSlot(size uint64) bool { return size <= 8 && size&(size-1) == 0 }

// addStruct takes the places of a struct and records the references in it.
func (a *arguments) addStruct(v *structValue) error {
	if a.abi.ArgumentSlots {
		if at := a.takeWord(); fitsSlot(v.size) {
			a.addReferences(v, at, 0, 8)
		} else {
			a.hold(at, true) // address of a copy
		}
		return nil
	}
	if a.abi.Aggregates {
		a.addAggregate(v)
		return nil
	}
	eightbytes, ok, err := v.registers()
	if err != nil {
		return err
	}
	integers, floats := 0, 0
	for _, float := range eightbytes {
		if float {
			floats++
		} else {
			integers++
		}
	}
	if !ok || a.integers+integers > len(a.abi.Arguments) || a.floats+floats > a.abi.FloatArguments {
		at := a.takeWord()
		a.words += int((v.size+7)/8) - 1
		a.addReferences(v, at, 0, v.size)
		return nil
	}
	for i, float := range eightbytes {
		if float {
			a.takeFloat()
			continue
		}
		from := uint64(8 * i)
		a.addReferences(v, a.takeInteger(), from, from+8)
	}
	return nil
}

// addAggregate takes the places of a struct if the ABI has Aggregates. A struct that no longer fits in the registers of
// its kind uses up the rest of them (Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2).
func (a *arguments) addAggregate(v *structValue) {
	words := int(v.size+7) / 8
	floats := v.homogeneous()
	switch {
	case floats > 0 && a.floats+floats <= a.abi.FloatArguments:
		a.floats += floats
	case floats > 0:
		a.floats = a.abi.FloatArguments
		a.words += words
	case v.size > 16:
		a.hold(a.takeInteger(), true) // address of a copy
	case a.integers+words <= len(a.abi.Arguments):
		for i := range words {
			from := uint64(8 * i)
			a.addReferences(v, a.takeInteger(), from, from+8)
		}
	default:
		a.integers = len(a.abi.Arguments)
		at := a.takeWord()
		a.words += words - 1
		a.addReferences(v, at, 0, v.size)
	}
}

// homogeneous returns the number of floating-point numbers in a struct of one to four numbers of one type, and 0 for
// other structs.
func (v *structValue) homogeneous() int {
	n := len(v.leaves)
	if n == 0 || n > 4 || uint64(n)*v.leaves[0].Size() != v.size {
		return 0
	}
	for _, l := range v.leaves {
		if l.Type != v.leaves[0].Type || l.Type != metadata.ElementR4 && l.Type != metadata.ElementR8 {
			return 0
		}
	}
	return n
}

// addReferences records the references among a struct's leaves between two offsets. at is the address of the first
// offset.
func (a *arguments) addReferences(v *structValue, at target.Addr, from, to uint64) {
	for _, l := range v.leaves {
		if l.Offset < from || l.Offset >= to {
			continue
		}
		switch interior := l.Type == metadata.ElementByRef; {
		case interior, l.IsReference():
			a.hold(at+target.Addr(l.Offset-from), interior)
		}
	}
}

// registers returns the kind of register for each eightbyte of a struct under the System V convention, true for
// floating-point. ok is false if the struct is passed on the stack (System V ABI 3.2.3; methodtable.cpp,
// ClassifyEightBytes).
func (v *structValue) registers() ([]bool, bool, error) {
	if v.size > 16 {
		return nil, false, nil
	}
	type class struct{ known, integer bool }
	var classes [2]class
	for _, l := range v.leaves {
		n := l.Size()
		if l.Offset%n != 0 || l.Offset+n > 16 {
			return nil, false, nil
		}
		c := &classes[l.Offset/8]
		c.known = true
		c.integer = c.integer || l.Type != metadata.ElementR4 && l.Type != metadata.ElementR8
	}
	var out []bool
	for i := range (v.size + 7) / 8 {
		if !classes[i].known {
			name, err := v.typ.ManagedName()
			if err == nil {
				err = target.Unsupportedf("how %s is passed: some of its bytes belong to no field", name)
			}
			return nil, false, err
		}
		out = append(out, !classes[i].integer)
	}
	return out, true, nil
}
