package webui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/internal/front/webui"
)

// ticketOf returns the Markdown report of a process for which commands answer with documents.
func ticketOf(t *testing.T, documents map[string]any, line string) string {
	t.Helper()
	var b strings.Builder
	a := asker{
		ask: func(_ context.Context, words []string, _ report.Window, w io.Writer) {
			assert.NoError(t, json.NewEncoder(w).Encode(documents[words[0]]))
		},
		line: func(_ context.Context, asked string, w io.Writer) { fmt.Fprintln(w, "asked", asked+line) },
	}
	require.NoError(t, webui.WriteMarkdown(t.Context(), &b, a, webui.Subject{File: "core.1"}))
	return b.String()
}

// finding returns a finding as triage has it, with the commands that show more.
func finding(text string, next ...string) map[string]any {
	return map[string]any{"kind": "deadlock", "severity": "fatal", "strength": "proved", "text": text, "next": next}
}

// TestMarkdown checks that a Markdown report is short, and that texts of the process mean nothing in it.
func TestMarkdown(t *testing.T) {
	var many []any
	for i := range 500 {
		many = append(many, finding(fmt.Sprint("finding ", i, " <b>*x*</b> [a](http://b) `c` \u202e\n# head www.c.org @d ~~e~~ &lt;"), "waits", "locks", "other"))
	}
	text := ticketOf(t, map[string]any{
		"triage": map[string]any{"result": map[string]any{"findings": many, "unknown": many}},
		"doctor": map[string]any{"result": map[string]any{"command": "app _x_", "size": 12, "format": "ELF core"}},
	}, strings.Repeat("\n```` <script>\n# no head", 300))
	lines := strings.Split(text, "\n")
	assert.LessOrEqual(t, len(lines), webui.MaxLines)
	assert.Contains(t, text, `1. **deadlock** (fatal, proved): finding 0 \<b\>\*x\*\</b\> \[a\](http:&#47;&#47;b) \`+"`c\\` "+`\\u202e \#&#8203; head www&#46;c.org @&#8203;d \~\~e\~\~ &amp;lt;`)
	assert.Contains(t, text, "488 more")
	tickets := ticketOf(t, map[string]any{"triage": map[string]any{"result": map[string]any{"findings": []any{finding("order #123 of a/b#4, GH-5 and gh-6")}}}, "doctor": map[string]any{"result": map[string]any{}}}, "")
	assert.Contains(t, tickets, `order \#&#8203;123 of a/b\#&#8203;4, GH-&#8203;5 and gh-&#8203;6`, "numbers are no links to tickets")
	assert.Contains(t, text, `- process: app \_x\_`)
	assert.NotContains(t, text, "other", "two commands are asked")
	inBlock := false
	for _, l := range lines {
		switch {
		case l == "`````":
			inBlock = !inBlock
		case !inBlock:
			assert.NotContains(t, strings.ReplaceAll(l, `\<`, ""), "<", "no markup outside of blocks")
			assert.NotEqual(t, "# no head", l)
		}
	}
	assert.False(t, inBlock)
}

// TestMarkdownUnknown checks that a report of a process that could not be judged says so.
func TestMarkdownUnknown(t *testing.T) {
	text := ticketOf(t, map[string]any{"triage": map[string]any{"error": map[string]any{"text": "no runtime was found"}}, "doctor": map[string]any{}}, "")
	assert.Contains(t, text, "Not known: no runtime was found")
	assert.NotContains(t, text, "Nothing wrong")
	text = ticketOf(t, map[string]any{"triage": map[string]any{"result": map[string]any{"quiet": []string{"crash"}}}, "doctor": map[string]any{}}, "")
	assert.Contains(t, text, "Nothing wrong was found")
	assert.Contains(t, text, "Checked, nothing wrong: crash.")
}
