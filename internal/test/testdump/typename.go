package testdump

import (
	"strconv"
	"strings"
)

// ManagedName converts Type.ToString's form, Outer`1+Inner`1[A,B], to the form of ClrMD and managed
// SOS commands, Outer<A>+Inner<B>.
func ManagedName(s string) string {
	p := nameParser{s}
	return p.name()
}

type nameParser struct{ rest string }

// name reads a type up to the ] or , that ends it.
func (p *nameParser) name() string {
	end := strings.IndexAny(p.rest, "[],*&")
	if end < 0 {
		end = len(p.rest)
	}
	base := p.rest[:end]
	p.rest = p.rest[end:]
	name := spread(base, p.arguments())
	for p.rest != "" {
		n := suffix(p.rest)
		if n == 0 {
			break
		}
		// ClrMD takes the brackets of an array with a lower bound for type arguments.
		name, p.rest = name+strings.ReplaceAll(p.rest[:n], "[*]", "<*>"), p.rest[n:]
	}
	return name
}

// suffix returns the length of the array, pointer or reference suffix that s starts
// with.
func suffix(s string) int {
	if s[0] == '*' || s[0] == '&' {
		return 1
	}
	if end := strings.IndexByte(s, ']'); s[0] == '[' && end > 0 && strings.Trim(s[1:end], ",*") == "" {
		return end + 1
	}
	return 0
}

// arguments reads [A,B] if it is next.
func (p *nameParser) arguments() []string {
	if p.rest == "" || suffix(p.rest) > 0 || p.rest[0] != '[' {
		return nil
	}
	var args []string
	for p.rest[0] != ']' {
		p.rest = p.rest[1:]
		args = append(args, p.argument())
	}
	p.rest = p.rest[1:]
	return args
}

// spread gives each of the nested types in base its own arguments.
func spread(base string, args []string) string {
	parts := strings.Split(base, "+")
	for i, part := range parts {
		name, arity, ok := strings.Cut(part, "`")
		if n, err := strconv.Atoi(arity); ok && err == nil && n <= len(args) {
			parts[i] = name + "<" + strings.Join(args[:n], ", ") + ">"
			args = args[n:]
		}
	}
	return strings.Join(parts, "+")
}

// argument reads an argument, A or [A, Assembly, Version=…].
func (p *nameParser) argument() string {
	if p.rest == "" || p.rest[0] != '[' {
		return p.name()
	}
	p.rest = p.rest[1:]
	name := p.name()
	if end := strings.IndexByte(p.rest, ']'); end >= 0 {
		p.rest = p.rest[end+1:]
	}
	return name
}
