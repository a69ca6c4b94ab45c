// Package compilernames interprets names that compilers generate: state machines and their
// variables (C#, Visual Basic, Mono's C#), closures (C#, F#), backing fields of properties. It also
// converts between the spelling of generic types in metadata and in source code. The names are
// conventions and not a contract; they have not changed since .NET Core 3.1. Start reading at
// Method and Pretty. CSharp writes the names of types and methods as C# code does.
package compilernames

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
)

// Method returns the method from which the named state machine was made. It returns other names
// unchanged.
//
//	Ns.Type+<Method>d__4              Ns.Type.Method
//	Ns.Type+<Method>d__4<Ns.Order>    Ns.Type.Method<Ns.Order>
//	Ns.Type+<>c+<<Method>b__0_1>d     Ns.Type+<>c.<Method>b__0_1
//	Ns.Type+VB$StateMachine_2_Method  Ns.Type.Method
//	Ns.Type+<Method>c__async0         Ns.Type.Method
//	Module+method@12-1                Module.method
//	<StartupCode$app>.$Module+main@9  Module.main
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
	if name, rest, ok := FSharp(own); ok {
		return Startup(declaring) + "." + name + rest
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
		name = strings.ReplaceAll(name, "-", ".") // explicit interface implementation
	}
	return declaring + "." + name + args
}

// Generated reports whether a compiler made up the name of a type: source code can't have it.
func Generated(full string) bool {
	own := full[lastNested(full)+1:]
	return strings.HasPrefix(own, "<") || strings.ContainsAny(own, "$@")
}

// Lambda stands for a function without a name.
const Lambda = "<lambda>"

// FSharp returns the function and the type arguments in a name that the F# compiler made from it:
// the type of a closure or of a task's state machine, or the method of a local function. Such a
// name has the line number, and a counter if a line has several: work@12, work@12-1, work@12-1<T>.
// A closure outside of functions is named clo@12.
func FSharp(name string) (function, arguments string, ok bool) {
	head := name
	if i := strings.IndexAny(name, "<[`"); i >= 0 {
		head, arguments = name[:i], name[i:]
	}
	at := strings.LastIndexByte(head, '@')
	if at <= 0 {
		return "", "", false
	}
	line, number, several := strings.Cut(head[at+1:], "-")
	if !digits(line) || several && !digits(number) {
		return "", "", false
	}
	if function = head[:at]; function == "clo" {
		function = Lambda
	}
	return function, arguments, true
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Startup returns the module whose code F# moved into a startup class: <StartupCode$app>.$Module
// becomes Module. It returns other names unchanged.
func Startup(class string) string {
	if !strings.HasPrefix(class, "<StartupCode$") {
		return class
	}
	_, module, ok := strings.Cut(class, ">.$")
	if !ok || module == "" {
		return class
	}
	return module
}

// Declaring returns the method that contains the named local function or lambda. It returns names
// of other methods unchanged.
//
//	<Wait>g____PInvoke|24_0   Wait
//	<Wait>b__3_0              Wait
func Declaring(method string) string {
	end := closing(method)
	if end < 2 || end+2 >= len(method) || method[end+2] != '_' || method[end+1] != 'g' && method[end+1] != 'b' {
		return method
	}
	return method[1:end]
}

// lastNested returns the index of the + before the innermost type of a name, ignoring type
// arguments, or -1.
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

// closing returns the index of the > that closes the < at the start, or -1.
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

// IsAwaiter reports whether a field of that name holds awaiters: <>u__1 (C#), $A0 (Visual Basic),
// $awaiter0 (Mono).
func IsAwaiter(name string) bool {
	return strings.HasPrefix(name, "<>u__") || strings.HasPrefix(name, "$awaiter") || strings.HasPrefix(name, "$A") && len(name) > 2 && name[2] >= '0' && name[2] <= '9'
}

// Variable returns the name and the kind of the variable that became the named field. variable is
// "" for a field without one.
func Variable(name string) (variable string, kind answer.AsyncVariableKind) {
	switch {
	case name == "<>4__this" || name == "$VB$Me" || name == "$this":
		return "this", answer.AsyncThis
	case strings.HasPrefix(name, "<>") || strings.HasPrefix(name, "$State") || strings.HasPrefix(name, "$Builder") || strings.HasPrefix(name, "$Current"):
		return "", ""
	case strings.HasPrefix(name, "<"): // <local>5__2; Mono's <local>__2
		if v, rest, ok := strings.Cut(name[1:], ">"); ok && (strings.HasPrefix(rest, "5__") || strings.HasPrefix(rest, "__")) {
			return v, answer.AsyncLocal
		}
		return "", ""
	case strings.HasPrefix(name, "$VB$ResumableLocal_"): // $VB$ResumableLocal_local$0
		v := strings.TrimPrefix(name, "$VB$ResumableLocal_")
		if i := strings.LastIndexByte(v, '$'); i > 0 {
			v = v[:i]
		}
		return v, answer.AsyncLocal
	case strings.HasPrefix(name, "$VB$Local_"):
		return strings.TrimPrefix(name, "$VB$Local_"), answer.AsyncParameter
	case strings.HasPrefix(name, "$"):
		return "", ""
	}
	return name, answer.AsyncParameter
}

// Path splits a path of fields at its dots. "<X>" becomes the backing field of property X; X may
// contain dots.
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

// Definition converts "Ns.Outer<,>+Inner<>" to the form in metadata, "Ns.Outer`2+Inner`1".
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
		// In names that compilers generate, a < starts a name or is followed by one.
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

// Fits reports whether field equals name. If name ends with @, digits may follow in field: F#
// appends the line of the declaration to the names of some fields.
func Fits(field, name string) bool {
	if field == name {
		return true
	}
	line, ok := strings.CutPrefix(field, name)
	return ok && strings.HasSuffix(name, "@") && strings.Trim(line, "0123456789") == ""
}
