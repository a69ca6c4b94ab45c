package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/base/limits"
)

// A typeName is the name of a type as C# and the runtime write it: parts between points or pluses, each with its
// generic arguments, then brackets of arrays.
type typeName struct {
	parts  []namePart
	arrays []string // "[]", "[,]", in the order in which they are written
	pos    int      // where in the source it starts
}

type namePart struct {
	name    string
	args    []*typeName
	generic bool // it has < and >, perhaps with nothing between
	commas  int  // of an open one
}

// keywords are C#'s names of the types of class library.
var keywords = map[string]string{
	"bool": "Boolean", "byte": "Byte", "sbyte": "SByte", "char": "Char", "decimal": "Decimal", "double": "Double", "float": "Single",
	"int": "Int32", "uint": "UInt32", "nint": "IntPtr", "nuint": "UIntPtr", "long": "Int64", "ulong": "UInt64", "short": "Int16",
	"ushort": "UInt16", "object": "Object", "string": "String",
}

// A typeScanner reads a typeName out of a text.
type typeScanner struct {
	src   string
	pos   int
	depth int
	star  bool // * is part of a name: a pattern
}

// scanType reads the name of a type at the start of src[pos:], and returns where it ends; nil if there is none.
func scanType(src string, pos int, pattern bool) (*typeName, int) {
	s := typeScanner{src: src, pos: pos, star: pattern}
	t := s.typeName()
	return t, s.pos
}

func (s *typeScanner) space() {
	for s.pos < len(s.src) && (s.src[s.pos] == ' ' || s.src[s.pos] == '\t' || s.src[s.pos] == '\n' || s.src[s.pos] == '\r') {
		s.pos++
	}
}

// accept takes c, behind spaces.
func (s *typeScanner) accept(c byte) bool {
	at := s.pos
	s.space()
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	s.pos = at
	return false
}

func (s *typeScanner) typeName() *typeName {
	if s.depth++; s.depth > limits.TypeNameDepth {
		return nil
	}
	defer func() { s.depth-- }()
	s.space()
	t := &typeName{pos: s.pos}
	for {
		p, ok := s.part()
		if !ok {
			return nil
		}
		t.parts = append(t.parts, p)
		if len(t.parts) > limits.TypeNameDepth || !s.accept('.') && !s.accept('+') {
			break
		}
	}
	if len(t.parts) == 1 && !t.parts[0].generic {
		if k, ok := keywords[t.parts[0].name]; ok {
			t.parts = []namePart{{name: "System"}, {name: k}}
		}
	}
	t.arrays = s.brackets()
	return t
}

func (s *typeScanner) part() (namePart, bool) {
	var p namePart
	start := s.pos
	if s.pos < len(s.src) && s.src[s.pos] == '<' { // the compiler's: <>c, <Run>d__5
		if !s.angle() {
			return p, false
		}
	}
	s.identifier()
	p.name = s.src[start:s.pos]
	if p.name == "" || p.name[0] >= '0' && p.name[0] <= '9' {
		return p, false
	}
	at := s.pos
	if !s.accept('<') {
		return p, true
	}
	p.generic = true
	for s.accept(',') {
		p.commas++
	}
	if s.accept('>') {
		return p, true
	}
	for p.commas == 0 {
		a := s.typeName()
		if a == nil || len(p.args) >= limits.TypeNameDepth {
			break
		}
		p.args = append(p.args, a)
		if s.accept('>') {
			return p, true
		}
		if !s.accept(',') {
			break
		}
	}
	s.pos = at // a comparison, and no type
	return namePart{name: p.name}, true
}

// angle passes the brackets in front of a name that the compiler made, which may have others in them.
func (s *typeScanner) angle() bool {
	for depth := 0; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				s.pos++
				return true
			}
		case ' ', '"', '(', '|', '&', '=':
			return false
		}
	}
	return false
}

func (s *typeScanner) identifier() {
	for s.pos < len(s.src) {
		c, n := utf8.DecodeRuneInString(s.src[s.pos:])
		if !isIdentifier(c) && c != '`' && !(s.star && (c == '*' || c == '?')) {
			return
		}
		s.pos += n
	}
}

func isIdentifier(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// brackets reads the brackets of arrays; an index is none.
func (s *typeScanner) brackets() []string {
	var out []string
	for len(out) < limits.TypeNameDepth {
		at := s.pos
		if !s.accept('[') {
			return out
		}
		b := "["
		for s.accept(',') {
			b += ","
			if len(b) > limits.ArrayRank {
				break
			}
		}
		if s.accept('*') {
			b += "*"
		}
		if !s.accept(']') {
			s.pos = at
			return out
		}
		out = append(out, b+"]")
	}
	return out
}

// opened returns the name with nothing between < and > where the names of parameters stand there (T, TKey, K), nil if none do.
func (t *typeName) opened() *typeName {
	out := *t
	out.parts = slices.Clone(t.parts)
	found := false
	for i := range out.parts {
		p := &out.parts[i]
		if len(p.args) > 0 && !slices.ContainsFunc(p.args, func(a *typeName) bool { return !a.isParameter() }) {
			p.args, p.commas, found = nil, len(p.args)-1, true
		}
	}
	if !found {
		return nil
	}
	return &out
}

// isParameter reports whether a name looks like that of a parameter of a generic type: one letter, or T and a word.
func (t *typeName) isParameter() bool {
	if len(t.parts) != 1 || t.parts[0].generic || len(t.arrays) > 0 {
		return false
	}
	name := t.parts[0].name
	return len(name) == 1 || len(name) > 1 && name[0] == 'T' && unicode.IsUpper(rune(name[1]))
}

// String returns the name as C# writes it.
func (t *typeName) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *typeName) write(b *strings.Builder) {
	for i, p := range t.parts {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p.name)
		if p.generic {
			b.WriteString("<" + strings.Repeat(",", p.commas))
			for j, a := range p.args {
				if j > 0 {
					b.WriteString(", ")
				}
				a.write(b)
			}
			b.WriteByte('>')
		}
	}
	b.WriteString(strings.Join(t.arrays, ""))
}

// definition returns the name without what chooses one of the instances of a generic type.
func (t *typeName) definition() string {
	var b strings.Builder
	for i, p := range t.parts {
		if i > 0 {
			b.WriteByte('.')
		}
		name, _, _ := strings.Cut(p.name, "`")
		b.WriteString(name)
	}
	return b.String() + strings.Join(t.arrays, "")
}

// A looseness says how much of a name may be left out.
type looseness uint8

const (
	strict      looseness = iota
	noArguments           // List is every List<T>
)

// names reports whether t, as a user wrote it, names the type d, and whether
// with its whole name: namespaces and outer types may be left out.
func (t *typeName) names(d *typeName, l looseness) (ok, whole bool) {
	n := len(d.parts) - len(t.parts)
	if n < 0 || !slices.Equal(t.arrays, d.arrays) {
		return false, false
	}
	for i := range t.parts {
		if !t.parts[i].names(&d.parts[n+i], l) {
			return false, false
		}
	}
	return true, n == 0
}

func (p *namePart) names(d *namePart, l looseness) bool {
	name, arity, backTick := strings.Cut(d.name, "`")
	if p.name != name && p.name != d.name && !matchPattern(p.name, name) {
		return false
	}
	switch {
	case len(p.args) > 0:
		return len(p.args) == len(d.args) && slices.EqualFunc(p.args, d.args, func(a, b *typeName) bool {
			ok, _ := a.names(b, l)
			return ok
		})
	case p.generic:
		return d.generic && len(d.args) == p.commas+1 || backTick && arity == itoa(p.commas+1)
	case !d.generic && !backTick || p.name == d.name && !d.generic:
		return true
	}
	return l >= noArguments || strings.Contains(p.name, "`") && p.name == d.name+"`"+itoa(len(d.args))
}

// matchPattern reports whether a name fits a pattern with * and ?. One without these fits nothing.
func matchPattern(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return false
	}
	star, mark, i := -1, 0, 0
	for j := 0; j < len(name); {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark, i = i, j, i+1
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == name[j]):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "*") == ""
}
