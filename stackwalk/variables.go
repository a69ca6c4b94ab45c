package stackwalk

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Variable is an argument or a local of an activation.
type Variable struct {
	Index int    // among the arguments, where this is the first, or among the locals
	Name  string // empty if neither metadata nor PDB has a name

	// Type is the declared type. Context is the meaning of its tokens and type parameters, as exact as the frame
	// allows. For this, Type is nil and Class is the MethodTable that declares the method.
	Type    *metadata.TypeSig
	Context dac.SigContext
	Class   target.Addr

	// Located is set if the compiler recorded the variable's place at the frame's instruction. Otherwise the
	// variable was optimised away or has no value here.
	Located  bool
	Location dac.VariableLocation
	// Addr is the place in memory, 0 for a variable in registers.
	Addr target.Addr

	// Err is why the place or type is unknown. It is nil for a variable without a place.
	Err error

	frame  *Frame
	reader *objects.Reader
	elem   metadata.ElementType
	typ    *objects.Type
}

var errNoPlace = target.Unsupportedf("the variable has no place here")

// Variables returns the arguments and locals of a managed activation. r reads their values.
//
// Names of arguments come from metadata. Names of locals come from the scopes of the module's portable PDB at the
// frame's instruction. If a method's IL or local signature is unreadable, Variables returns the arguments and an error.
func Variables(f *Frame, r *objects.Reader) (args, locals []Variable, err error) {
	if f.Kind != FrameManaged || f.Runtime == nil || f.Code.Method == nil || r == nil {
		return nil, nil, target.Unsupportedf("a frame of kind %v has no variables", f.Kind)
	}
	v := newVariables(f, r)
	if v.places, v.placesErr = v.code.Variables(f.Code); dac.NoDebugInfo(v.placesErr) {
		v.placesErr = nil
	}
	return v.read()
}

// Saved returns the arguments and locals that a method keeps while the runtime itself suspends it (runtime async),
// including variables without a value there. The values are in the object at continuation. at is the suspension point
// and saved its variables. r reads the values.
func Saved(r *objects.Reader, at dac.CodeInfo, continuation target.Addr, saved []dac.SavedVariable) (args, locals []Variable, err error) {
	if r == nil || at.Method == nil {
		return nil, nil, target.Unsupportedf("no method")
	}
	const base = target.Reg(0) // a register that holds the address of the continuation
	rt := r.Runtime()
	f := &Frame{Kind: FrameManaged, Exact: true, Runtime: rt, Code: at, Regs: target.Registers{Arch: rt.Target().Platform().Arch}}
	f.Regs.Set(base, uint64(continuation))
	v := newVariables(f, r)
	for _, s := range saved {
		v.places = append(v.places, codeinfo.Variable{Number: s.Number, Code: codeinfo.CodeRange{Start: at.Offset, End: at.Offset},
			Location: codeinfo.Location{Kind: codeinfo.LocStack, Base: base, Offset: int32(s.Offset)}})
	}
	return v.read()
}

func newVariables(f *Frame, r *objects.Reader) *variables {
	return &variables{frame: f, rt: f.Runtime, code: dac.CodeOf(f.Runtime), method: f.Code.Method, reader: r}
}

// read returns the arguments and locals, given the places in v.
func (v *variables) read() (args, locals []Variable, err error) {
	if args, err = v.arguments(); err != nil {
		return nil, nil, fmt.Errorf("arguments of method %016x: %w", uint64(v.method.Addr), err)
	}
	if locals, err = v.locals(len(args)); err != nil {
		return args, nil, fmt.Errorf("locals of method %016x: %w", uint64(v.method.Addr), err)
	}
	return args, locals, nil
}

// A variables holds the facts that the variables of a frame share.
type variables struct {
	frame  *Frame
	rt     *dac.Runtime
	code   *dac.CodeReader // of rt
	method *dac.MethodDesc
	reader *objects.Reader

	places    []codeinfo.Variable
	placesErr error
	context   dac.SigContext
}

func (v *variables) arguments() ([]Variable, error) {
	sig, md, err := v.method.Signature()
	if err != nil {
		return nil, err
	}
	v.context = frameContext(v.frame, v.places, sig.Conv.HasThis())
	params := sig.FixedParams()
	var out []Variable
	first := 0
	if sig.Conv.HasThis() {
		first = 1
		out = append(out, v.this())
	}
	names, err := v.parameterNames(md, len(params))
	if err != nil {
		return nil, err
	}
	for i := range params {
		out = append(out, v.variable(first+i, first+i, names[i], &params[i]))
	}
	return out, nil
}

// this returns the first argument of an instance method. For a struct's method it is the address of the struct.
func (v *variables) this() Variable {
	a := Variable{Name: "this", Class: v.method.MethodTable, elem: metadata.ElementClass, frame: v.frame, reader: v.reader}
	if mt, err := v.rt.MethodTable(a.Class); err == nil && mt.IsValueType() {
		a.elem = metadata.ElementByRef
	}
	v.locate(&a, 0)
	return a
}

// parameterNames returns the names of the n parameters. A parameter without a name in metadata is empty.
func (v *variables) parameterNames(md *metadata.Metadata, n int) ([]string, error) {
	names := make([]string, n)
	rid := v.method.Token.Row()
	if md == nil || rid == 0 {
		return names, nil
	}
	rows, err := md.Params(rid)
	if err != nil {
		return nil, err
	}
	for rid, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		row, err := md.Param(rid)
		if err != nil {
			return nil, err
		}
		if row.Sequence == 0 || int(row.Sequence) > n {
			continue
		}
		if names[row.Sequence-1], err = md.String(row.Name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// locals returns the locals. Their numbers follow the numbers of the args arguments.
func (v *variables) locals(args int) ([]Variable, error) {
	if v.method.Kind != dac.MethodIL && v.method.Kind != dac.MethodInstantiated || v.method.Token.Row() == 0 {
		return nil, nil
	}
	body, err := v.code.IL(v.method)
	if err != nil || body.LocalSig.IsNil() {
		return nil, err
	}
	types, err := v.localTypes(body.LocalSig)
	if err != nil {
		return nil, err
	}
	names := v.localNames()
	out := make([]Variable, 0, len(types))
	for i := range types {
		out = append(out, v.variable(i, args+i, names[i], &types[i]))
	}
	return out, nil
}

func (v *variables) localTypes(t metadata.Token) ([]metadata.TypeSig, error) {
	md, err := v.method.Metadata()
	if err != nil {
		return nil, err
	}
	return md.LocalSig(t.Row())
}

// variable returns the variable with a number of the compiler.
func (v *variables) variable(index, number int, name string, sig *metadata.TypeSig) Variable {
	out := Variable{Index: index, Name: name, Type: sig, Context: v.context, frame: v.frame, reader: v.reader}
	out.elem, out.typ, out.Err = v.elementOf(sig)
	v.locate(&out, int32(number))
	return out
}

// elementOf returns how values of a type are stored.
func (v *variables) elementOf(sig *metadata.TypeSig) (metadata.ElementType, *objects.Type, error) {
	sig = sig.Unmodified()
	kind := sig.Kind
	if kind == metadata.ElementGenericInst {
		kind = sig.Elem.Kind
	}
	switch kind {
	case metadata.ElementValueType, metadata.ElementVar, metadata.ElementMVar, metadata.ElementInternal, metadata.ElementTypedByRef:
	default:
		return kind, nil, nil
	}
	t, err := v.loadedType(sig)
	if err != nil || t == nil {
		return metadata.ElementValueType, nil, err
	}
	et, err := t.ElementType()
	return et, t, err
}

// loadedType returns the type that a signature describes, or nil if it is not loaded.
func (v *variables) loadedType(sig *metadata.TypeSig) (*objects.Type, error) {
	th, err := v.rt.ResolveType(sig, v.context)
	if err == nil && th != 0 {
		th, err = v.rt.TypeHandleMethodTable(th)
	}
	if err != nil || th == 0 {
		return nil, err
	}
	return v.reader.TrustedType(th)
}

func (v *variables) locate(out *Variable, number int32) {
	if v.placesErr != nil {
		out.Err = v.placesErr
		return
	}
	out.Location, out.Located = codeinfo.Locate(v.places, number, v.frame.Code.Offset)
	if out.Located {
		out.Addr, _ = out.Location.Address(&v.frame.Regs)
	}
}

// Stored returns the kind of the value as it is stored: a reference, a number, a struct …
func (a *Variable) Stored() objects.Kind { return a.reader.ValueOf(a.elem, 0, a.typ).Kind() }

// Split reports whether the variable is in two places at once.
func (a *Variable) Split() bool {
	switch a.Location.Kind {
	case codeinfo.LocRegisterRegister, codeinfo.LocRegisterStack, codeinfo.LocStackRegister:
		return a.Located
	}
	return false
}

// Register returns the name of the register that holds the variable, or "".
func (a *Variable) Register() string {
	if !a.Located || a.Location.Kind != codeinfo.LocRegister || a.frame == nil {
		return ""
	}
	return target.RegName(a.frame.Regs.Arch, a.Location.Reg)
}

// TypeName returns the name of the declared type.
func (a *Variable) TypeName(style dac.NameStyle) (string, error) {
	if a.frame == nil {
		return "", errNoPlace
	}
	if a.Type == nil {
		return a.frame.Runtime.TypeName(a.Class, style)
	}
	return a.frame.Runtime.SigTypeName(a.Type, a.Context, style)
}

// Value reads the variable. The error is target.ErrUnsupported if the variable has no place.
func (a *Variable) Value() (objects.Value, error) {
	if a.Err != nil {
		return objects.Value{}, a.Err
	}
	at, err := a.storage()
	if err != nil {
		return objects.Value{}, err
	}
	if at != 0 {
		v := a.reader.ValueAt(a.elem, at, a.typ)
		return v, v.Err()
	}
	bits, err := a.register()
	if err != nil && a.Location.Kind == codeinfo.LocRegisterFloat {
		bits, err = a.vector()
	}
	if err != nil {
		return objects.Value{}, err
	}
	v := a.reader.ValueOf(a.elem, bits, a.typ)
	return v, v.Err()
}

// vector returns the number in the vector register that holds the variable. In the frame where the thread stopped, all
// vector registers are known; in its callers, only preserved ones.
func (a *Variable) vector() (uint64, error) {
	if a.elem != metadata.ElementR4 && a.elem != metadata.ElementR8 {
		return 0, target.Unsupportedf("a value of type %#x in a vector register", a.elem)
	}
	if v, ok := a.frame.Regs.VectorLow(int(a.Location.Reg) - int(codeinfo.XMM0)); ok {
		return v, nil
	}
	return 0, target.Unsupportedf("the variable is in a vector register that the frame does not know")
}

// storage returns the address of the value, or 0 if the value is in a register.
func (a *Variable) storage() (target.Addr, error) {
	switch {
	case !a.Located:
		return 0, errNoPlace
	case a.Split():
		return 0, target.Unsupportedf("the variable is in two places")
	case a.Location.Kind == codeinfo.LocStackByRef && a.Addr != 0:
		return target.Pointer(a.frame.Runtime.Memory(), a.Addr)
	}
	return a.Addr, nil
}

// register returns the content of the register that holds the variable.
func (a *Variable) register() (uint64, error) {
	if a.Location.Kind == codeinfo.LocRegister {
		if bits, ok := a.frame.Regs.Get(a.Location.Reg); ok {
			return bits, nil
		}
	}
	return 0, target.Unsupportedf("the variable is in a register that the frame does not know")
}

// Word returns the number in the variable's place. It has the size of the variable's type if that is a number, a
// Boolean or a character, and eight bytes otherwise. Debuggers that ignore types print it. For an enum or struct the
// value may have another size.
func (a *Variable) Word() (uint64, error) {
	if !a.Located {
		if a.Err != nil {
			return 0, a.Err
		}
		return 0, errNoPlace
	}
	if a.Addr != 0 {
		return a.reader.ValueAt(a.wordType(), a.Addr, nil).Bits()
	}
	bits, err := a.register()
	if err != nil {
		return 0, err
	}
	return a.reader.ValueOf(a.wordType(), bits, nil).Bits()
}

// Size returns the number of bytes of Word.
func (a *Variable) Size() int {
	return a.reader.ValueOf(a.wordType(), 0, nil).Size()
}

func (a *Variable) wordType() metadata.ElementType {
	if a.elem.IsPrimitive() && (a.typ == nil || !a.typ.IsEnum()) {
		return a.elem
	}
	return metadata.ElementU8
}
