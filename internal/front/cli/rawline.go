package cli

import (
	"slices"
	"strings"
)

// filterNames are the names of filters after |.
var filterNames = []string{"grep", "head", "tail", "sort", "wc", "count", "uniq", "less", "foreach"}

// isFilter reports whether a word after | begins a filter. In the text of a query, only filters that are no steps of
// queries do.
func isFilter(word string) bool {
	word = strings.ToLower(word)
	return slices.Contains(filterNames, word) || word != "select" && word != "where" && (sameFilters()[word] != nil || notFilters()[word] != "") || slices.Contains(loops, word)
}

// rawLine parses the line of a command with Raw set; raw is false for other lines. An argument in single quotes, or
// entirely in double quotes, is parsed as in any other command.
func (a *app) rawLine(text string) (l line, raw bool, err error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	cmd, err := a.table.find(name)
	if err != nil || !cmd.Raw {
		return line{}, false, nil
	}
	l.command = []word{{text: name}}
	p := newParser(cmd, a.global)
	for {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" || rest[0] != '-' || strings.HasPrefix(rest, "-- ") {
			break
		}
		w, n, err := lexWord(rest)
		if err != nil {
			return line{}, true, err
		}
		option, _, hasValue := w.cutOption()
		o, _ := p.find(option)
		if o == nil && !isHelp(option) {
			break // a number, such as -5
		}
		l.command, rest = append(l.command, w), rest[n:]
		if o != nil && o.Kind != Bool && !hasValue {
			rest = strings.TrimLeft(rest, " \t")
			if w, n, err = lexWord(rest + " "); err != nil {
				return line{}, true, err
			}
			l.command, rest = append(l.command, w), rest[min(n, len(rest)):]
		}
	}
	if isQuoted(rest) {
		return line{}, false, nil
	}
	rest = strings.TrimPrefix(rest, "-- ")
	argument, filters := cutFilters(rest)
	if argument = strings.TrimSpace(argument); argument != "" {
		l.command = append(l.command, word{text: argument, literal: true})
	}
	if filters == "" {
		return l, true, nil
	}
	f, err := parseLine("x " + filters)
	l.filters, l.file, l.append = f.filters, f.file, f.append
	return l, true, err
}

// isQuoted reports whether the whole argument is quoted. Double quotes may have nothing after them.
func isQuoted(text string) bool {
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return false
	}
	end := strings.IndexByte(text[1:], text[0])
	if end < 0 {
		return false
	}
	behind := strings.TrimSpace(text[end+2:])
	return behind == "" || behind[0] == '>' && len(behind) > 1 && behind[1] != '=' && text[0] == '\'' || behind[0] == '|' && !strings.HasPrefix(behind, "||")
}

// cutFilters cuts text at the first unquoted | before the name of a filter.
func cutFilters(text string) (argument, filters string) {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '|':
			word, _, _ := strings.Cut(strings.TrimLeft(text[i+1:], " \t"), " ")
			if isFilter(word) {
				return text[:i], text[i:]
			}
		}
	}
	return text, ""
}
