package objecttext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestForgedLines: a text of the process with line ends looks like no line of sosgo.
func TestForgedLines(t *testing.T) {
	lines := []string{"sosgo: forged", "        StackFrame: F()", `[0] "key" = 1`, "Elements:    3"}
	text := "a\r\n" + strings.Join(lines, "\r\n")
	alone := lines[2] // no text begins a line, either
	for name, write := range map[string]func(*report.Page){
		"dumpexceptions": func(p *report.Page) {
			Exceptions(p, &answer.Exceptions{Exceptions: func(yield func(answer.HeapException, error) bool) {
				yield(answer.HeapException{Message: &answer.Text{S: text}}, nil)
			}})
		},
		"items":        func(p *report.Page) { Collection(p, &answer.Collection{Text: &text}) },
		"items, alone": func(p *report.Page) { Collection(p, &answer.Collection{Text: &alone}) },
		"dumpobj": func(p *report.Page) {
			collectionStart(p, &answer.Object{Collection: &answer.CollectionSummary{Text: &text}})
		},
	} {
		out := page(false, write)
		assert.Contains(t, out, lines[2], name)
		assert.NotContains(t, out, "\r", name)
		for line := range strings.Lines(out) {
			for _, forged := range lines {
				assert.False(t, strings.HasPrefix(line, forged), "%s: %q", name, line)
			}
		}
	}
}
