// Package secrets decides which data of a process is secret, and masks it. A text is secret if one
// of three rules applies:
//
//   - The name contains a word for a secret, such as password, token or key (Named). Words end at a
//     change of case, at a digit and at anything that is not a letter: ConnectionStrings:Shop,
//     AWS_SECRET_ACCESS_KEY, apiKey.
//   - The form is one of a secret (Find): a password in a connection string or URL, a JWT, a
//     private key, credentials in a header, a cookie, a key with a published prefix. So is a long
//     word of mixed letters and digits (Generated).
//   - A Masker has learnt the value by its name or form. It is then masked everywhere.
//
// The rules err towards hiding. docs/secrets.md has the measured recall. Start reading at Masker.
package secrets

import (
	"strings"
	"sync"
	"unicode"
)

// Mask replaces a hidden value.
const Mask = "<hidden>"

// words are the words in names of secrets.
var words = map[string]bool{
	"password": true, "passwd": true, "passphrase": true, "pwd": true, "pw": true, "psw": true, "pswd": true, "pass": true, "secret": true, "secrets": true, "token": true, "tokens": true,
	"credential": true, "credentials": true, "apikey": true, "key": true, "auth": true, "authorization": true, "cookie": true, "sas": true, "signature": true,
	"connectionstring": true, "connectionstrings": true, "dsn": true, "salt": true, "pin": true, "certificate": true, "accesskey": true, "privatekey": true, "bearer": true,
	"senha": true, "wachtwoord": true, "haslo": true, "has\u0142o": true, "l\u00f6senord": true, "losenord": true, "parola": true,
}

// joined are substrings of names without word boundaries: DBPASSWORD, mysecret.
var joined = []string{"password", "passwd", "passcode", "secret", "apikey", "accesskey", "privatekey", "connectionstring", "credential", "token",
	"passwort", "kennwort", "motdepasse", "mot_de_passe", "contrasena", "contrase\u00f1a"}

// Strong reports whether a name means a secret in any context, such as password, but not key.
func Strong(name string) bool {
	lower := strings.ToLower(name)
	for _, j := range joined {
		if j != "token" && strings.Contains(lower, j) {
			return true
		}
	}
	list := split(name)
	for _, w := range list {
		switch w {
		case "pwd", "passphrase", "dsn", "authorization", "apikey":
			return true
		}
	}
	return endsShort(list)
}

// endsShort reports whether a name of several words ends with a short word for a password: LDAP_BIND_PW, adminPw. Alone, it may be a width or a writer.
func endsShort(list []string) bool { return len(list) > 1 && isShort(list[len(list)-1]) }

func isShort(word string) bool { return word == "pw" || word == "psw" || word == "pswd" }

// about are words at the end of a name that has a word for a secret, but not its value: PasswordLength, TokenType.
var about = sync.OnceValue(func() map[string]bool {
	return map[string]bool{"length": true, "count": true, "size": true, "attempts": true, "timeout": true, "lifetime": true, "expiration": true, "expires": true, "expiry": true,
		"days": true, "hours": true, "minutes": true, "seconds": true, "age": true, "retries": true, "version": true, "index": true, "id": true, "ids": true, "type": true, "types": true,
		"mode": true, "iterations": true, "bits": true, "port": true, "capacity": true, "state": true, "flags": true, "status": true, "offset": true, "position": true, "name": true,
		"names": true, "policy": true, "provider": true, "scheme": true, "kind": true, "format": true, "required": true, "enabled": true, "changed": true, "set": true, "limit": true,
		"date": true, "time": true, "at": true, "validator": true, "hasher": true, "header": true, "headers": true, "field": true, "property": true, "path": true, "file": true, "url": true,
		"uri": true, "location": true, "comparer": true, "options": true, "cache": true, "store": true, "manager": true, "factory": true, "service": true, "handler": true, "lock": true}
})

// Holds reports whether a field, or a variable, that has this name holds a secret, whatever its type: Password, _apiKey, <clientSecret>5__2.
// The name has a word for a secret in any context, and not at the end one that says something about a secret.
func Holds(name string) bool {
	name = Bare(name)
	if !Strong(name) && !endsStrong(strings.TrimSuffix(name, "s")) {
		return false
	}
	list := split(name)
	return len(list) > 0 && !about()[list[len(list)-1]]
}

// HoldsKey reports whether what stands in a dictionary under this key is a secret, whatever its type. Among settings, short words are clear, too.
func HoldsKey(key string) bool {
	if Holds(key) {
		return true
	}
	list := split(key)
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	return last == "pin" || last == "pass" || last == "cookie" || isShort(last)
}

// MayHold reports whether what stands under a name may be a secret, by a word that may mean something else: auth, key, signature. The names that Holds and
// HoldsKey accept are no such names.
func MayHold(name string) bool {
	return Named(name) && !Strong(name) && !HoldsKey(name) && !about()[lastWord(name)]
}

// Bare returns the name in the source of a field that the compiler made: of <Password>k__BackingField, Password.
func Bare(name string) string {
	if from, to := strings.IndexByte(name, '<'), strings.IndexByte(name, '>'); from == 0 && to > 1 {
		return name[1:to]
	}
	return name
}

// SecretFollows reports whether an argument of a command line is the secret that the argument before it announces, as in "--password X". An
// argument that begins with "-" is an option of its own.
func SecretFollows(option, argument string) bool {
	return len(option) > 1 && option[0] == '-' && !strings.Contains(option, "=") && Named(option) && !strings.HasPrefix(argument, "-")
}

// Named reports whether the name of a setting contains a word for a secret.
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

// nameWords are lower-case substrings. Each name that Named or Strong accepts has one of them, or a letter outside ASCII.
var nameWords = sync.OnceValue(func() *cueTable {
	t := &cueTable{cues: map[uint16][]cue{}}
	t.add([]string{"pass", "pw", "psw", "secret", "token", "credential", "key", "auth", "cookie", "sas", "signature", "connectionstring", "dsn", "salt", "pin", "certificate", "bearer",
		"senha", "wachtwoord", "haslo", "losenord", "parola", "kennwort", "motdepasse", "contrasena"}, 1)
	return t
})

// MayBeNamed reports whether a name may be one that Named or Strong accepts. name is in ASCII. It allocates nothing.
func MayBeNamed(name []byte) bool { return nameWords().in(name) != 0 }

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

// Bounds for words that a key generator made.
const (
	generatedLeast = 24 // characters
	generatedKinds = 3  // of lower case, upper case, digits
)

// Looks reports whether a value has the form of a secret, or contains one.
func Looks(value string) bool { return Generated(value) || len(Find(value)) > 0 }

// Generated reports whether a text looks like a generated key.
func Generated(text string) bool { return generatedWord(strings.TrimRight(text, "=")) }

// generatedWord reports whether s is one long word that mixes lower-case letters, upper-case
// letters and digits, as in base64. Paths, versions and type names contain other characters, or few
// changes.
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

// Hides reports whether to hide the value of a setting.
func Hides(name, value string) bool {
	return value != "" && (Named(name) && !isShellFolder(name, value) || Looks(value))
}

// isShellFolder reports whether a setting is a variable in which shells keep a folder. In connection strings PWD is a password.
func isShellFolder(name, value string) bool {
	if name != "PWD" && name != "OLDPWD" {
		return false
	}
	const drive = len(`C:\`)
	return strings.HasPrefix(value, "/") || len(value) >= drive && value[1] == ':' && (value[2] == '\\' || value[2] == '/')
}
