package compilernames

import "strings"

// CSharp returns the name of a type or method of the runtime as C# code has it:
//
//	System.Collections.Generic.List`1[[Shop.Order, Shop]]  System.Collections.Generic.List<Order>
//	Shop.Cart+Line                                         Shop.Cart.Line
//	System.Int64[]                                         long[]
//	Shop.Cart+<>c.<Pay>b__2_1(Int32 ByRef)                 Shop.Cart.Pay λ2_1(ref int)
//	Shop.Cart+<PayAsync>d__7.MoveNext()                    Shop.Cart.PayAsync
//	Shop.Cart..ctor(System.Object)                         Shop.Cart.Cart(object)
//
// Type arguments and parameters lose their namespaces. A name with a parameter list is a method's. CSharp reads the
// spellings of the runtime and of SOS, and returns a name that it can't read unchanged.
func CSharp(name string) string { return csharp(name, false) }

// CSharpShort is CSharp without the namespace of the type.
func CSharpShort(name string) string { return csharp(name, true) }

// CSharpMethod is CSharp for the name of a method, which may lack its parameter list.
func CSharpMethod(name string) string {
	if len(name) > mostName || !balanced(name) || outside(name, "(") >= 0 {
		return CSharp(name)
	}
	return csharpMethod(name, "", false) // without parentheses
}

func csharp(name string, short bool) string {
	if len(name) > mostName || !balanced(name) {
		return name
	}
	if open := outside(name, "("); open >= 0 {
		return csharpMethod(name[:open], name[open:], short)
	}
	return csharpType(name, short, 0)
}

const (
	mostName   = 16 << 10 // maximum length of a name that is translated; names in a dump may be damaged
	mostNested = 32       // maximum depth of type arguments that are translated
	mostArity  = 32       // maximum number of type parameters of a type; generated types of tuples and delegates have some 17
)

// aliases are the types that C# has keywords for.
var aliases = map[string]string{
	"Boolean": "bool", "Byte": "byte", "SByte": "sbyte", "Int16": "short", "UInt16": "ushort", "Int32": "int", "UInt32": "uint", "Int64": "long",
	"UInt64": "ulong", "Char": "char", "Single": "float", "Double": "double", "Decimal": "decimal", "String": "string", "Object": "object", "Void": "void",
}

// balanced reports whether each bracket of a name is closed.
func balanced(name string) bool {
	var open []byte
	for i := range len(name) {
		switch c := name[i]; c {
		case '<', '[', '(':
			open = append(open, c)
		case '>', ']', ')':
			if len(open) == 0 || open[len(open)-1] != opening(c) {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}

// opening returns the bracket that a closing bracket closes.
func opening(shut byte) byte {
	switch shut {
	case '>':
		return '<'
	case ']':
		return '['
	}
	return '('
}

// outside returns the index of the first of the characters outside of brackets, or -1.
func outside(s, chars string) int {
	depth := 0
	for i := range len(s) {
		if depth == 0 && strings.IndexByte(chars, s[i]) >= 0 {
			return i
		}
		switch s[i] {
		case '<', '[', '(':
			depth++
		case '>', ']', ')':
			depth--
		}
	}
	return -1
}

// separate cuts a list at the commas outside of brackets.
func separate(s string) (out []string) {
	for {
		i := outside(s, ",")
		if i < 0 {
			return append(out, strings.TrimSpace(s))
		}
		out, s = append(out, strings.TrimSpace(s[:i])), s[i+1:]
	}
}

// A namePart is a part of a name: a namespace, a type or a method.
type namePart struct {
	name   string
	nested bool     // it follows a +
	arity  int      // the number of its type parameters, if the name has it
	args   []string // type arguments; the innermost type also has the arguments of the types around it
}

// nameParts cuts a name at the dots and pluses outside of brackets.
func nameParts(s string) []namePart {
	var out []namePart
	for nested := false; ; {
		from := len(s) - len(strings.TrimLeft(s, ".")) // .ctor begins with a dot
		end := outside(s[from:], ".+")
		if end < 0 {
			return append(out, onePart(s, nested))
		}
		end += from
		out = append(out, onePart(s[:end], nested))
		nested, s = s[end] == '+', s[end+1:]
	}
}

func onePart(s string, nested bool) namePart {
	p := namePart{name: s, nested: nested}
	skip := 0
	if end := closing(s); end > 0 { // a name that a compiler made
		skip = end + 1
	}
	i := strings.IndexAny(s[skip:], "`<[")
	if i < 0 {
		return p
	}
	i += skip
	rest := s[i:]
	p.name = s[:i]
	if rest[0] == '`' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' && p.arity <= mostArity {
			p.arity, n = 10*p.arity+int(rest[n]-'0'), n+1
		}
		if rest = rest[n:]; p.arity > mostArity {
			return namePart{name: s, nested: nested}
		}
	}
	switch {
	case strings.HasPrefix(rest, "[[") && strings.HasSuffix(rest, "]]"):
		for _, a := range separate(rest[1 : len(rest)-1]) {
			a = strings.TrimSuffix(strings.TrimPrefix(a, "["), "]")
			if comma := outside(a, ","); comma >= 0 {
				a = a[:comma] // its assembly follows
			}
			p.args = append(p.args, a)
		}
	case strings.HasPrefix(rest, "<") && strings.HasSuffix(rest, ">"):
		p.args = separate(rest[1 : len(rest)-1])
	case rest != "":
		p.name, p.arity = s, 0
	}
	return p
}

// share gives the types of a list the type arguments that follow the last of them.
func share(parts []namePart) {
	for i := range parts {
		all := parts[i].args
		total, first := 0, i
		for first > 0 && i-first < mostArity && parts[first].nested && len(parts[first-1].args) == 0 {
			first--
		}
		for j := first; j <= i; j++ {
			total += parts[j].arity
		}
		if total != len(all) || total == parts[i].arity {
			continue
		}
		for j := first; j <= i; j++ {
			parts[j].args, all = all[:parts[j].arity], all[parts[j].arity:]
		}
	}
}

// with returns a part with its type arguments.
func (p *namePart) with(depth int) string {
	if len(p.args) == 0 {
		if p.arity > 0 {
			return p.name + "<" + strings.Repeat(",", p.arity-1) + ">"
		}
		return p.name
	}
	return p.name + "<" + types(p.args, depth+1) + ">"
}

// types formats a list of type arguments or parameters.
func types(list []string, depth int) string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = csharpType(t, true, depth)
	}
	return strings.Join(out, ", ")
}

// firstType returns the index of the outermost type in the parts of a type's name.
func firstType(parts []namePart) int {
	for i := range parts {
		if i+1 == len(parts) || parts[i+1].nested || parts[i].arity > 0 || len(parts[i].args) > 0 {
			return i
		}
	}
	return 0
}

// csharpType translates the name of a type.
func csharpType(name string, short bool, depth int) string {
	if depth > mostNested {
		return name
	}
	if of, ok := strings.CutSuffix(name, " ByRef"); ok {
		return "ref " + csharpType(of, short, depth+1)
	}
	if of, ok := strings.CutSuffix(name, "&"); ok {
		return "ref " + csharpType(of, short, depth+1)
	}
	name, suffix := elementType(name)
	parts := nameParts(name)
	share(parts)
	first := firstType(parts)
	if last := &parts[len(parts)-1]; first == len(parts)-1 {
		system := first == 1 && parts[0].name == "System"
		alias, ok := aliases[last.name]
		switch {
		case ok && last.arity == 0 && len(last.args) == 0 && (system || first == 0 && depth > 0):
			return alias + suffix
		case system && last.name == "Nullable" && len(last.args) == 1:
			return csharpType(last.args[0], true, depth+1) + "?" + suffix
		case system && last.name == "ValueTuple" && len(last.args) > 1 && len(last.args) < 8: // the eighth holds the rest
			return "(" + types(last.args, depth+1) + ")" + suffix
		}
	}
	if short {
		parts = parts[first:]
	}
	return joined(parts, depth) + suffix
}

// elementType splits off the brackets of arrays, in the order of C#, and the stars of pointers.
func elementType(name string) (element, suffix string) {
	var ranks []string
	for {
		i := strings.LastIndexByte(name, '[')
		if i <= 0 || !strings.HasSuffix(name, "]") || strings.Trim(name[i+1:len(name)-1], ",*") != "" {
			break
		}
		ranks, name = append(ranks, name[i:]), name[:i]
	}
	element = strings.TrimRight(name, "*")
	return element, name[len(element):] + strings.Join(ranks, "")
}

func joined(parts []namePart, depth int) string {
	out := make([]string, len(parts))
	for i := range parts {
		out[i] = parts[i].with(depth)
	}
	return strings.Join(out, ".")
}

// csharpMethod translates the name of a method and its parameters in parentheses.
func csharpMethod(head, parameters string, short bool) string {
	if end := strings.LastIndexByte(parameters, ')'); end > 0 && end == len(parameters)-1 {
		if inner := strings.TrimSpace(parameters[1:end]); inner != "" {
			parameters = "(" + types(separate(inner), 1) + ")"
		}
	}
	parts := nameParts(Startup(head))
	if len(parts) < 2 {
		return joined(parts, 0) + parameters
	}
	types := parts[:len(parts)-1]
	method := parts[len(parts)-1]
	share(types)
	first := firstType(types)
	for i := 1; i < len(types); i++ { // a method that implements an interface explicitly has the interface's full name
		if !types[i].nested && types[i].name == "System" {
			first = min(first, i-1)
		}
	}
	for i := range first { // a closure of F# is no namespace: it decides what the method is called
		if _, _, ok := FSharp(types[i].name); ok {
			first = i
			break
		}
	}
	if short {
		types = types[first:]
	}
	static := ""
	switch method.name {
	case ".ctor", ".cctor":
		if method.name == ".cctor" {
			static = "static "
		}
		method.name = types[len(types)-1].name
	}
	text, whole := written(types, &method)
	if !whole {
		return static + text // generated code has other parameters
	}
	return static + text + parameters
}

// written joins types and a method, with the names in the source in place of those that compilers made. whole is false
// if the source has other parameters.
func written(types []namePart, method *namePart) (text string, whole bool) {
	var out []string
	lambda, whole := false, true
	for i := range types {
		p := &types[i]
		_, kind, _ := generated(p.name)
		function, _, fsharp := FSharp(p.name)
		switch {
		case kind == 'c': // the class of a closure holds lambdas and local functions alone
		case kind == 'd' && i == len(types)-1 && method.name == "MoveNext": // the state machine of a method
			whole = false
			out = append(out, inSource(&namePart{name: strings.ReplaceAll(p.name[1:closing(p.name)], "-", "."), args: p.args}))
		case fsharp:
			out = append(out, function)
			whole = method.name != "MoveNext" && method.name != "GenerateNext"
			lambda = method.name == "Invoke" || method.name == "Specialize"
		default:
			out = append(out, p.with(0))
		}
	}
	switch {
	case !whole:
	case lambda:
		return strings.Join(out, ".") + " λ", true
	default:
		out = append(out, inSource(method))
	}
	return strings.Join(out, "."), whole
}

// inSource returns the name of a method in the source in place of one that a compiler made. A lambda has the
// name of the method around it and its number.
func inSource(method *namePart) string {
	around, kind, rest := generated(method.name)
	own := namePart{args: method.args}
	switch {
	case kind == 'b' || kind == 'm' && strings.HasPrefix(rest, "__"):
		own.name = around + " λ" + strings.TrimPrefix(rest, "__")
	case kind == 'g':
		local, _, _ := strings.Cut(strings.TrimPrefix(rest, "__"), "|")
		own.name = around + "." + local
	default:
		own.name = method.name
		if function, _, ok := FSharp(method.name); ok {
			own.name = function
		}
	}
	return own.with(0)
}
