package typetext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

const (
	moduleSeparator = "--------------------------------------\n"
	memberSeparator = "-----------------------\n"
)

// Names is the text of name2ee. SOS's form has similar names, too.
func Names(p *report.Page, s *answer.NameSearch) {
	searched(p, s, func(m *answer.SearchedModule) []answer.NameMatch {
		if !p.SOS || m.Similar == nil {
			return m.Matches
		}
		var all []answer.NameMatch
		for n := range report.Each(p, m.Similar) {
			all = append(all, n)
		}
		return all
	}, func(_ *answer.SearchedModule, matches []answer.NameMatch) {
		for i := range matches {
			if i > 0 {
				p.Print(memberSeparator)
			}
			match(p, &matches[i], 16)
		}
	})
}

// Tokens is the text of token2ee.
func Tokens(p *report.Page, s *answer.NameSearch) {
	searched(p, s, func(m *answer.SearchedModule) []answer.NameMatch { return m.Matches }, func(m *answer.SearchedModule, matches []answer.NameMatch) {
		switch {
		case len(matches) == 0 && m.Err != nil:
			p.Printf("Token:       %08x\n%s\n", uint64(s.Token), answer.Absent(m.Err))
		case len(matches) == 0:
			p.Printf("Token:       %08x\n<invalid module token>\n", uint64(s.Token))
		case matches[0].Kind == answer.MatchField:
			p.Printf("Token:       %08x\nField name:  %s\n", uint64(s.Token), report.Escape(matches[0].Field.String()))
		default:
			match(p, &matches[0], 8)
		}
	})
}

// searched writes the modules with the names found in them. It counts the modules without a match and the unreadable
// ones.
func searched(p *report.Page, s *answer.NameSearch, matches func(*answer.SearchedModule) []answer.NameMatch, write func(*answer.SearchedModule, []answer.NameMatch)) {
	printed, without, unread := 0, 0, 0
	for i := range s.Modules {
		m := &s.Modules[i]
		found := matches(m)
		if len(found) == 0 {
			if m.Err == nil || p.SOS { // SOS counts both as one
				without++
			} else {
				unread++
			}
			if s.All {
				continue
			}
		}
		if printed > 0 {
			p.Print(moduleSeparator)
		}
		printed++
		p.Printf("Module:      %s\nAssembly:    %s\n", report.Hex16(m.Module), report.Escape(m.File.String()))
		write(m, found)
	}
	if !s.All || without+unread == 0 {
		return
	}
	if printed > 0 {
		p.Print(moduleSeparator)
	}
	p.Printf("\nScanned %d %s which had no matches.\n", without, report.Noun(uint64(without), "module", "modules"))
	if unread > 0 {
		p.Printf("%d other %s could not be scanned.\n", unread, report.Noun(uint64(unread), "module", "modules"))
	}
}

// match writes a match below its module; tokens have so many digits.
func match(p *report.Page, n *answer.NameMatch, digits int) {
	if n.Kind == answer.MatchField {
		p.Printf("Field %s (mdToken %08x) of\n", report.Escape(n.Field.String()), uint64(n.FieldToken))
	}
	p.Printf("Token:       %0*x\n", digits, uint64(n.Token))
	if n.Kind == answer.MatchMethod {
		p.Printf("MethodDesc:  %s\n", loaded(n.MethodDesc))
	} else {
		p.Printf("MethodTable: %s\n", loaded(n.MethodTable))
	}
	if n.Kind == answer.MatchType && answer.Is(n.MethodTable.Maybe, 0) && digits == 8 {
		p.Print("EEClass:     <not loaded yet>\n")
	}
	p.Printf("Name:        %s\n", report.Escape(n.Name.String()))
	if n.InitializerFailed && !p.SOS {
		p.Printf("Initializer: %s\n", initializerFailed)
	}
	switch {
	case n.Kind != answer.MatchMethod:
	case answer.Is(n.Code.Maybe, 0):
		p.Print("Not JITTED yet.\n")
	default:
		p.Printf("JITTED Code Address: %s\n", text.Hex16(n.Code.Maybe))
	}
}

// loaded returns the address of what the runtime may not have made yet.
func loaded(a answer.Pointer) string {
	if answer.Is(a.Maybe, 0) {
		return "<not loaded yet>"
	}
	return text.Hex16(a.Maybe)
}
