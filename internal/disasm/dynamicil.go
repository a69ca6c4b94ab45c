package disasm

import (
	"errors"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Fields of a DynamicMethod and its parts (System.Reflection.Emit). The resolver has the code and the scope. The
// scope's list has the objects that tokens number. If a field was renamed, its older name comes second.
var (
	resolverFields = []string{"_resolver", "m_resolver"}
	codeField      = "m_code"
	scopeField     = "m_scope"
	tokensField    = "m_tokens"
	itemsField     = "_items"
)

const resolverType = "System.Reflection.Emit.DynamicResolver"

// dynamicIL lists the IL of a DynamicMethod, given its MethodDesc, its object or its resolver. It is nil for other
// methods.
func (l *Lister) dynamicIL(a target.Addr) (*answer.IL, error) {
	resolver, m, err := l.dynamicResolver(a)
	if err != nil || resolver == nil {
		return nil, err
	}
	body, err := byteArray(resolver.Field(codeField))
	if err != nil {
		return nil, err
	}
	items, itemsErr := scopeItems(resolver)
	var out *answer.IL
	b := &ilBody{MethodBody: metadata.MethodBody{Code: body}}
	b.name = func(t metadata.Token) (answer.ILToken, error) {
		name, err := l.dynamicToken(items, t)
		if itemsErr == nil { // otherwise itemsErr was noted
			out.Note(err)
		}
		return answer.ILToken{Before: name}, nil
	}
	out = b.list()
	out.Dynamic, out.Items = true, out.Pointer(items.Addr, itemsErr)
	out.Name = answer.Missing[string](errUnnamed)
	if m != nil {
		out.MethodDesc, out.Name = m.Addr, answer.Of(l.code.MethodName(m, dac.MethodFull))
	}
	return out, nil
}

// dynamicResolver returns the resolver object for a, or nil if a is not a dynamic method.
func (l *Lister) dynamicResolver(a target.Addr) (*objects.Object, *dac.MethodDesc, error) {
	m, err := l.code.MethodDesc(a)
	if err == nil {
		if lcg, err := m.IsLCG(); err != nil || !lcg {
			return nil, nil, err
		}
		at, err := l.code.DynamicResolver(m)
		if err != nil {
			return nil, nil, err
		}
		o, err := l.objects.TrustedObject(at)
		return &o, m, err
	}
	o, err := l.objects.TrustedObject(a)
	if err != nil {
		return nil, nil, nil
	}
	for range 3 { // an RTDynamicMethod, the DynamicMethod, the resolver
		if name, _ := l.rt.TypeName(o.Type.MT.Addr, dac.NameNative); name == resolverType {
			return &o, nil, nil
		}
		next, ok := firstObject(o, append(resolverFields, "_owner", "m_owner"))
		if !ok {
			return nil, nil, nil
		}
		o = next
	}
	return nil, nil, nil
}

// firstObject returns the object that the first existing field of o refers to.
func firstObject(o objects.Object, fields []string) (objects.Object, bool) {
	for _, f := range fields {
		if v, err := o.Field(f).Object(); err == nil && v.Addr != 0 {
			return v, true
		}
	}
	return objects.Object{}, false
}

// byteArray copies an array of bytes.
func byteArray(v objects.Value) ([]byte, error) {
	o, err := v.Object()
	if err != nil {
		return nil, err
	}
	a, err := o.Array()
	if err != nil {
		return nil, err
	}
	if a.Len > limits.ILBytes {
		return nil, target.Corruptf("an array of %d bytes of IL", a.Len)
	}
	out := make([]byte, 0, min(a.Len, 4<<10)) // the length may be corrupt
	for v, err := range a.Stored(a.Len) {
		if err != nil {
			return nil, err
		}
		b, err := v.Bits()
		if err != nil {
			return nil, err
		}
		out = append(out, byte(b))
	}
	return out, nil
}

// scopeItems returns the array of objects in the scope's list.
func scopeItems(resolver *objects.Object) (objects.Object, error) {
	scope, err := resolver.Field(scopeField).Object()
	if err != nil {
		return objects.Object{}, err
	}
	tokens, err := scope.Field(tokensField).Object()
	if err != nil {
		return objects.Object{}, err
	}
	return tokens.Field(itemsField).Object()
}

// dynamicToken returns the name of a dynamic method's token: "6000002 Ns.Type.Name()". With an error it returns the
// known part: the number, and the address of its object.
func (l *Lister) dynamicToken(items objects.Object, t metadata.Token) (string, error) {
	text := strconv.FormatUint(uint64(t), 16)
	a, err := items.Array()
	if err != nil {
		return text, err
	}
	o, err := a.At(t.Row()).Object()
	if err != nil || o.Addr == 0 {
		return text, err
	}
	name, err := l.dynamicItem(o)
	if name == "" {
		return text + " (" + o.Addr.String() + ")", err
	}
	return text + " " + name, err
}

// dynamicItem returns the name of a token's object: a literal, or a handle of a method, type or field. It is empty for
// other objects.
func (l *Lister) dynamicItem(o objects.Object) (string, error) {
	if o.IsString() {
		_, err := o.Text(0)
		return o.Inline(-1), err
	}
	h, err := handleIn(o)
	if h == 0 || err != nil {
		return "", err
	}
	m, err := l.code.MethodDesc(h)
	if err == nil {
		return l.code.MethodName(m, dac.MethodFull)
	}
	name, typeErr := l.rt.TypeName(h, dac.NameNative)
	if errors.Is(typeErr, target.ErrCorrupt) {
		typeErr = target.CorruptAddress(err) // not a type, so report the error as a method
	}
	return name, typeErr
}

// handleIn returns the pointer in the wrappers of a runtime handle, or 0. A boxed RuntimeMethodHandle holds a stub or a
// RuntimeMethodInfo, which holds the MethodDesc. A RuntimeTypeHandle holds a RuntimeType.
func handleIn(o objects.Object) (target.Addr, error) {
	for range 4 {
		if th, ok, err := o.RuntimeType(); ok {
			return th, err
		}
		next, handle, err := handleField(o)
		if handle != 0 || next.Addr == 0 || err != nil {
			return handle, err
		}
		o = next
	}
	return 0, nil
}

// handleField returns the pointer in a wrapper, or the next wrapper in it.
func handleField(o objects.Object) (next objects.Object, handle target.Addr, err error) {
	fields, err := o.Type.Fields()
	if err != nil {
		return objects.Object{}, 0, err
	}
	var unnamed error // the error of a field without a readable name, which may be the pointer
	for _, f := range fields {
		if unnamed == nil {
			unnamed = f.Err()
		}
		v := o.Value(f)
		switch f.Name {
		case "m_value", "m_type", "m_ptr", "m_methodHandle":
			s, err := v.Struct()
			if err == nil {
				handle, err = s.Field("m_handle").Addr()
			}
			if err == nil || !otherShape(err) {
				return objects.Object{}, handle, err
			}
			inner, err := v.Object()
			switch {
			case otherShape(err): // null, or not a reference
			case err != nil:
				return objects.Object{}, 0, err
			default:
				next = inner
			}
		case "m_handle":
			handle, err = v.Addr()
			return objects.Object{}, handle, err
		}
	}
	if next.Addr != 0 {
		unnamed = nil
	}
	return next, 0, unnamed
}

// otherShape reports whether err means that a wrapper has no such field, or one of another kind.
func otherShape(err error) bool {
	return errors.Is(err, target.ErrNoSuch) || errors.Is(err, target.ErrArgument) || errors.Is(err, target.ErrNull) ||
		errors.Is(err, target.ErrUnsupported)
}
