package tables

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLoneSurrogates: CSV is UTF-8 and has half a character as an escape.
func TestLoneSurrogates(t *testing.T) {
	for text, want := range map[string]string{"": `""`, "a": "a", "a\xed\xa0\x80": `a\ud800`, "\xed\xb0\x80,": `"\udc00,"`} {
		assert.Equal(t, want, string(appendQuoted(nil, []byte(text))))
	}
}
