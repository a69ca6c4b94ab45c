package dap

import (
	"strings"
	"unicode/utf16"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/compilernames"
)

// said returns a sentence with its names in the form that the client wants.
func (s *session) said(st *answer.Statement) string {
	if s.runtime {
		return st.Text
	}
	units := utf16.Encode([]rune(st.Text)) // the arguments count these
	var b strings.Builder
	end := 0
	for i := range st.Args {
		a := &st.Args[i]
		if a.Start < end || a.End > len(units) || a.Start >= a.End {
			continue
		}
		own := string(utf16.Decode(units[a.Start:a.End]))
		name := own
		switch a.Type {
		case answer.ArgTypeName, answer.ArgField:
			name = compilernames.CSharp(own)
		case answer.ArgMethod:
			name = compilernames.CSharpMethod(withoutModule(own))
		}
		if name == own {
			continue
		}
		b.WriteString(fitting(string(utf16.Decode(units[end:a.Start])), name))
		b.WriteString(name)
		end = a.End
	}
	b.WriteString(string(utf16.Decode(units[end:])))
	return b.String()
}

// withoutModule returns a method's name without the module in front of it.
func withoutModule(method string) string {
	if module, name, ok := strings.Cut(method, "!"); ok && !strings.ContainsAny(module, "(<") {
		return name
	}
	return method
}

// fitting returns what stands before a name with the article that the name has: a System.Object is an object.
func fitting(before, name string) string {
	for _, article := range []string{" a ", " an "} {
		if head, ok := strings.CutSuffix(before, article); ok {
			if strings.ContainsAny(name[:1], "aeioAEIO") {
				return head + " an "
			}
			return head + " a "
		}
	}
	return before
}
