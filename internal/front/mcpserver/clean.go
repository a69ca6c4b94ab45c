package mcpserver

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/front/report"
)

// cleaned returns a document's value with its texts escaped.
func cleaned(v any) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		for i := range v {
			v[i] = cleaned(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = cleaned(v[k])
		}
	}
	return v
}

// tags matches text that a reader of prompts may take for markup. Names of .NET have none of these forms, since a
// markup word is in one case.
var tags = sync.OnceValue(func() *regexp.Regexp {
	words := "system|user|assistant|human|developer|instruction|instructions|important|tool|function|invoke|thinking|context|document|prompt|result"
	return regexp.MustCompile("</|<\\||<!|<\\?|<data-|<[a-zA-Z]+:|<(?:" + words + "|" + strings.ToUpper(words) + ")[\\w:-]*[\\s>]|```|\\[/?(?i:INST|SYS|SYSTEM)\\]|\\|>")
})

// clean returns a text of a dump on one line, with invisible characters escaped and nothing that looks like markup.
func clean(text string) string {
	return tags().ReplaceAllStringFunc(report.Escape(text), func(tag string) string {
		return fmt.Sprintf(`\u%04x`, tag[0]) + tag[1:]
	})
}

// nonce returns an unpredictable word.
func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
