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

// tags matches text that a reader of prompts may take for markup, and Markdown and HTML that a client may load: images
// and links to addresses. Names of .NET have other forms: a markup word is in one case or has attributes, perhaps in
// the next text, and ]( is followed by a type (Shop.Get[[System.__Canon]](System.String)). What is kept is matched,
// too: what stands for a missing value (<not in dump>). A property Style has a field <Style>k__BackingField, which is escaped: HTML has the element
// whatever follows it.
var tags = sync.OnceValue(func() *regexp.Regexp {
	words := "system|user|assistant|human|developer|instruction|instructions|important|tool|function|invoke|thinking|context|document|prompt|result"
	return regexp.MustCompile(strings.Join([]string{
		`</|<\||<!|<\?|<data-|<[a-zA-Z]+:`,
		`<(?:` + words + `|` + strings.ToUpper(words) + `)[\w:-]*[\s>]`,
		"```|" + `\[/?(?i:INST|SYS|SYSTEM)\]|\|>`,
		`!\[|\](?:\(|:)\s*<?(?:(?:[a-zA-Z][\w+.-]*)?(?:[:\\]|&(?:#|\w+;))|[/.#?])|[^\[\]]\](?:\(|:)\s*$`,
		`<(?i:script|style)(?:[\s/>]|$)`,
		`<[a-z]+(?: [a-z]+)+>`,
		`<[a-zA-Z][\w-]*(?:[\s/]|$)`,
	}, "|"))
})

// kept matches what tags matches and is no markup.
var kept = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<[a-z]+(?: [a-z]+)+>$`) })

// clean returns a text of a dump on one line, with invisible characters escaped and nothing that looks like markup.
func clean(text string) string {
	return tags().ReplaceAllStringFunc(report.Escape(text), func(tag string) string {
		if kept().MatchString(tag) {
			return tag
		}
		at := 0
		if !strings.ContainsAny(tag[:1], "<[]!|`") {
			at = strings.IndexByte(tag, ']') // of a link that ends the text, with the character before it
		}
		return tag[:at] + fmt.Sprintf(`\u%04x`, tag[at]) + tag[at+1:]
	})
}

// nonce returns an unpredictable word.
func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
