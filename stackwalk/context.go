package stackwalk

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// frameContext returns the meaning of the type parameters in the signatures of f's method. Shared code gets its exact
// type arguments, or the shared ones if the frame no longer has them. places are the places of the method's variables.
func frameContext(f *Frame, places []codeinfo.Variable, this bool) dac.SigContext {
	rt, m := f.Runtime, f.Code.Method
	var c dac.SigContext
	c.Module, _ = m.Module()
	c.MethodArgs, _ = m.TypeArguments()
	mt, err := rt.MethodTable(m.MethodTable)
	if err != nil {
		return c
	}
	c.TypeArgs, _ = rt.TypeArguments(mt)
	if len(c.TypeArgs) == 0 && len(c.MethodArgs) == 0 {
		return c
	}
	kind, a, err := genericContext(f)
	if err != nil || a == 0 {
		kind, a = contextVariable(f, places, this && !mt.IsValueType(), len(c.MethodArgs) > 0)
	}
	if a == 0 {
		return c
	}
	switch kind {
	case codeinfo.ContextMethodTable:
		c.TypeArgs = argumentsOf(rt, a, mt, c.TypeArgs)
	case codeinfo.ContextThis:
		if object, err := rt.ObjectMethodTable(a); err == nil {
			c.TypeArgs = argumentsOf(rt, object, mt, c.TypeArgs)
		}
	case codeinfo.ContextMethodDesc:
		if exact, err := dac.CodeOf(rt).TrustedMethodDesc(a); err == nil {
			c.TypeArgs = argumentsOf(rt, exact.MethodTable, mt, c.TypeArgs)
			if args, err := exact.TypeArguments(); err == nil {
				c.MethodArgs = args
			}
		}
	}
	return c
}

// contextVariable finds the generic context among the variables, for methods with a context that the garbage collector
// does not need. It is the hidden argument, or else this.
func contextVariable(f *Frame, places []codeinfo.Variable, this, generic bool) (codeinfo.GenericContext, target.Addr) {
	if a := placeWord(f, places, codeinfo.VarTypeArg); a != 0 && generic {
		return codeinfo.ContextMethodDesc, a
	} else if a != 0 {
		return codeinfo.ContextMethodTable, a
	}
	if !this {
		return codeinfo.ContextNone, 0
	}
	return codeinfo.ContextThis, placeWord(f, places, 0)
}

// placeWord returns the pointer in a variable's place, or 0.
func placeWord(f *Frame, places []codeinfo.Variable, number int32) target.Addr {
	l, ok := codeinfo.Locate(places, number, f.Code.Offset)
	if !ok {
		return 0
	}
	if l.Kind == codeinfo.LocRegister {
		v, _ := f.Regs.Get(l.Reg)
		return target.Addr(v)
	}
	a, ok := l.Address(&f.Regs)
	if !ok {
		return 0
	}
	p, err := target.Pointer(f.Runtime.Memory(), a)
	if err != nil {
		return 0
	}
	return p
}

// genericContext reads the generic context that f's method keeps in its frame. It is a MethodTable, a MethodDesc or an
// object, depending on the kind, and 0 if it is unknown.
func genericContext(f *Frame) (codeinfo.GenericContext, target.Addr, error) {
	var d codeinfo.GCDecoder
	err := dac.CodeOf(f.Runtime).DecodeGCInfo(&d, f.Code)
	place, ok := d.ContextPlace()
	if err != nil || !ok {
		return codeinfo.ContextNone, 0, err
	}
	if f.Code.Offset < d.PrologSize {
		return d.Context, 0, nil // not stored yet
	}
	if place.Base == codeinfo.BaseCallerSP && f.Code.Funclet {
		return d.Context, 0, nil // a funclet's caller is not its method's caller
	}
	at, ok := place.Address(&f.Regs, f.CallerSP)
	if !ok {
		return d.Context, 0, nil
	}
	a, err := target.Pointer(f.Runtime.Memory(), at)
	return d.Context, a, err
}

// argumentsOf returns the type arguments of exact, or of the base class of exact that shares the code of mt. If neither
// does, it returns otherwise.
func argumentsOf(rt *dac.Runtime, exact target.Addr, mt *dac.MethodTable, otherwise []target.Addr) []target.Addr {
	for range limits.ParentChain {
		t, err := rt.MethodTable(exact)
		if err != nil {
			return otherwise
		}
		if t.Canonical == mt.Canonical {
			if args, err := rt.TypeArguments(t); err == nil {
				return args
			}
			return otherwise
		}
		if exact = t.Parent; exact == 0 {
			return otherwise
		}
	}
	return otherwise
}
