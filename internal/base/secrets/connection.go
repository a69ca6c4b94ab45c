package secrets

import "strings"

// This file finds the passwords of connection strings by the grammar of these: a value in quotes, with quotes doubled in it, a value of ODBC in
// braces, or all up to a semicolon. Other assignments end at any delimiter.

// Bounds of a connection string around a password.
const (
	mostBefore = 2048 // bytes
	mostValue  = 1024 // bytes
)

// inConnections returns the values of names for secrets in connection strings, as a regexp with one group does.
func inConnections(text string) (out [][]int) {
	for at, done := 0, 0; at < len(text); at++ {
		if text[at] != '=' || at < done {
			continue
		}
		start := keyStart(text, at)
		if start == at || !endsStrong(strings.TrimRight(text[start:at], " ")) {
			continue
		}
		quote, whole, chained := around(text, start)
		from, to, end, ok := connectionValue(text, skipBlanks(text, at+1, len(text)), quote)
		if !ok || from == to {
			continue
		}
		followed := end < len(text) && text[end] == ';'
		switch {
		case followed && (chained || keyFollows(text, end+1)):
		case !followed && chained && (whole || quote != ""):
		default:
			continue
		}
		out = append(out, []int{start, to, from, to})
		done = to
	}
	return out
}

// mayBeConnection reports whether a text may have a connection string with a password.
func mayBeConnection(text string) bool { return strings.Contains(text, ";") && mayBeAssigned(text) }

// isKeyChar reports whether c may be in a key of a connection string.
func isKeyChar(c byte) bool { return isAlphanumeric(c) || c == ' ' || c == '_' || c == '-' || c == '.' }

// keyStart returns where the key begins that ends at a place.
func keyStart(text string, end int) int {
	const longest = 64
	at := end
	for at > 0 && end-at < longest && isKeyChar(text[at-1]) {
		at--
	}
	return skipBlanks(text, at, end)
}

// endsQuote reports whether a quote that is written with as many backslashes as the opening one is at a place.
func endsQuote(text string, at int, quote string) bool {
	return strings.HasPrefix(text[at:], quote) && (at == 0 || text[at-1] != '\\')
}

// keyFollows reports whether a key and an equals sign follow.
func keyFollows(text string, at int) bool {
	at = skipBlanks(text, at, len(text))
	from := at
	for at < len(text) && isKeyChar(text[at]) {
		at++
	}
	return at < len(text) && at > from && text[at] == '='
}

// around returns what is before a key: whether another key with its value is, the quote in which the connection string stands, as it is
// written with its backslashes, and whether it begins its line.
func around(text string, start int) (quote string, whole, chained bool) {
	line := text[max(0, start-mostBefore):start]
	cut := len(line) < start
	line = withoutEntities(line)
	if i := strings.LastIndexAny(line, "\r\n\x00"); i >= 0 {
		line, cut = line[i+1:], false
	}
	for {
		before := strings.TrimRight(line, " ")
		rest, ok := strings.CutSuffix(before, ";")
		if !ok {
			if chained && strings.TrimSpace(line) == "" {
				return "", !cut, true
			}
			return quoteAtEnd(line), !chained && strings.TrimSpace(line) == "", chained
		}
		segment := 1 + strings.LastIndexByte(rest, ';')
		if !strings.Contains(rest[segment:], "=") {
			return quoteAtEnd(line), false, chained
		}
		chained = true
		if segment == 0 {
			return first(rest, cut)
		}
		line = rest[:segment]
	}
}

// first is around for the first key of a chain, in the text before the first semicolon.
func first(text string, cut bool) (quote string, whole, chained bool) {
	from := keyStart(text, strings.IndexByte(text, '='))
	for {
		next := strings.IndexByte(text[from:], '=')
		if next < 0 {
			break
		}
		if behind := from + next + 1; behind < len(text) && strings.IndexByte(`"'\`, text[behind]) >= 0 && strings.Contains(text[behind:], "=") { // connectionString="Server=…
			from = keyStart(text, behind+strings.IndexByte(text[behind:], '='))
			continue
		}
		break
	}
	quote = quoteAtEnd(text[:from])
	return quote, quote == "" && !cut && strings.TrimSpace(text[:from]) == "", true
}

// withoutEntities returns a text in which no escape of XML has a semicolon.
func withoutEntities(text string) string {
	if !strings.Contains(text, "&") {
		return text
	}
	b := []byte(text)
	for i := range b {
		if b[i] == '&' {
			if _, n := entityAt(nil, text[i:]); n > 0 {
				b[i+n-1] = ','
			}
		}
	}
	return string(b)
}

// quoteAtEnd returns the quote at the end of a text, with the backslashes before it; "" without one.
func quoteAtEnd(text string) string {
	n := len(text)
	if n == 0 || text[n-1] != '"' && text[n-1] != '\'' {
		return ""
	}
	return text[n-1-backslashes(text[:n-1]):]
}

// connectionValue returns the place of the value at from, and the end of what it stands in: quotes are not a part of it, braces are. ok is false if
// it has no end.
func connectionValue(text string, from int, quote string) (start, to, end int, ok bool) {
	most := min(len(text), from+mostValue)
	if from >= most {
		return 0, 0, 0, false
	}
	for _, opening := range []string{`"`, "'", "&quot;", "&apos;", "&#34;", "&#39;", `\"`, `\\\"`, "\\u0022", "{"} {
		if !strings.HasPrefix(text[from:], opening) || opening == quote {
			continue
		}
		closing, outer := opening, 0
		if opening == "{" {
			closing, outer = "}", 1
		}
		for at := from + len(opening); at < most; {
			switch {
			case strings.HasPrefix(text[at:], closing+closing):
				at += 2 * len(closing)
			case strings.HasPrefix(text[at:], closing):
				end = skipBlanks(text, at+len(closing), len(text))
				if end < len(text) && text[end] != ';' && (quote == "" || !strings.HasPrefix(text[end:], quote)) {
					return unquoted(text, from, most, quote) // the quote is a part of the value
				}
				if outer > 0 {
					return from, at + 1, end, true
				}
				return from + len(opening), at, end, true
			case strings.IndexByte("\r\n\x00", text[at]) >= 0, quote != "" && endsQuote(text, at, quote):
				return unquoted(text, from, most, quote)
			default:
				at++
			}
		}
		break
	}
	return unquoted(text, from, most, quote)
}

// unquoted is connectionValue for a value up to a semicolon, the end of the line, or the quote in which the connection string stands.
func unquoted(text string, from, most int, quote string) (start, to, end int, ok bool) {
	at := from
	for at < most {
		c := text[at]
		if c == ';' || strings.IndexByte("\r\n\x00", c) >= 0 {
			break
		}
		if c == '&' {
			if _, n := entityAt(nil, text[at:]); n > 0 {
				at += n
				continue
			}
		}
		if quote != "" && endsQuote(text, at, quote) {
			break
		}
		if quote != "" && c == '\\' {
			at += escapes(text, at)
		}
		at++
	}
	at = min(at, len(text))
	if at == most && most < len(text) {
		return 0, 0, 0, false
	}
	return from, from + len(strings.TrimRight(text[from:at], " \t")), at, true
}
