package secrets

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unsafe"
)

// A Kind is the reason why a text is a secret.
type Kind string

// The kinds of secrets.
const (
	KindNamed     Kind = "value of a name for secrets" // a setting, a field, a key
	KindPair      Kind = "password in a connection string or assignment"
	KindURL       Kind = "password in a URL"
	KindJWT       Kind = "JSON web token"
	KindPEM       Kind = "private key"
	KindHeader    Kind = "credentials in a header"
	KindCookie    Kind = "cookie"
	KindPrefix    Kind = "key with a published prefix"
	KindOption    Kind = "value of a command-line option"
	KindGenerated Kind = "generated word"
)

// A Span is the position of a secret in a text.
type Span struct {
	Start, End int // bytes
	Kind       Kind
}

// A form is a pattern of secrets in running text. The first group, if any, is the secret, otherwise
// the whole match.
type form struct {
	kind Kind
	// cues are lower-case substrings. A text without any of them is not searched.
	cues []string
	re   func() *regexp.Regexp
	// scan finds the matches in place of re.
	scan func(text string) [][]int
	// may is a fast test before re, many times faster: false means that the text does not match.
	// nil always matches.
	may func(text string) bool
	// not reports that a match (indexes as regexp has them) is no secret. nil never does.
	not func(text string, match []int) bool
	// list is set if the secret is a list of quoted texts, each of them one.
	list bool
}

// strongNames are names that mean a secret in any context. Names such as key or token may mean other things. An underscore stands for one, for a hyphen,
// or for nothing.
var strongNames = []string{"password", "passwd", "passphrase", "passcode", "pwd", "account_key", "shared_access_key", "shared_access_signature", "client_secret", "secret_access_key", "secret_key",
	"api_secret", "app_secret", "secret", "access_token", "refresh_token", "id_token", "auth_token", "session_token", "api_token", "private_token", "bearer_token", "api_key", "access_key",
	"private_key", "encryption_key", "validation_key", "decryption_key", "signing_key", "pre_shared_key", "client_key_data", "csrf_token", "xsrf_token", "credential", "credentials",
	"passwort", "kennwort", "mot_de_passe", "contrasena", "contrase\u00f1a", "senha", "wachtwoord", "haslo", "has\u0142o", "losenord", "l\u00f6senord", "parola"}

// strong matches strongNames.
var strong = strings.ReplaceAll(strings.Join(strongNames, "|"), "_", "[_-]?")

// bareNames are strongNames without their separators.
var bareNames = sync.OnceValue(func() []string {
	return strings.Split(strings.ReplaceAll(strings.Join(strongNames, "|"), "_", ""), "|")
})

// endsStrong reports whether a text ends with a name that means a secret in any context, whatever separators are in it.
func endsStrong(text string) bool {
	text = text[max(0, len(text)-longestName):]
	if !hasEnding(text) {
		return false
	}
	text = strings.ToLower(folded.Replace(text))
	return slices.ContainsFunc(bareNames(), func(name string) bool { return strings.HasSuffix(text, name) })
}

// folded drops separators, and writes the letters outside ASCII that are another case of s and k as these.
var folded = strings.NewReplacer("_", "", "-", "", "\u017f", "s", "\u212a", "k")

// lineFeed matches the end of a line, also as JSON writes it.
const lineFeed = `(?:\r?\n|\\r\\n|\\n)`

// pem matches a character of a private key or of its headers. JSON writes line feeds as escapes.
const pem = `[A-Za-z0-9+/=\s:,-]|\\[nr]`

// value matches the right side of an assignment: a quoted string, possibly with escaped quotes, or
// everything up to a delimiter. Before the quote may stand what a language has for its kinds of strings: N'x', @"x", b"x".
const value = `(?:(?:\$@?|@\$?|[NEUBRLFneubrlf]|[Uu]8|[RrBb]{2})?(?:"""([^"]+)"""|\\{2,}"([^"\\]+)\\{2,}"|` +
	`\\"((?:[^"\\]|\\\\(?:\\"|[^"]))+)\\"|"((?:[^"\\,:}\]]|\\.)(?:[^"\\]|\\.)*)"|'((?:[^']|'')+)')|(\{(?:[^{}\r\n"\\]|\}\})+\})(?:[;"'\\\s]|$)|((?:[^\s\x00;,&"'<>\\)}\]]|\\[\\/uUx0])+))`

func compiled(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// nameCues are lower-case substrings. Each name in strong contains one.
var nameCues = []string{"pass", "pw", "psw", "key", "secret", "signature", "token", "credential", "kennwort", "contrase", "senha", "wachtwoord", "haslo", "has\xc5\x82o", "senord", "parola"}

// argument matches an argument of a command line, quoted or not.
const argument = `(?:\\?"([^"\\]+)|'([^']+)'|([^\s"'\\$|-][^\s"'\\]*))`

// forms returns all forms. The expressions are compiled on first use.
var forms = sync.OnceValue(func() []form {
	return slices.Concat(wholeForms(), headerForms(), namedForms(), commandForms())
})

// wholeForms are of secrets that need no name.
func wholeForms() []form {
	return []form{
		{kind: KindPEM, cues: []string{"private key"},
			re: compiled(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:` + pem + `)*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:` + pem + `)*)`)},
		{kind: KindPEM, cues: []string{"private-lines:"}, re: compiled(`Private-Lines: \d+` + lineFeed + `((?:[A-Za-z0-9+/=]+` + lineFeed + `)+(?:[A-Za-z0-9+/=]+$)?|[A-Za-z0-9+/=]+$)`)}, // of PuTTY
		{kind: KindPrefix, cues: publishedCues(), scan: inKeys},
		{kind: KindJWT, cues: []string{"eyj"}, re: compiled(`\beyJ[\w-]{8,}(?:\.[\w-]{4,}\.?[\w-]*(?:\.[\w-]+){0,2}|\.\.[\w-]{4,}\.[\w-]+\.[\w-]+)`)}, // the second form: a JWE without a key
		{kind: KindURL, cues: []string{"://", `:\/\/`}, re: compiled(`[a-zA-Z][a-zA-Z0-9+.-]*:(?://|\\/\\/)[^/@\s:"'<>?#]*:([^/\s"'<>]+)@`), may: mayBeURL},
		{kind: KindURL, cues: []string{"://", `:\/\/`}, may: mayBeUser, not: isNoKey, // a key in place of a user
			re: compiled(`[a-zA-Z][a-zA-Z0-9+.-]*:(?://|\\/\\/)([^/@\s:"'<>?#\\]{` + strconv.Itoa(shortestUser) + `,})(?::[^/@\s"'<>]*)?@`)},
		{kind: KindURL, cues: []string{"jdbc:oracle:", "sqlplus "}, re: compiled(`\b(?:jdbc:oracle:\w+:|sqlplus\s+(?:-\w+\s+)*)[^/\s:@]+/([^@\s"']+)@`)},
		{kind: KindURL, cues: []string{"hooks.slack", ".webhook.office.com/", "discord.com/api/", "discordapp.com/api/", "api.telegram.org/bot"},
			re: compiled(`(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)|[a-z0-9-]+\.webhook\.office\.com|discord(?:app)?\.com/api/(?:v\d+/)?webhooks|` +
				`api\.telegram\.org)/([\w:@/-]{16,})`)},
		{kind: KindPair, cues: []string{"sig=", "signature=", "security-token=", "sig%", "signature%", "security-token%"},
			re: compiled(`(?i)[?&;](?:sig|x-amz-signature|x-amz-security-token|x-goog-signature)=([^&\s"'<>;]+)`)},
		{kind: KindPair, cues: []string{"code=", "token=", "signature=", "subscription-key=", "code%", "token%", "subscription-key%"},
			re: compiled(`(?i)[?&](?:code|(?:(?:connection|access|auth|session|api|id)[_-]?)?token|signature|subscription-key)=([\w.~%/+=-]{16,})`)}, // OAuth, Azure, SignalR, S3, CloudFront
		{kind: KindPair, cues: []string{"sessionid=", "sessid=", "connect.sid="}, re: compiled(`(?i)\b(?:jsessionid|phpsessid|asp\.net_sessionid|connect\.sid)=([^&?\s;"'<>\\]{8,})`)},
	}
}

// headerForms are of headers of HTTP.
func headerForms() []form {
	return []form{
		{kind: KindCookie, cues: []string{"cookie:", "cookie="}, re: compiled(`(?i)\b(?:set-)?cookie\s*[:=]\s*([^\r\n"\\]+)`)},
		{kind: KindCookie, cues: []string{`cookie"`, `cookie\`}, re: compiled(`(?i)\b(?:set-)?cookie\\*"\s*:\s*(?:\[\s*)?\\*"([^\r\n"\\=]+=[^\r\n"\\]+)`)}, // in JSON
		{kind: KindHeader, cues: []string{"bearer ", "basic ", "digest ", "negotiate ", "ntlm ", "apikey ", "sharedaccesssignature ", "aws4-hmac"},
			re: compiled(`(?i)(?:^|[\s"':=,\[(])(?:bearer|basic|negotiate|ntlm|digest|apikey|sharedaccesssignature|aws4-hmac-sha256)\s+([A-Za-z0-9+/._~=%&-]{8,})`), not: isParameter},
		{kind: KindHeader, cues: []string{"digest "}, re: compiled(`(?i)\bdigest\s[^\r\n]*?\bresponse=\\*"([^"\\]+)`)},
		{kind: KindHeader, cues: []string{"x-api-key", "-key:", "-token:", "-secret:", "-auth:", `-key"`, `-token"`, `-secret"`, `-auth"`, `-key\`, `-token\`, `-secret\`, `-auth\`, "x-session-id"},
			re: compiled(`(?i)\b(?:x-[a-z0-9-]*(?:api-?key|token|secret|auth|access-key|session-id)|` +
				`[a-z0-9-]*(?:(?:api|app|application|auth|subscription|functions)-key|auth-token|access-token|csrf-token))` +
				`\\*"?\s*[:=]\s*(?:\[\s*)?(?:(?:bearer|basic|negotiate|ntlm|digest|token|apikey)\s+)?` + value), not: isParameter},
		{kind: KindHeader, cues: []string{"-token:", `-token"`, `-token\`}, not: isNoCredential, // of any service
			re: compiled(`(?i)(?:^|[\s"'{,])[a-z0-9]+(?:-[a-z0-9]+)*-token\\*"?\s*:\s*(?:\[\s*)?` + value)},
		{kind: KindHeader, cues: []string{"authorization"}, scan: inAuthorization},
		{kind: KindHeader, cues: []string{"requestverificationtoken"},
			re: compiled(`(?i)requestverificationtoken(?:\\?"\s+(?:type=\\?"hidden\\?"\s+)?value=\\?"|\s*[:=]\s*)([\w.+/=-]{16,})`)},
	}
}

// namedForms are of values behind the name of a secret.
func namedForms() []form {
	return []form{
		{kind: KindOption, cues: nameCues, may: mayBeOption, not: isNoArgument,
			re: compiled(`(?i)(?:^|[\s\x00"'\[,])--?[a-z0-9-]*(?:` + strong + `|token|auth-?key|pass|\bpw)(?:[ \t]*[=:\x00][ \t]*|[ \t]+|"?,\s*|\r?\n(?:- )?)` + value)},
		{kind: KindPair, cues: nameCues, may: mayBeAssigned, not: isNoPair,
			re: compiled(`(?i)(?:^|[^a-z])(?:[a-z0-9]+[_.:-])*[a-z0-9]*(?:` + strong + `)(?:_?\d{1,3})?\\*["'` + "`" + `]?\]?\s*[=:]\s*` + value)},
		{kind: KindPair, cues: nameCues, may: mayBeConnection, scan: inConnections},
		{kind: KindPair, cues: shortCues(), scan: inShort, not: isNoPair},
		{kind: KindPair, cues: []string{"jwt"}, not: isNoKey, // settings of those who sign tokens: Jwt:Key, also as objects of JSON
			re: compiled(`(?i)jwt[a-z]*(?:\\*"\s*:\s*\{[^{}]*?\\*"|:|__|\.)[a-z]*key\\*["']?\s*[:=]\s*` + value)},
		{kind: KindPair, cues: []string{"insert "}, scan: inInserts, not: isNoPart},
		{kind: KindPair, cues: []string{"form-data"},
			re: compiled(`(?i)form-data;\s*name=\\?"?[\w.:-]*(?:` + strong + `)\\?"?(?:` + lineFeed + `[a-z-]+:[^\r\n\\]*)*(?:` + lineFeed + `){2}([^\r\n\\]+)`)},
		{kind: KindPair, cues: nameCues, may: func(text string) bool { return strings.Contains(text, "<") }, scan: inMarkup, not: isNoPart},
		{kind: KindPair, cues: nameCues, may: func(text string) bool { return strings.Contains(text, "{") }, scan: inObjects, not: isNoPart},
		{kind: KindPair, cues: nameCues, may: mayBeYAML, scan: inYAML, not: isNoPart},
		{kind: KindPair, cues: []string{`":[`, `": [`, `" : [`}, list: true, re: compiled(`(?i)(?:` + strong + `)s?\\*["']\s*:\s*\[((?:\s*\\*"[^"\\]+\\*"\s*,?)+)`)},
		{kind: KindPair, cues: []string{"=>"}, re: compiled(`(?i)(?:` + strong + `)\\*["']?\s*=>\s*(?:\\*"([^"\\]+)|'([^']+)')`)},
		{kind: KindPair, cues: []string{"machine ", "default "}, // .netrc
			re: compiled(`\b(?:machine\s+\S+\s+(?:(?:login|account)\s+\S+\s+)*|default\s+(?:(?:login|account)\s+\S+\s+)+)password\s+(\S+)`)},
		{kind: KindPair, cues: []string{":5432:", ":5433:", ":6432:", ":*:"},
			re: compiled(`(?m)^[^:\s#]+:(?:\d+|\*):[^:\s]+:[^:\s]+:((?:\\.|[^:\\\s])+)\s*$`)}, // .pgpass
		{kind: KindPair, cues: nameCues,
			re: compiled(`(?im)^[ \t]*[\w.-]*(?:` + strong + `)[ \t]*=[ \t]*([^\s"'={}()\[\]<>;&,$]+(?:[ \t]+[^\s"'={}()\[\]<>;&,]+)+)[ \t\r]*$`), may: mayBeAssigned, not: isNoPair}, // .ini
		{kind: KindPair, cues: []string{"setx ", "env "}, re: compiled(`(?m)^\s*(?:setx|SETX|ENV)\s+\w*(?i:` + strong + `)\s+` + argument)},
		{kind: KindPair, cues: []string{"auth"}, re: compiled(`["_]auth\\*"?\s*[:=]\s*\\*"?([A-Za-z0-9+/]{8,}={0,2})`), not: isNoCredentials}, // of Docker and npm
	}
}

// isNoPart reports whether the value of a setting is no secret although its name is one of a secret.
func isNoPart(text string, match []int) bool {
	value := text[match[2]:match[3]]
	return isSecretsName(value) || isMessage(text, match)
}

// isNoCredentials reports whether the secret is not a user with a password in base64.
func isNoCredentials(text string, match []int) bool {
	from, to := secretOf(match)
	return passwordIn(text[from:to]) == ""
}

// isNoKey reports whether the secret does not look as a program makes keys.
func isNoKey(text string, match []int) bool {
	from, to := secretOf(match)
	return !looksGenerated(text[from:to])
}

// A command is a program with an option for a secret.
type command struct {
	cues    string // lower-case substrings of its name, with commas between them
	name    string // an expression
	options string // an expression for the option, with what is between it and the secret
}

// commands are common programs with short options for secrets.
var commands = []command{
	{"mysql,mariadb", `(?:mysql|mariadb)[\w-]*`, `-p`},
	{"7z", `7z\w?`, `-p`},
	{"sshpass", `sshpass`, `-p\s*`},
	{"sqlcmd,bcp", `(?:sqlcmd|bcp)`, `-P\s*`},
	{"redis-cli", `redis-cli`, `-a\s+`},
	{"docker login,podman login,helm registry login,az login,az acr login", `(?:docker|podman|helm registry|az|az acr) login`, `-p\s+`},
	{"nuget push", `nuget push`, `-k\s+`},
	{"mongo", `mongo\w*`, `-p\s+`},
	{"ldap", `ldap(?:search|add|modify|delete|passwd|whoami|compare)`, `-w\s*`},
	{"curl", `curl`, `--oauth2-bearer[ =]`},
}

// commandCues are the cues of commands.
func commandCues() (out []string) {
	for _, c := range commands {
		out = append(out, strings.Split(c.cues, ",")...)
	}
	return out
}

// commandForm is the expression for the secrets of commands.
func commandForm() string {
	var list []string
	for _, c := range commands {
		list = append(list, c.name+`(?:\.exe)?\s(?:[^|;\r\n]*?\s)??`+c.options)
	}
	return `\b(?:` + strings.Join(list, "|") + `)` + argument
}

// isNoSlashed reports whether what follows a slash and a name is not the value of an option of Windows, but a path with what follows it.
func isNoSlashed(text string, match []int) bool {
	from, to := secretOf(match)
	line := text[1+strings.LastIndexByte(text[:from], '\n') : from]
	if strings.Contains(strings.ToLower(line), ".exe") || strings.HasPrefix(line, "cmdkey ") {
		return false
	}
	if head := strings.TrimRight(text[:from], `"'\`); strings.HasSuffix(head, ":") {
		return word(text[from:to])
	}
	return !LooksGenerated(text[from:to])
}

// isNoCredential reports whether the secret is a word or a number.
func isNoCredential(text string, match []int) bool {
	from, to := secretOf(match)
	return !looksLikeCredentials(text[from:to]) || isDecimal(text[from:to])
}

// shortCues are lower-case substrings; each short name has one, with what is behind it.
func shortCues() (out []string) {
	for _, w := range shortWords {
		for _, behind := range []string{`"`, "'", "=", ":", " ", `\`, "\t", "%", "&"} {
			out = append(out, w+behind)
		}
	}
	return out
}

// commandForms are of secrets in the arguments of common programs.
func commandForms() []form {
	return []form{
		{kind: KindOption, cues: []string{"curl"}, re: compiled(`\bcurl(?:\.exe)?\s[^|\r\n]*?(?:-u\s*|-U\s*|--(?:proxy-)?user[ =])\\?["']?[^\s:"'\\]+:([^\s"'\\]+)`)},
		{kind: KindOption, cues: commandCues(), may: mayBeCommand, re: compiled(commandForm())},
		{kind: KindOption, cues: []string{"/pass", "/pw", "password:", "secret:", "pass:"}, not: isNoSlashed, // of Windows: /pass:X
			re: compiled(`(?i)(?:^|[\s"'])/(?:[a-z-]*(?:` + strong + `)|pass|pw)(?::|\s+)` + argument)},
		{kind: KindOption, cues: []string{"pass:"}, re: compiled(`\s-pass(?:in|out)?\s+pass:([^\s"']+)`)}, // of openssl
		{kind: KindPair, cues: []string{"identified "},
			re: compiled(`(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?(?:'((?:[^']|'')+)'|"([^"]+)"|([A-Za-z]\w*\d\w*))`)}, // SQL
		{kind: KindPair, cues: []string{"password "},
			re: compiled(`(?i)\b(?:(?:role|user|group)\s[^\r\n;]*?\bpassword\s+E?|set\s+password\s+for\s+\S+\s*=\s*(?:password\()?)'((?:[^']|'')+)'`)},
		{kind: KindOption, cues: []string{"convertto-securestring"}, re: compiled(`(?i)\bconvertto-securestring\s+(?:-string\s+)?` + argument)},
	}
}

// sentence are words that follow a name of a secret and a colon in messages: "password: please enter it below".
var sentence = map[string]bool{"please": true, "required": true, "missing": true, "invalid": true, "incorrect": true, "expired": true, "wrong": true, "must": true,
	"may": true, "not": true, "the": true, "your": true, "is": true, "was": true, "no": true, "cannot": true, "enter": true, "too": true, "permission": true, "line": true}

// isMessage reports whether the match of an assignment is a part of a message: a file and what is wrong with it
// ("/etc/passwd: line 1"), or a word of a sentence and the next one.
func isMessage(text string, match []int) bool {
	from, to := secretOf(match)
	if text[match[0]] == '/' && strings.HasSuffix(text[:from], ": ") {
		return true
	}
	return sentence[strings.ToLower(text[from:to])] && strings.HasSuffix(text[:from], ": ") && to < len(text) && strings.IndexByte(" ,.;!", text[to]) >= 0
}

// isNoPair reports whether the match of an assignment is a message, the folder of a shell, or a name that is assigned to itself, as in
// AllowCredentials = Allow-Credentials.
func isNoPair(text string, match []int) bool {
	from, to := secretOf(match)
	if text[to-1] == ':' && strings.Contains(text[match[0]:from], "\n") {
		return true // a map of YAML
	}
	if text[from-1] == ' ' && sqlParameter().MatchString(text[from:to]) {
		return true
	}
	before := strings.TrimRight(text[match[0]:from], " =:\"'\\")
	at := 1 + strings.LastIndexFunc(before, func(r rune) bool { return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if name := before[at:]; namesItself(name, text[from:to]) {
		return !isSecretsName(text[from:to])
	} else if isShellFolder(name, text[from:]) {
		return (at == 0 || before[at-1] != ';') && (to == len(text) || text[to] != ';') // in connection strings it is a password
	}
	return isMessage(text, match) || isYAMLMark(text, from, to)
}

// sqlParameter matches a parameter of SQL.
var sqlParameter = compiled(`^@(?:p\d{1,3}|[A-Za-z_]+(?:_\d{1,3})?)$`)

// isYAMLMark reports whether a value is a mark of YAML for a value that stands behind it, or in the lines below.
func isYAMLMark(text string, from, to int) bool {
	if text[from-1] != ' ' || text[from:to] == "" {
		return false
	}
	return isBlock(text[from:to]) || strings.HasPrefix(text[from:to], "!!") && to < len(text) && text[to] == ' '
}

// isParameter reports whether what a header has behind its scheme is the name of a parameter, as in Digest username="bob".
func isParameter(text string, match []int) bool {
	from, to := secretOf(match)
	return strings.HasSuffix(text[from:to], "=") && strings.HasPrefix(strings.TrimLeft(text[to:], `\`), `"`)
}

// placeholders are words that stand for the value of an option in a text about usage: --api-key KEY.
var placeholders = map[string]bool{"string": true, "value": true, "text": true, "key": true, "token": true, "password": true, "secret": true, "file": true, "name": true}

// isNoArgument reports whether what follows the name of an option is a placeholder, or, in another line, a text about the option.
func isNoArgument(text string, match []int) bool {
	from, to := secretOf(match)
	if placeholders[strings.ToLower(text[from:to])] || text[from] == '-' && isSpace(text[from-1]) { // the next option
		return true
	}
	if !strings.Contains(text[match[0]+1:from], "\n") {
		return false
	}
	rest, _, _ := strings.Cut(text[to:], "\n")
	return word(text[from:to]) || strings.Trim(rest, "\"' \r") != ""
}

// secretOf returns the position of the secret in a match: the first group that took part, or else the whole match.
func secretOf(match []int) (from, to int) {
	for g := 2; g+1 < len(match); g += 2 {
		if match[g] >= 0 {
			return match[g], match[g+1]
		}
	}
	return match[0], match[1]
}

// shown are values that stand for a secret or for a missing value, and are not masked.
var shown = map[string]bool{"": true, Mask: true, "***": true, "null": true, "true": true, "false": true, "none": true, "(null)": true, "{": true, "[": true, "default": true,
	"await": true, "new": true, // in code
	"?":             true,                                               // of EF Core's logs
	"x-oauth-basic": true, "x-token-auth": true, "x-access-token": true, // beside a key in a URL
	"bearer": true, "basic": true, "negotiate": true, "ntlm": true, "digest": true, "token": true, "apikey": true}

// A cueTable finds, in one pass over a text, the forms that it may contain.
type cueTable struct {
	pairs [1 << 13]byte // a bitmap of the first two bytes of all cues
	cues  map[uint16][]cue
}

// A cue is a cue without its first two bytes, and a bitmap of its forms.
type cue struct {
	rest  string
	forms uint64
}

var cues = sync.OnceValue(func() *cueTable {
	t := &cueTable{cues: map[uint16][]cue{}}
	for i, f := range forms() {
		t.add(f.cues, 1<<i)
	}
	return t
})

func (t *cueTable) add(list []string, forms uint64) {
	for _, c := range list {
		pair := uint16(c[0]) | uint16(c[1])<<8
		t.pairs[pair>>3] |= 1 << (pair & 7)
		t.cues[pair] = append(t.cues[pair], cue{c[2:], forms})
	}
}

// lowered returns c in lower case if it is an ASCII letter.
func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Cued returns a bitmap of the forms that a text may contain. text is UTF-8, or the ASCII
// characters of another encoding.
func Cued(text []byte) (bits uint64) { return cues().in(text) }

// in returns a bitmap of the forms with cues in a text.
func (t *cueTable) in(text []byte) (bits uint64) {
	last := byte(0)
	for i, c := range text {
		c = ofCue(c)
		pair := uint16(last) | uint16(c)<<8
		last = c
		if t.pairs[pair>>3]&(1<<(pair&7)) == 0 {
			continue
		}
		for _, q := range t.cues[pair] {
			if bits&q.forms == 0 && hasPrefix(text[i+1:], q.rest) {
				bits |= q.forms
			}
		}
	}
	return bits
}

// ofCue returns c as cues have it: in lower case, and a blank for any white space.
func ofCue(c byte) byte {
	if isSpace(c) {
		return ' '
	}
	return lowered(c)
}

// hasPrefix reports whether text begins with a part of a cue.
func hasPrefix(text []byte, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if ofCue(text[i]) != prefix[i] {
			return false
		}
	}
	return true
}

// Find returns the secrets in a text that are recognized by their form, in order and disjoint.
func Find(text string) []Span { return find(text, nil) }

// find is Find without the forms for which own reports true. It receives what a form matched: the name and the secret. A text that has escapes of the
// marks of a form, such as %3D, is searched without them, too.
func find(text string, own func(matched string) bool) []Span {
	if len(text) < 4 {
		return nil
	}
	bits := Cued(unsafe.Slice(unsafe.StringData(text), len(text)))
	out := inText(text, bits, own)
	if bits&^withoutMarks() == 0 || !escapesMarks(text) {
		return out
	}
	u, ok := unescape(text, nil)
	for i := 0; ok && i < mostUnescapes; i++ {
		var more []Span
		for _, s := range inText(u.text, Cued(unsafe.Slice(unsafe.StringData(u.text), len(u.text))), own) {
			from, to := u.place(s.Start, s.End)
			more = append(more, Span{from, to, s.Kind})
		}
		out = append(out, inStrings(text, more)...)
		if !escapesMarks(u.text) {
			break
		}
		u, ok = unescape(u.text, u.at)
	}
	return disjoint(out)
}

// withoutMarks is a bitmap of the forms that have no marks around a name: what they match is the same in a text with escapes.
var withoutMarks = sync.OnceValue(func() (bits uint64) {
	for i, f := range forms() {
		if f.kind == KindPrefix {
			bits |= 1 << i
		}
	}
	return bits
})

// inText returns the secrets in a text as it is, of the forms in a bitmap.
func inText(text string, bits uint64, own func(matched string) bool) []Span {
	var out []Span
	for i, f := range forms() {
		if bits&(1<<i) == 0 || f.may != nil && !f.may(text) {
			continue
		}
		for _, m := range f.matches(text) {
			if f.not != nil && f.not(text, m) {
				continue
			}
			from, to := secretOf(m)
			if own != nil && own(text[m[0]:max(m[1], to)]) {
				continue
			}
			s := Span{from, to, f.kind}
			if f.list {
				for _, item := range quoted().FindAllStringSubmatchIndex(text[from:to], -1) {
					out = append(out, Span{from + item[2], from + item[3], f.kind})
					if backslashes(text[:from+item[0]]) != item[1]-item[3]-1 {
						break // the text around the list ends
					}
				}
				continue
			}
			if v := text[s.Start:s.End]; !shown[strings.ToLower(strings.Trim(v, "*."))] && !placeholder(text, s.Start, s.End) && (f.kind != KindHeader || !prose(v)) {
				out = append(out, s)
			}
		}
	}
	return disjoint(out)
}

// matches returns the matches of a form, as a regexp does.
func (f *form) matches(text string) [][]int {
	if f.scan != nil {
		return f.scan(text)
	}
	return f.re().FindAllStringSubmatchIndex(text, -1)
}

var quoted = compiled(`"([^"\\]+)\\*"`)

// leastToken is the minimum length of credentials that consist of letters of one case: a shorter
// word after "Bearer" is probably prose.
const leastToken = 20

// prose reports whether a value is probably a word of a sentence rather than credentials.
func prose(v string) bool {
	return len(v) < leastToken && word(v) && strings.ToLower(v[1:]) == v[1:]
}

// inBraces returns what stands in the braces of a value, as in connection strings of ODBC.
func inBraces(v string) (inner string, ok bool) {
	if len(v) < len("{a}") || v[0] != '{' || v[len(v)-1] != '}' {
		return "", false
	}
	return v[1 : len(v)-1], true
}

// placeholder reports whether a value is nothing but a placeholder: ${X}, $(X), {0}, {{X}}, %X%, <X>, $X.
func placeholder(text string, from, to int) bool {
	const longest = 128
	switch v := text[from:to]; v {
	case "{", "${", "$(", "<", "{{":
		return true
	}
	if strings.IndexByte("{<$%", text[from]) < 0 {
		return false
	}
	// A form may have ended the value at the closing bracket.
	m := placeholderForm().FindStringIndex(text[from:min(len(text), max(to, from+longest))])
	return m != nil && from+m[1] >= to
}

// placeholderForm matches a placeholder with what may follow it.
var placeholderForm = compiled(`^(?:\$?\$\{[\w .:/|?@#,()-]+\}|\$\{\{[^{}]+\}\}|\$\([^()\r\n]+\)|\{[\w.:,#-]+\}|\{\{[^{};]+\}\}|\{\w+=[^;]*\}|` +
	`<[\pL\d_ .:/*|'-]+>|\$[A-Z_][A-Z0-9_]*|\$\d|%[\w.:-]+%)(?:[\s;,&"'<>)\]}\\]|$)`)

// disjoint returns spans in order, those that overlap as one, of the kind of the first in the list.
func disjoint(list []Span) []Span {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(list[a].Start, list[b].Start), cmp.Compare(a, b)) })
	var out []Span
	first := 0 // of the list, in the last span
	for _, i := range order {
		s := list[i]
		n := len(out) - 1
		if n < 0 || out[n].End <= s.Start {
			out, first = append(out, s), i
			continue
		}
		if out[n].End = max(out[n].End, s.End); i < first {
			out[n].Kind, first = s.Kind, i
		}
	}
	return out
}
