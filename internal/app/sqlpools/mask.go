package sqlpools

import (
	"strings"
	"unicode"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/secrets"
)

// masked replaces a secret.
const masked = "***"

// mask hides the secrets of a pool in the connection string, in command texts and in parameters.
func mask(p *answer.SQLPool) {
	p.Connection.S = Masked(p.Connection.S)
	for i := range p.Connections {
		maskCommand(p.Connections[i].Command.Value)
	}
}

func maskCommand(c *answer.SQLCommand) {
	if c == nil {
		return
	}
	c.Text.S = MaskedSQL(c.Text.S)
	for i := range c.Parameters {
		if v := &c.Parameters[i]; v.Value != "null" && secrets.Hides(v.Name.S, v.Value) {
			v.Value = masked
		}
	}
}

// Masked returns a connection string with its secrets masked.
func Masked(s string) string {
	var out strings.Builder
	for s != "" {
		part := s[:end(s)]
		s = s[len(part):]
		name, value, ok := strings.Cut(part, "=")
		tail := ""
		if strings.HasSuffix(part, ";") {
			tail = ";"
		}
		if value = strings.Trim(value, "; "); ok && value != "" && (secrets.Named(name) || secrets.Looks(value)) {
			out.WriteString(name + "=" + masked + tail)
		} else {
			out.WriteString(part)
		}
	}
	return out.String()
}

// end returns the end of the first part of a connection string, after the first semicolon outside quotes.
func end(s string) int {
	quote := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ';':
			return i + 1
		}
	}
	return len(s)
}

// MaskedSQL returns the text of a command with secret literals masked. A literal is a secret by itself or by the word
// before it, as in PASSWORD = 'x' and IDENTIFIED BY 'x'.
func MaskedSQL(s string) string {
	if !strings.Contains(s, "'") {
		return s
	}
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "'")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		literal, after, ok := cutLiteral(rest)
		if secrets.Looks(literal) || literal != "" && secrets.Named(named(before)) {
			literal = masked
		}
		out.WriteString("'" + literal)
		if !ok {
			return out.String()
		}
		out.WriteString("'")
		s = after
	}
}

// cutLiteral returns a literal, in which two quotes stand for one, and the text after its closing quote. ok reports
// whether the quote is present.
func cutLiteral(s string) (literal, after string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\'':
		case i+1 < len(s) && s[i+1] == '\'':
			i++
		default:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// named returns the name of a literal: the last word before it, or the last two words if the last is BY.
func named(before string) string {
	before = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(before, "N"), "E"), " \t\r\n=:(")
	if b := strings.ToUpper(before); strings.HasSuffix(b, " BY") {
		return strings.ReplaceAll(b[strings.LastIndexAny(b[:len(b)-3], " \t\r\n")+1:], "IDENTIFIED BY", "PASSWORD")
	}
	at := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	return before[at+1:]
}
