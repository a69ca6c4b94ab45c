package compilernames

import "strings"

// Pretty replaces names that the C# compiler generates by the names in the source, as far as they
// are known:
//
//	Shop.Cart+<>c__DisplayClass1_0.<Pay>b__2(Int32)   Shop.Cart.Pay.<lambda>(Int32)
//	Shop.Cart.<Pay>m__2(Int32)                        Shop.Cart.Pay.<lambda>(Int32)
//	Shop.Cart.<Pay>g__Check|3_0()                     Shop.Cart.Pay.Check()
//	Shop.Cart+<PayAsync>d__7.MoveNext()               Shop.Cart.PayAsync [state machine]
//	Shop.Cart+<PayAsync>c__async0.MoveNext()          Shop.Cart.PayAsync [state machine]
//	Shop.Cart+<Pay>c__AnonStorey1.<>m__0()            Shop.Cart.Pay.<lambda>()
//
// F# names contain the line:
//
//	Shop.Cart+pay@12-1.Invoke(Int32)                  Shop.Cart.pay.<lambda>(Int32)
//	Shop.Cart.check@15(Int32)                         Shop.Cart.check(Int32)
//	Shop.Cart+pay@12.MoveNext()                       Shop.Cart.pay [state machine]
//
// The C# forms follow Roslyn's GeneratedNames; m__, c__async, c__Iterator and c__AnonStorey are of
// Mono's compiler. Pretty returns other names unchanged.
func Pretty(name string) string {
	if !strings.ContainsAny(name, "<@") {
		return name
	}
	head, params := name, ""
	if i := strings.IndexByte(name, '('); i >= 0 {
		head, params = name[:i], name[i:]
	}
	parts := splitOutside(Startup(head))
	out := parts[:0]
	machine, closure, known := false, false, strings.Contains(name, "<")
	for i, p := range parts {
		method, kind, rest := generated(p)
		function, _, fsharp := FSharp(p)
		known = known || fsharp
		switch {
		case fsharp && i == len(parts)-1: // a local function
			out = append(out, function+arguments(p))
		case fsharp:
			out = append(out, function)
			closure, machine = parts[i+1] == "Invoke" || parts[i+1] == "Specialize", parts[i+1] == "MoveNext" || parts[i+1] == "GenerateNext"
		case kind == 0:
			out = append(out, p)
		case kind == 'c' && strings.HasPrefix(rest, "__AnonStorey") && method != "":
			if len(out) == 0 || out[len(out)-1] != method { // closures are nested in one another
				out = append(out, method)
			}
		case kind == 'c' && method == "": // the class of a closure: only holds lambdas
		case kind == 'm' && method == "":
			out = append(out, Lambda+arguments(p))
		case (kind == 'd' || kind == 'c') && i < len(parts)-1:
			out = append(out, method)
			machine = true
		case kind == 'b' || kind == 'm' && strings.HasPrefix(rest, "__"):
			out = append(out, method, "<lambda>"+arguments(p))
		case kind == 'g':
			local, _, _ := strings.Cut(strings.TrimPrefix(rest, "__"), "|")
			out = append(out, method, local+arguments(p))
		default:
			out = append(out, p)
		}
	}
	if !known {
		return name
	}
	last := len(out) - 1
	if closure && last > 0 {
		if out = out[:last]; out[last-1] != Lambda {
			out = append(out, Lambda)
		}
	}
	if machine && last > 0 && (out[last] == "MoveNext" || out[last] == "GenerateNext") {
		return strings.Join(out[:len(out)-1], ".") + " [state machine]"
	}
	return strings.Join(out, ".") + params
}

// splitOutside cuts a method's full name into namespace, types and method, at
// the dots and pluses outside the angle and square brackets of names.
func splitOutside(s string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '<', '[':
			depth++
		case '>', ']':
			depth--
		case '.', '+':
			// A name may begin with a dot: .ctor.
			if depth <= 0 && i > start {
				parts = append(parts, s[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, s[start:])
}

// generated splits a generated name, <METHOD>kREST. kind is 0 for any other name.
func generated(p string) (method string, kind byte, rest string) {
	if !strings.HasPrefix(p, "<") {
		return "", 0, ""
	}
	end := strings.LastIndexByte(p[:genericStart(p)], '>')
	if end < 0 || end+1 >= len(p) {
		return "", 0, ""
	}
	method, kind, rest = p[1:end], p[end+1], p[end+2:]
	mono := strings.HasPrefix(rest, "__async") || strings.HasPrefix(rest, "__Iterator") || strings.HasPrefix(rest, "__AnonStorey")
	if method == "" && kind != 'c' && kind != 'm' || method != "" && kind == 'c' && !mono {
		return "", 0, ""
	}
	// A lambda in a lambda, or in an async method: the innermost name counts.
	if m, _, r := generated(method); m != "" && r != "" {
		method = m
	}
	return method, kind, rest
}

// genericStart returns the offset of the type arguments in p, or its length.
func genericStart(p string) int {
	for _, mark := range []string{"[[", "`"} {
		if i := strings.Index(p, mark); i >= 0 {
			return i
		}
	}
	return len(p)
}

// arguments returns the type arguments at the end of a method's name, or "".
func arguments(p string) string {
	if i := strings.Index(p, "[["); i >= 0 {
		return p[i:]
	}
	return ""
}
