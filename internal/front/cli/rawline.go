package cli

import (
	"slices"
	"strings"
)

// filterNames are the words that begin a filter behind |.
var filterNames = []string{"grep", "findstr", "head", "tail", "sort", "wc", "count", "uniq", "less", "more"}

// rawLine reads the line of a command that is Raw; raw is false for other lines. An argument in single quotes, or that begins
// with a double quote and ends where that is closed, is read as that of any other command.
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
			break // -5
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

// isQuoted reports whether an argument stands in quotes: in single ones, or in double ones with nothing behind.
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

// cutFilters cuts text at the first | outside of quotes that a filter's name follows.
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
			if slices.Contains(filterNames, strings.ToLower(word)) {
				return text[:i], text[i:]
			}
		}
	}
	return text, ""
}
