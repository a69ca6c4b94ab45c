package secrets

import (
	"strings"
)

// isSpace reports whether \s matches c.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

// mayBeURL reports whether a text may contain a URL with a password: a name, a colon, a password
// and an @ after ://.
func mayBeURL(text string) bool {
	if strings.Contains(text, `:\/\/`) { // in JSON of some languages
		return true
	}
	for {
		_, rest, ok := strings.Cut(text, "://")
		if !ok {
			return false
		}
		text = rest
		n := strings.IndexAny(rest, "/@:\"'<>?#\t\n\f\r ")
		if n < 0 || rest[n] != ':' {
			continue
		}
		rest = rest[n+1:]
		if n = strings.IndexAny(rest, "/\"'<>\t\n\f\r "); n >= 0 {
			rest = rest[:n]
		}
		if strings.LastIndexByte(rest, '@') > 0 {
			return true
		}
	}
}

// mayBeUser reports whether a text may contain a URL with a user of shortestUser characters and more.
func mayBeUser(text string) bool {
	for {
		i := strings.IndexByte(text, '/')
		if i < 0 || i+2 >= len(text) {
			return false
		}
		text = text[i+1:]
		if text[0] != '/' && text[0] != '\\' {
			continue
		}
		if n := strings.IndexAny(text[1:], "@ \t\n\"'<>"); n >= shortestUser && text[1+n] == '@' {
			return true
		}
	}
}

// shortestUser is the least number of characters of a user in a URL that is taken for a key.
const shortestUser = 12

// mayBeOption reports whether a text may contain an option with a secret: a dash, a name of a
// secret, and a value.
func mayBeOption(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '-' || i > 0 && !isSpace(text[i-1]) && strings.IndexByte("\"'[,\x00", text[i-1]) < 0 {
			continue
		}
		from := i
		for i++; i < len(text) && (text[i] == '-' || text[i] == '_' || isAlphanumeric(text[i])); i++ {
		}
		switch {
		case i == len(text):
		case text[i] >= 0x80: // may be a letter in another case
			return true
		case strings.IndexByte(" \t=:\",\x00\r\n", text[i]) >= 0 && hasEnding(text[from:i]):
			return true
		}
	}
	return false
}

// mayBeAssigned reports whether a text may assign a value to a name that means a secret: such a
// name before = or :.
func mayBeAssigned(text string) bool {
	for i := range len(text) {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		end := i
		for end > 0 && isSpace(text[end-1]) {
			end--
		}
		if end > 0 && text[end-1] == ']' {
			end--
		}
		if end > 0 && (text[end-1] == '"' || text[end-1] == '\'' || text[end-1] == '`') {
			end--
		}
		for end > 0 && text[end-1] == '\\' {
			end--
		}
		if name := text[max(0, end-longestName):end]; endsStrong(name) || endsStrong(withoutNumber(name)) {
			return true
		}
	}
	return false
}

// withoutNumber returns a name without a number of up to three digits at its end, as EF Core adds: password_1.
func withoutNumber(name string) string {
	const most = 3
	n := len(name)
	for n > 0 && len(name)-n < most && name[n-1] >= '0' && name[n-1] <= '9' {
		n--
	}
	if n == len(name) {
		return name
	}
	return strings.TrimSuffix(name[:n], "_")
}

// mayBeYAML reports whether a text may have a value of YAML that does not stand just behind its key: in another line, or behind a tag or an anchor.
func mayBeYAML(text string) bool {
	return strings.Contains(text, ":") && strings.ContainsAny(text, "\n!&")
}

// mayBeCommand reports whether a text may have an option.
func mayBeCommand(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i] == '-' && isSpace(text[i-1]) {
			return true
		}
	}
	return false
}

// longestName is an upper bound for the length in bytes of a name in strong, even if its letters
// take several bytes.
const longestName = 96

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || lowered(c) >= 'a' && lowered(c) <= 'z'
}

// endings are the endings, in lower case, of all names of secrets in the forms.
var endings = []string{"word", "wd", "phrase", "key", "signature", "secret", "token", "credential", "credentials", "pass", "data",
	"asscode", "-pw", "wort", "passe", "asena", "senha", "woord", "haslo",
	"senord", "parola"}

// hasEnding reports whether a name ends with one of the endings, ignoring case. A character outside
// ASCII may be another case of a letter, so it counts as one.
func hasEnding(name string) bool {
	for _, e := range endings {
		for i := 1; ; i++ {
			if i > len(e) {
				return true
			}
			if i > len(name) {
				break
			}
			c := name[len(name)-i]
			if c >= 0x80 {
				return true
			}
			if lowered(c) != e[len(e)-i] {
				break
			}
		}
	}
	return false
}
