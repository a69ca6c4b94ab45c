package mcpserver

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/internal/secrets"
)

// scrub masks the secrets of a document and escapes its texts.
func (s *Server) scrub(doc map[string]any) {
	for k, v := range doc {
		doc[k] = s.scrubbed(v, "")
	}
}

// scrubbed is v, the value of a setting or field where named is its name, without secrets and escaped.
func (s *Server) scrubbed(v any, named string) any {
	switch v := v.(type) {
	case string:
		return clean(s.masked(named, v))
	case []any:
		for i := range v {
			v[i] = s.scrubbed(v[i], named)
		}
	case map[string]any:
		name, _ := v["name"].(string)
		if key, ok := v["key"].(string); ok && name == "" {
			name = key
		}
		for k := range v {
			switch k {
			case "value", "text", "values":
				v[k] = s.scrubbed(v[k], name)
			default:
				v[k] = s.scrubbed(v[k], "")
			}
		}
	}
	return v
}

// masked returns a value, or secrets.Mask if it is a secret. The name of what has it is empty if it has none.
func (s *Server) masked(name, value string) string {
	switch {
	case s.options.Secrets:
		return value
	case secrets.Looks(strings.Trim(value, `"`)) && !isName(value), value != "" && !isNumber(value) && secrets.Named(name):
		return secrets.Mask
	}
	return value
}

// isName reports whether a value is a name as programmers make them: words that begin with capitals, and few digits. Keys as generators make
// them have shorter runs of small letters.
func isName(value string) bool {
	digits, small, runs := 0, 0, 0
	last := ' '
	for _, r := range value {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z':
			if small++; last < 'a' || last > 'z' {
				runs++
			}
		case (r < 'A' || r > 'Z') && r != '_':
			return false
		}
		last = r
	}
	const mostDigits, leastRun = 2, 3
	return digits <= mostDigits && small >= leastRun*runs
}

// isNumber reports whether a value is an address or a number, which no password is shown as.
func isNumber(value string) bool {
	return strings.Trim(strings.TrimPrefix(value, "0x"), "0123456789abcdefABCDEF.-+") == ""
}

// parts are what of a line may be a secret: a setting with its value, a text in quotes, a word.
var parts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\w:.-]+\s*=\s*"(?:[^"\\]|\\.)*"|"(?:[^"\\]|\\.)*"|(?i:bearer|basic)\s+\S+|[\w:.-]*(?i:password|pwd|key|secret|token|sig|signature)\s*=\s*[^;&\s"]+|[^\s"]+`)
})

// cleanLine is a line of text without secrets and escaped.
func (s *Server) cleanLine(line string) string {
	if !s.options.Secrets {
		line = parts().ReplaceAllStringFunc(line, s.maskedPart)
	}
	return clean(line)
}

// maskedPart masks a part of a line, up to the name that it may begin with.
func (s *Server) maskedPart(part string) string {
	name, value, found := strings.Cut(part, "=")
	if !found || strings.HasPrefix(part, `"`) {
		name, value = "", part
	}
	text := strings.Trim(strings.TrimSpace(value), `"`)
	switch {
	case text == "" || text == secrets.Mask || s.masked(strings.TrimSpace(name), text) == text && s.masked("", part) == part:
		return part
	case name == "":
		return strings.Replace(part, text, secrets.Mask, 1)
	}
	return name + "=" + strings.Replace(value, text, secrets.Mask, 1)
}

// tags are what readers of prompts may take for markup. Names of .NET have none of these forms; a word of markup is in one case.
var tags = sync.OnceValue(func() *regexp.Regexp {
	words := "system|user|assistant|human|developer|instruction|instructions|important|tool|function|antml|invoke|thinking|context|document|prompt|result"
	return regexp.MustCompile("</|<\\||<!|<\\?|<data-|<(?:" + words + "|" + strings.ToUpper(words) + ")[\\w:-]*[\\s>]|```|\\[/?(?i:INST|SYS|SYSTEM)\\]|\\|>")
})

// clean returns a text of a dump as it is shown: on one line, what is not seen escaped, and nothing in it that looks like markup.
func clean(text string) string {
	return tags().ReplaceAllStringFunc(report.Escape(text), func(tag string) string {
		return fmt.Sprintf(`\u%04x`, tag[0]) + tag[1:]
	})
}

// nonce returns a word that nobody knows before.
func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
