package tables

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLoneSurrogates: CSV is UTF-8 and has half a character as an escape.
func TestLoneSurrogates(t *testing.T) {
	for text, want := range map[string]string{"": `""`, "a": "a", "a\xed\xa0\x80": `a\ud800`, "\xed\xb0\x80,": `"\udc00,"`} {
		assert.Equal(t, want, string(appendQuoted(nil, []byte(text))))
	}
}

// TestFormulas checks that a spreadsheet runs no cell, and that the original text can be restored.
func TestFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=HYPERLINK(\"http://x\")": `"'=HYPERLINK(""http://x"")"`, "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)",
		"\t=1": "'\t=1", "\r=1": "\"'\r=1\"", "\n=1": "\"'\n=1\"", " =1": "' =1", "\uff1d1": "'\uff1d1", "\uff201": "'\uff201",
		"'=1": "''=1", "'": "''", "a=1": "a=1", "": `""`, " ": `" "`, "1-1": "1-1", "\xed\xa0\x80=": `\ud800=`, "\xff=": string(appendQuoted(nil, []byte("\xff="))),
	} {
		got := inert([]byte(text))
		assert.Equal(t, want, string(appendQuoted(nil, got)), "%q", text)
		assert.Equal(t, text, strings.TrimPrefix(string(got), map[bool]string{true: "'"}[len(got) != len(text)]))
		assert.Equal(t, len(got) != len(text), strings.HasPrefix(string(got), "'"), "an apostrophe at the start is never the text's own")
	}
}
