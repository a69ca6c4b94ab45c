package secrets

import (
	"regexp"
	"strings"
	"sync"
)

// isSpace reports whether a byte is one that \s matches.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

// mayBeURL reports whether a text may have a URL with a password: what follows :// is a name, a colon, a password and an @.
func mayBeURL(text string) bool {
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
		if n = strings.IndexAny(rest, "/@\"'<>\t\n\f\r "); n > 0 && rest[n] == '@' {
			return true
		}
	}
}

// mayBeOption reports whether a text may have an option with a secret: a word after - is that of a secret, and a value may follow it.
func mayBeOption(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '-' || i > 0 && !isSpace(text[i-1]) && strings.IndexByte("\"'[,", text[i-1]) < 0 {
			continue
		}
		from := i
		for i++; i < len(text) && (text[i] == '-' || text[i] == '_' || isAlphanumeric(text[i])); i++ {
		}
		switch {
		case i == len(text):
		case text[i] >= 0x80: // may be a letter in another case
			return true
		case strings.IndexByte(" =:\",", text[i]) >= 0 && hasEnding(text[from:i]):
			return true
		}
	}
	return false
}

// mayBeAssigned reports whether a text may have a value of a name that means a secret wherever it stands: what precedes = or : is one.
func mayBeAssigned(text string) bool {
	for i := range len(text) {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		end := i
		for end > 0 && isSpace(text[end-1]) {
			end--
		}
		if end > 0 && (text[end-1] == '"' || text[end-1] == '\'') {
			end--
		}
		if end > 0 && text[end-1] == '\\' {
			end--
		}
		if name := text[max(0, end-longestName):end]; hasEnding(name) && endsStrong().MatchString(name) {
			return true
		}
	}
	return false
}

// longestName is more than the bytes of the longest name in strong, also where letters are of several bytes.
const longestName = 96

var endsStrong = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:` + strong + `)$`) })

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || lowered(c) >= 'a' && lowered(c) <= 'z'
}

// endings are the ends of all names of secrets that forms have, in lower case.
var endings = []string{"word", "wd", "phrase", "key", "signature", "secret", "token", "credential", "credentials", "pass"}

// hasEnding reports whether a name ends with one of the endings, or with a character that may be a letter of one: some that are not in
// ASCII are other cases of letters.
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
