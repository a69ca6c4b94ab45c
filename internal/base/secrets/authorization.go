package secrets

import (
	"slices"
	"strings"
)

// authorizationHead matches what is before the credentials of a header Authorization, also in JSON and in code.
var authorizationHead = compiled(`(?i)authorization\\*["']?\s*[:=]\s*(?:\[\s*)?\\*["']?`)

// parameter matches a parameter of credentials: token="X".
var parameter = compiled(`^[,\s]*([A-Za-z][\w-]*)=(?:\\*"([^"\\]+)\\*"|([^\s,="'\\][^\s,"'\\]*))`)

// schemes are schemes of credentials. The next word are the credentials, however these look.
var schemes = []string{"bearer", "basic", "negotiate", "ntlm", "digest", "token", "apikey"}

// inAuthorization finds the credentials in headers Authorization: the word behind the scheme, whatever the scheme is, the values of parameters for secrets, or
// the only word.
func inAuthorization(text string) (out [][]int) {
	const longest = 4096 // of a word that may have another header in it: otherwise each of them would read the same
	read := 0
	for _, head := range authorizationHead().FindAllStringIndex(text, -1) {
		start, from := head[0], head[1]
		if start < read {
			continue
		}
		to := wordEnd(text, from)
		next := skipBlanks(text, to, len(text))
		scheme := text[from:to]
		end := wordEnd(text, next)
		if end-from > longest {
			read = end
		}
		switch {
		case next > to && isScheme(scheme) && parameter().MatchString(text[next:]):
			out = inParameters(out, text, start, next)
		case next > to && isScheme(scheme) && next < len(text) && strings.IndexByte("<{$", text[next]) >= 0: // it is hidden, or a placeholder
		case next > to && (slices.Contains(schemes, strings.ToLower(scheme)) || isScheme(scheme) && looksLikeCredentials(text[next:end])):
			out = append(out, []int{start, end, next, end})
		case namesItself(headerName(text, start), scheme):
		case from < to && (text[from-1] == ' ' || text[from-1] == ':' || looksLikeCredentials(scheme)):
			out = append(out, []int{start, to, from, to})
		}
	}
	return out
}

// headerName returns the name of a header, given the place of its last word.
func headerName(text string, i int) string {
	at := i
	for at > 0 && (isAlphanumeric(text[at-1]) || text[at-1] == '-') {
		at--
	}
	return text[at:i] + "authorization"
}

// inParameters appends the values of the parameters at i that are secrets.
func inParameters(out [][]int, text string, start, i int) [][]int {
	const most = 32
	for range most {
		m := parameter().FindStringSubmatchIndex(text[i:])
		if m == nil {
			return out
		}
		from, to := m[4], m[5]
		if from < 0 {
			from, to = m[6], m[7]
		}
		switch lastWord(text[i+m[2] : i+m[3]]) {
		case "token", "signature", "sig", "response", "mac", "hmac", "secret", "password", "key", "credential", "auth", "code", "assertion", "hash", "digest":
			out = append(out, []int{start, i + to, i + from, i + to})
		}
		i += m[1]
	}
	return out
}

// wordEnd returns the end of the word at i.
func wordEnd(text string, i int) int {
	if n := strings.IndexAny(text[i:], " \t\r\n\x00;,&\"'<>\\)}]"); n >= 0 {
		return i + n
	}
	return len(text)
}

// isScheme reports whether a word may be the name of a scheme of credentials: Bearer, GenieKey, Klaviyo-API-Key.
func isScheme(word string) bool {
	const longest = 32
	if word == "" || len(word) > longest || lowered(word[0]) < 'a' || lowered(word[0]) > 'z' {
		return false
	}
	for i := range len(word) {
		if !isAlphanumeric(word[i]) && word[i] != '-' {
			return false
		}
	}
	return !slices.ContainsFunc(strings.Split(word, "-"), LooksGenerated)
}

// looksLikeCredentials reports whether a word is long and has digits, as keys and tokens have.
func looksLikeCredentials(word string) bool {
	const least = 8
	return len(word) >= least && strings.ContainsAny(word, "0123456789") && strings.IndexByte("{<$%(", word[0]) < 0
}
