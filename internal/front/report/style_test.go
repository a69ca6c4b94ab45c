package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestWrap checks that lines break between words alone, and that nothing is lost.
func TestWrap(t *testing.T) {
	const text = "     - thread 15 \"left\" waits for the value of a System.Lazy<System.String> 00007f585dc06ba8 in Contoso.Mixed.left.<lambda> [recorded]"
	assert.Equal(t, "     - thread 15 \"left\" waits for the value of a\n"+
		"       System.Lazy<System.String> 00007f585dc06ba8 in\n"+
		"       Contoso.Mixed.left.<lambda> [recorded]", Wrap(text, 7, 56))
	for columns := range 140 {
		for hang := range 30 {
			wrapped := Wrap(text, hang, columns)
			assert.Equal(t, strings.Fields(text), strings.Fields(wrapped))
			for line := range strings.Lines(wrapped) {
				line = strings.TrimSuffix(line, "\n")
				assert.True(t, columns == 0 || len(line) <= columns || len(strings.Fields(line)) == 1, "%d %d: %q", columns, hang, line)
			}
		}
	}
	assert.Equal(t, text, Wrap(text, 7, 0))
	assert.Equal(t, red+"one two"+plain, Wrap(red+"one two"+plain, 2, 7), "colors take no room")
	assert.Equal(t, "a  b", Wrap("a  b", 2, 80), "blanks stay")
}

// TestColors checks that only a terminal with colors gets them, and that text of a dump makes none.
func TestColors(t *testing.T) {
	page := func(s Screen) string {
		var b bytes.Buffer
		p := NewPage(&b, false, func(error) {}).On(s)
		p.Sentence("1. ", 3, p.Severe(answer.SeverityFatal, "CRASH")+" of x")
		return b.String()
	}
	assert.Equal(t, "1. CRASH of x\n", page(Screen{}))
	colored := page(Screen{Color: true})
	assert.Equal(t, "1. "+red+"CRASH"+plain+" of x\n", colored)
	assert.Equal(t, colored, EscapeScreen(colored, true))
	assert.Equal(t, "1. CRASH of x\n", EscapeScreen(colored, false))
	assert.Equal(t, "1. CRASH of x\n", Plain(colored))
	assert.Equal(t, "a "+magenta+"<not in dump>"+plain, EscapeScreen("a <not in dump>", true))
	assert.Equal(t, "a <not in dump>", EscapeScreen("a <not in dump>", false))
	assert.NotContains(t, EscapeScreen("\x1b[2J\x1b]0;x\x07\x1b[31m", true), "\x1b", "no other sequence passes")
	assert.Empty(t, EscapeScreen("", true))
}
