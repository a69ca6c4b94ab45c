// Package secrets decides what of a process's data is a secret, and masks it. There are three rules, and one is enough:
//
//   - the name: one of its words is a word for a secret, such as password, token or key. Words end at a change of case, at a digit and at
//     anything that is no letter: ConnectionStrings:Shop, AWS_SECRET_ACCESS_KEY and apiKey have one (Named);
//   - the form: a password in a connection string or a URL, a token of three parts (JWT), a private key, credentials in a header, a cookie, a key
//     with a published prefix (Find), or a long word of mixed letters and digits as key generators make them (Generated);
//   - the value: what a Masker has learnt by a name or a form is masked wherever the same bytes appear.
//
// A rule errs towards hiding: a hidden value costs a question, a shown one may be in a ticket for ever. docs/secrets.md has the measured recall.
package secrets

import (
	"strings"
	"unicode"
)

// Mask stands in the place of a hidden value.
const Mask = "<hidden>"

// words are words of names whose values are secrets.
var words = map[string]bool{
	"password": true, "passwd": true, "passphrase": true, "pwd": true, "pass": true, "secret": true, "secrets": true, "token": true, "tokens": true,
	"credential": true, "credentials": true, "apikey": true, "key": true, "auth": true, "authorization": true, "cookie": true, "sas": true, "signature": true,
	"connectionstring": true, "connectionstrings": true, "dsn": true, "salt": true, "pin": true, "certificate": true, "accesskey": true, "privatekey": true, "bearer": true,
}

// joined are parts of names without borders between words: DBPASSWORD, mysecret.
var joined = []string{"password", "passwd", "secret", "apikey", "accesskey", "privatekey", "connectionstring", "credential", "token"}

// Strong reports whether a name means a secret whatever it belongs to: a password, not just a key.
func Strong(name string) bool {
	lower := strings.ToLower(name)
	for _, j := range joined {
		if j != "token" && strings.Contains(lower, j) {
			return true
		}
	}
	for _, w := range split(name) {
		switch w {
		case "pwd", "passphrase", "dsn", "authorization", "apikey":
			return true
		}
	}
	return false
}

// Named reports whether the name of a setting is that of a secret.
func Named(name string) bool {
	lower := strings.ToLower(name)
	for _, j := range joined {
		if strings.Contains(lower, j) {
			return true
		}
	}
	for _, w := range split(name) {
		if words[w] {
			return true
		}
	}
	return false
}

// split returns the words of a name in lower case.
func split(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			end()
			continue
		}
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			end()
		}
		word = append(word, r)
	}
	end()
	return out
}

// generated are the bounds of the value rule for words that a generator made.
const (
	generatedLeast = 24 // characters
	generatedKinds = 3  // of lower case, upper case, digits
)

// Looks reports whether a value has the form of a secret, or has one in it, whatever its name is.
func Looks(value string) bool { return Generated(value) || len(Find(value)) > 0 }

// Generated reports whether a text is a word as key generators make them.
func Generated(text string) bool { return generatedWord(strings.TrimRight(text, "=")) }

// generatedWord reports whether s is one long word of lower-case letters, upper-case letters and digits in turn, as in base64. Paths, versions
// and names of types have other signs, or few changes.
func generatedWord(s string) bool {
	if len(s) < generatedLeast {
		return false
	}
	kinds, changes, last := map[int]bool{}, 0, -1
	for _, r := range s {
		kind := 0
		switch {
		case r >= 'a' && r <= 'z':
			kind = 1
		case r >= 'A' && r <= 'Z':
			kind = 2
		case r >= '0' && r <= '9':
			kind = 3
		case r == '+' || r == '/' || r == '-' || r == '_':
		default:
			return false
		}
		if kind == 0 {
			continue
		}
		if kinds[kind] = true; kind != last {
			changes++
		}
		last = kind
	}
	return len(kinds) == generatedKinds && changes*3 >= len(s)
}

// Hides reports whether a setting is not to be shown.
func Hides(name, value string) bool { return value != "" && (Named(name) || Looks(value)) }
