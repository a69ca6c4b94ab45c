package secrets

import (
	"strings"
	"unicode"
)

// This file finds values beside short names for secrets, which mean something else in other places: pass, pw, token.

// shortValue matches what is assigned to a short name.
var shortValue = compiled(`^\s*` + value)

// inShort returns the values that are assigned to short names, as a regexp with one group does.
func inShort(text string) (out [][]int) {
	const most = 512 // bytes in which a value is searched first
	for i := range len(text) {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		n := shortNameBefore(text, i)
		if n.word == "" {
			continue
		}
		rest := text[i+1 : min(len(text), i+1+most)]
		m := shortValue().FindStringSubmatchIndex(rest)
		if m != nil && m[1] == most {
			m = shortValue().FindStringSubmatchIndex(text[i+1:])
		}
		if m == nil {
			continue
		}
		from, to := secretOf(m)
		from, to = i+1+from, i+1+to
		if n.holds(text, i, from, to) {
			out = append(out, []int{n.start, to, from, to})
		}
	}
	return out
}

// A shortName is a name that ends with a short word for a secret.
type shortName struct {
	start  int    // in the text
	name   string // as it is written
	word   string // the last word, in lower case
	joined bool   // with other words before it
	quoted bool
}

// shortWords are the words at the end of short names, and those that end with another one first.
var shortWords = []string{"pswd", "psw", "pass", "token", "pw"}

// shortNameBefore returns the short name before the sign of an assignment. Its word is "" if there is none.
func shortNameBefore(text string, i int) (n shortName) {
	end := i
	for end > 0 && isSpace(text[end-1]) {
		end--
	}
	if end > 0 && (text[end-1] == '"' || text[end-1] == '\'') {
		n.quoted = true
		for end--; end > 0 && text[end-1] == '\\'; end-- {
		}
	}
	start := end
	for start > 0 && end-start < longestName && (isAlphanumeric(text[start-1]) || text[start-1] == '_' || text[start-1] == '-') {
		start--
	}
	name := text[start:end]
	for _, w := range shortWords {
		if len(name) < len(w) || !strings.EqualFold(name[len(name)-len(w):], w) {
			continue
		}
		head := name[:len(name)-len(w)]
		switch {
		case head == "":
		case head[len(head)-1] == '_' || head[len(head)-1] == '-':
			n.joined = strings.Trim(head, "_-") != ""
		case unicode.IsUpper(rune(name[len(head)])) && !unicode.IsUpper(rune(head[len(head)-1])):
			n.joined = true
		default:
			return n // the end of another word: bypass
		}
		n.start, n.name, n.word = start, name, w
		return n
	}
	return n
}

// holds reports whether the value from from to to, behind the sign at i, is a secret by its name.
func (n *shortName) holds(text string, i, from, to int) bool {
	v := text[from:to]
	choice := word(v) || isDecimal(v)
	inEnvironment := n.joined && strings.ToUpper(n.name) == n.name && strings.Contains(n.name, "_")
	switch {
	case isShort(n.word):
		return n.joined
	case inEnvironment && text[i] == '=':
		return true
	case inEnvironment:
		return text[from-1] != ':' && !isDecimal(v) // YAML: NPM_TOKEN: X
	case n.word == "token":
		return !n.joined && (n.quoted || beginsLine(text, n.start)) && isKey(v)
	case n.joined:
		return !choice
	case n.quoted:
		return !choice && strings.ContainsAny(text[i:from], `"'`)
	case text[i] == '=':
		return !choice && n.start > 0 && (text[n.start-1] == '?' || text[n.start-1] == '&')
	}
	return !choice && text[from-1] != ':' && beginsLine(text, n.start) && endsLine(text, to)
}

// isKey reports whether a value looks as a program makes keys.
func isKey(v string) bool {
	const least = 16
	return len(v) >= least && looksGenerated(v)
}

// isDecimal reports whether a value is a number.
func isDecimal(v string) bool { return strings.Trim(v, "0123456789.,+-%") == "" }

// beginsLine reports whether nothing but white space is before i in its line.
func beginsLine(text string, i int) bool {
	for ; i > 0 && text[i-1] != '\n'; i-- {
		if text[i-1] != ' ' && text[i-1] != '\t' {
			return false
		}
	}
	return true
}

// endsLine reports whether nothing but white space and a quote is behind i in its line.
func endsLine(text string, i int) bool {
	for ; i < len(text) && text[i] != '\n'; i++ {
		if !isSpace(text[i]) && text[i] != '"' && text[i] != '\'' {
			return false
		}
	}
	return true
}
