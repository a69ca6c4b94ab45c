package commands

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// The managed side of a DynamicMethod (System.Reflection.Emit): the resolver
// has the code and the scope, whose list has the objects that tokens number.
// Fields changed their names; the older one comes second.
var (
	resolverFields = []string{"_resolver", "m_resolver"}
	codeField      = "m_code"
	scopeField     = "m_scope"
	tokensField    = "m_tokens"
	itemsField     = "_items"
)

const resolverType = "System.Reflection.Emit.DynamicResolver"

// dynamicIL reads the IL of a DynamicMethod by its MethodDesc, its object or its
// resolver. It returns nil for any other address.
func dynamicIL(c *cli.Context, rt *dac.Runtime, a target.Addr) (*ilListing, error) {
	r := objects.New(rt)
	resolver, m, err := dynamicResolver(rt, r, a)
	if err != nil || resolver == nil {
		return nil, err
	}
	code, err := byteArray(resolver.Field(codeField))
	if err != nil {
		return nil, err
	}
	l := &ilListing{c: c, method: m, body: metadata.MethodBody{Code: code}, dynamic: true}
	items, err := scopeItems(resolver)
	if err != nil {
		c.Warn(err)
	}
	l.items = items.Addr
	l.operand = func(t metadata.Token) (string, error) { return dynamicToken(rt, items, t) }
	return l, nil
}

// dynamicResolver is the resolver object behind a; nil when a is no dynamic
// method.
func dynamicResolver(rt *dac.Runtime, r *objects.Reader, a target.Addr) (*objects.Object, *code.MethodDesc, error) {
	m, err := code.Of(rt).MethodDesc(a)
	if err == nil {
		if lcg, err := m.IsLCG(); err != nil || !lcg {
			return nil, nil, nil
		}
		at, err := code.Of(rt).DynamicResolver(m)
		if err != nil {
			return nil, nil, err
		}
		o, err := r.Object(at)
		return &o, m, err
	}
	o, err := r.Object(a)
	if err != nil {
		return nil, nil, nil
	}
	for range 2 { // an RTDynamicMethod stands before the DynamicMethod
		if name, _ := rt.TypeName(o.Type.MT.Addr, dac.NameNative); name == resolverType {
			return &o, nil, nil
		}
		next, ok := firstObject(o, append(resolverFields, "_owner", "m_owner"))
		if !ok {
			return nil, nil, nil
		}
		o = next
	}
	if name, _ := rt.TypeName(o.Type.MT.Addr, dac.NameNative); name == resolverType {
		return &o, nil, nil
	}
	return nil, nil, nil
}

// firstObject is what the first of the fields that o has refers to.
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
	var out []byte
	for _, v := range a.Values() {
		b, err := v.Bits()
		if err != nil {
			return nil, err
		}
		out = append(out, byte(b))
	}
	return out, nil
}

// scopeItems is the array behind the list of the scope's objects.
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

// dynamicToken names a token of a dynamic method: "6000002 Ns.Type.Name()".
func dynamicToken(rt *dac.Runtime, items objects.Object, t metadata.Token) (string, error) {
	text := report.Hex(uint64(t))[2:]
	a, err := items.Array()
	if err != nil {
		return text, nil
	}
	o, err := a.At(t.Row()).Object()
	if err != nil || o.Addr == 0 {
		return text, err
	}
	if name, ok := dynamicItem(rt, o); ok {
		return text + " " + name, nil
	}
	return text + " (" + report.Hex16(o.Addr) + ")", nil
}

// dynamicItem names an object that a token stands for: a literal, or a handle
// of a method, type or field.
func dynamicItem(rt *dac.Runtime, o objects.Object) (string, bool) {
	if o.IsString() {
		return o.Inline(-1), true
	}
	h, ok := handleIn(o)
	if !ok {
		return "", false
	}
	if m, err := code.Of(rt).MethodDesc(h); err == nil {
		name, err := code.Of(rt).MethodName(m, code.MethodFull)
		return name, err == nil
	}
	name, err := rt.TypeHandleName(h, dac.NameNative)
	return name, err == nil
}

// handleIn follows the wrappers of a runtime handle down to the pointer: a
// boxed RuntimeMethodHandle holds a stub or a RuntimeMethodInfo, which holds
// the MethodDesc; a RuntimeTypeHandle holds a RuntimeType.
func handleIn(o objects.Object) (target.Addr, bool) {
	for range 4 {
		if th, ok, err := o.RuntimeType(); err == nil && ok {
			return th, true
		}
		next := objects.Object{}
		for f, v := range o.Fields() {
			switch f.Name {
			case "m_value", "m_type", "m_ptr", "m_methodHandle":
				if inner, err := v.Object(); err == nil && inner.Addr != 0 {
					next = inner
				} else if s, err := v.Struct(); err == nil {
					if bits, err := s.Field("m_handle").Bits(); err == nil {
						return target.Addr(bits), true
					}
				}
			case "m_handle":
				if bits, err := v.Bits(); err == nil {
					return target.Addr(bits), true
				}
			}
		}
		if next.Addr == 0 {
			return 0, false
		}
		o = next
	}
	return 0, false
}
