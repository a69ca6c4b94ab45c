package secrets

import "strings"

// insertHead matches an INSERT of SQL as far as its rows, with the names of its columns.
var insertHead = compiled(`(?i)\binsert\s+into\s+[^\s()]+(?:\s|\\[rnt])*\(([^()]*)\)(?:\s|\\[rnt])*values(?:\s|\\[rnt])*`)

// inInserts returns the texts that an INSERT of SQL has for columns with names for secrets, as a regexp with one group does.
func inInserts(text string) (out [][]int) {
	for _, head := range insertHead().FindAllStringSubmatchIndex(text, -1) {
		var secret []bool
		some := false
		for column := range strings.SplitSeq(text[head[2]:head[3]], ",") {
			is := NamesSecret(strings.Trim(column, " \t\r\n\"'`[]\\"))
			secret, some = append(secret, is), some || is
		}
		for at := head[1]; some && at < len(text) && text[at] == '('; {
			for column := 0; at < len(text) && (text[at] == '(' || text[at] == ','); column++ {
				from, to, end, quoted := literalAt(text, skipSpaces(text, at+1))
				if quoted && from < to && column < len(secret) && secret[column] {
					out = append(out, []int{head[0], to, from, to})
				}
				at = skipSpaces(text, end)
			}
			if at < len(text) && text[at] == ')' {
				if at = skipSpaces(text, at+1); at < len(text) && text[at] == ',' {
					at = skipSpaces(text, at+1)
				}
				continue
			}
			break
		}
	}
	return out
}

// literalAt reads a value of SQL at i: a text in single quotes, doubled in it, or another value up to its end. It returns its position and the place behind it.
func literalAt(text string, i int) (from, to, end int, quoted bool) {
	at := i
	if at+1 < len(text) && strings.IndexByte("NnEeBbXx", text[at]) >= 0 && text[at+1] == '\'' {
		at++
	}
	if at < len(text) && text[at] == '\'' {
		from = at + 1
		for at = from; at < len(text); at++ {
			if text[at] != '\'' {
				continue
			}
			if at+1 == len(text) || text[at+1] != '\'' {
				return from, at, at + 1, true
			}
			at++
		}
		return from, len(text), len(text), true
	}
	for depth := 0; at < len(text); at++ {
		switch c := text[at]; {
		case c == '(':
			depth++
		case depth > 0 && c == ')':
			depth--
		case depth == 0 && (c == ',' || c == ')' || c == ';'):
			return i, at, at, false
		}
	}
	return i, at, at, false
}
