package signature

import "strings"

// Method returns the name of a method for signatures: without parameters, type arguments, offset, and the compiler's
// closures and numbers. For the state machine of an async method or iterator it returns that method.
func Method(s string) string {
	s = withoutGenerics(withoutOffset(s))
	if i := strings.IndexByte(s, '('); i > 0 {
		s = s[:i]
	}
	s = strings.ReplaceAll(s, "+", ".")
	var out []string
	for _, part := range segments(s) {
		if part = withoutNumbers(part); part != "" {
			out = append(out, part)
		}
	}
	if n := len(out); n > 1 && out[n-1] == "MoveNext" {
		if of, found := strings.CutSuffix(out[n-2], ">d"); found {
			out = append(out[:n-2], strings.TrimPrefix(of, "<"))
		}
	}
	return strings.Join(out, ".")
}

// segments splits a name at its dots, except inside angle brackets.
func segments(s string) (out []string) {
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '<':
			depth++
		case '>':
			depth--
		case '.':
			if depth == 0 && i > from { // .ctor begins with a dot of its own
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// withoutNumbers strips the compiler's numbers from a part of a name: <Run>b__3_0 becomes <Run>b, <Load>d__5 becomes
// <Load>d, <Run>g__Add|3_0 becomes <Run>g__Add. A closure (<>c, <>c__DisplayClass3_0) becomes "".
func withoutNumbers(s string) string {
	i := strings.LastIndexByte(s, '>')
	if i < 0 || s[0] != '<' {
		return s
	}
	if inner := s[1:i]; inner != "" && inner[0] == '<' {
		return "<" + withoutNumbers(inner) + s[i:min(len(s), i+2)]
	}
	rest := s[i+1:]
	if s[:i+1] == "<>" && strings.HasPrefix(rest, "c") {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "|")
	if k := strings.Index(rest, "__"); k >= 0 && strings.Trim(rest[k:], "_0123456789") == "" {
		rest = rest[:k]
	}
	return s[:i+1] + rest
}

// withoutGenerics strips type arguments and numbers of type parameters: List`1[[System.Int32, System.Private.CoreLib]]
// and List<int> become List. Angle brackets at the start of a name are the compiler's and stay.
func withoutGenerics(s string) string {
	if !strings.ContainsAny(s, "`[<") {
		return s
	}
	var b strings.Builder
	var angles []bool // by open angle bracket: whether it encloses type arguments
	square, args := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '[':
			square++
		case c == ']':
			square--
		case square > 0:
		case c == '<':
			generic := i > 0 && !strings.ContainsRune(".+<(,! ", rune(s[i-1]))
			if angles = append(angles, generic); generic {
				args++
			} else if args == 0 {
				b.WriteByte(c)
			}
		case c == '>':
			if n := len(angles); n > 0 && angles[n-1] {
				args, angles = args-1, angles[:n-1]
				continue
			} else if n > 0 {
				angles = angles[:n-1]
			}
			if args == 0 {
				b.WriteByte(c)
			}
		case args > 0:
		case c == '`':
			for i+1 < len(s) && '0' <= s[i+1] && s[i+1] <= '9' {
				i++
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
