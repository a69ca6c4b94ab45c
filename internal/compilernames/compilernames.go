// Package compilernames knows the names that compilers give to what a program's source has no name for, and those that
// metadata has for what the source writes in another way: state machines and the variables in them (C#, Visual Basic,
// Mono's C#), fields behind properties, generic types. They are conventions, which have not changed since .NET Core
// 3.1, and no contract.
package compilernames

import "strings"

// Method returns the method that a state machine of that name was made of; the name itself where it is of another form.
//
//	Ns.Type+<Method>d__4              Ns.Type.Method
//	Ns.Type+<Method>d__4<Ns.Order>    Ns.Type.Method<Ns.Order>
//	Ns.Type+<>c+<<Method>b__0_1>d     Ns.Type+<>c.<Method>b__0_1
//	Ns.Type+VB$StateMachine_2_Method  Ns.Type.Method
//	Ns.Type+<Method>c__async0         Ns.Type.Method
func Method(full string) string {
	at := lastNested(full)
	if at < 0 {
		return full
	}
	declaring, own := full[:at], full[at+1:]
	if rest, ok := strings.CutPrefix(own, "VB$StateMachine_"); ok {
		if _, name, ok := strings.Cut(rest, "_"); ok {
			return declaring + "." + name
		}
		return full
	}
	end := closing(own)
	if end < 0 {
		return full
	}
	name, rest := own[1:end], own[end+1:]
	if !strings.HasPrefix(rest, "d") && !strings.HasPrefix(rest, "c__async") || name == "" {
		return full
	}
	args := ""
	if i := strings.IndexByte(rest, '<'); i >= 0 {
		args = rest[i:]
	}
	if !strings.HasPrefix(name, "<") {
		name = strings.ReplaceAll(name, "-", ".") // of a method that implements an interface by its full name
	}
	return declaring + "." + name + args
}

// Declaring returns the method that a local function or a lambda stands in, by its name:
//
//	<Wait>g____PInvoke|24_0   Wait
//	<Wait>b__3_0              Wait
//
// and the name itself for other methods.
func Declaring(method string) string {
	end := closing(method)
	if end < 2 || end+2 >= len(method) || method[end+2] != '_' || method[end+1] != 'g' && method[end+1] != 'b' {
		return method
	}
	return method[1:end]
}

// lastNested returns the index of the + before the innermost type of a name, leaving out those of type arguments; -1 for
// none.
func lastNested(full string) int {
	depth, at := 0, -1
	for i := 0; i < len(full); i++ {
		switch full[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '+':
			if depth == 0 {
				at = i
			}
		}
	}
	return at
}

// closing returns the index of the > that closes the < at the start, -1 if there is none.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i
			}
		}
		if depth == 0 {
			return -1
		}
	}
	return -1
}

// IsAwaiter reports whether a field of that name holds awaiters: <>u__1 of C#, $A0 of Visual Basic, $awaiter0 of Mono.
func IsAwaiter(name string) bool {
	return strings.HasPrefix(name, "<>u__") || strings.HasPrefix(name, "$awaiter") || strings.HasPrefix(name, "$A") && len(name) > 2 && name[2] >= '0' && name[2] <= '9'
}

// What a variable that became a field was.
const (
	This      = "this"
	Local     = "local"
	Parameter = "parameter"
)

// Variable returns the variable that became a field of that name, empty for what the compiler keeps for itself.
func Variable(name string) (variable, kind string) {
	switch {
	case name == "<>4__this" || name == "$VB$Me" || name == "$this":
		return "this", This
	case strings.HasPrefix(name, "<>") || strings.HasPrefix(name, "$State") || strings.HasPrefix(name, "$Builder") || strings.HasPrefix(name, "$Current"):
		return "", ""
	case strings.HasPrefix(name, "<"): // <local>5__2, of Mono <local>__2
		if v, rest, ok := strings.Cut(name[1:], ">"); ok && (strings.HasPrefix(rest, "5__") || strings.HasPrefix(rest, "__")) {
			return v, Local
		}
		return "", ""
	case strings.HasPrefix(name, "$VB$ResumableLocal_"): // $VB$ResumableLocal_local$0
		v := strings.TrimPrefix(name, "$VB$ResumableLocal_")
		if i := strings.LastIndexByte(v, '$'); i > 0 {
			v = v[:i]
		}
		return v, Local
	case strings.HasPrefix(name, "$VB$Local_"):
		return strings.TrimPrefix(name, "$VB$Local_"), Parameter
	case strings.HasPrefix(name, "$"):
		return "", ""
	}
	return name, Parameter
}

// Path splits a path of fields at its dots; "<X>" becomes the name of the field behind property X, in which dots stand
// for themselves.
func Path(name string) []string {
	var parts []string
	for name != "" {
		end := strings.IndexByte(name, '.')
		if name[0] == '<' {
			if i := strings.IndexByte(name, '>'); i >= 0 {
				if end = strings.IndexByte(name[i:], '.'); end >= 0 {
					end += i
				}
			}
		}
		part, rest := name, ""
		if end >= 0 {
			part, rest = name[:end], name[end+1:]
		}
		if len(part) > 2 && part[0] == '<' && part[len(part)-1] == '>' {
			part += "k__BackingField"
		}
		parts, name = append(parts, part), rest
	}
	return parts
}

// Definition turns "Ns.Outer<,>+Inner<>" into "Ns.Outer`2+Inner`1", as metadata has it.
func Definition(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '<' {
			b.WriteByte(name[i])
			continue
		}
		end := i + 1
		for end < len(name) && name[end] == ',' {
			end++
		}
		// A name that the compiler made begins with such brackets, or has a name in them.
		if i == 0 || name[i-1] == '+' || name[i-1] == '.' || end == len(name) || name[end] != '>' {
			b.WriteByte(name[i])
			continue
		}
		b.WriteByte('`')
		b.WriteByte(byte('0' + end - i))
		i = end
	}
	return b.String()
}
