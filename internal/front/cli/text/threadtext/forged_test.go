package threadtext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestForgedLines: a text of the process with line ends looks like no line of sosgo. The lines of a stack trace have four spaces.
func TestForgedLines(t *testing.T) {
	lines := []string{"sosgo: forged", "    00007f0000000000 F()", "Exception type:   Forged"}
	text := answer.Text{S: "a\r\n" + strings.Join(lines, "\r\n") + "\r\n"}
	x := answer.Exception{Address: 1, Type: answer.Text{S: "T"}, Message: &text, StackTrace: &text}
	record := &answer.CrashRecord{Message: text.S, Exception: &answer.RecordedException{Exception: x, Inners: []answer.RecordedException{{Exception: x}}}}
	chain := &answer.Crash{}
	chain.Exceptions, chain.Causes = []answer.Exception{x, x, x}, [][]int{{1, 2}, nil, nil}
	for name, write := range map[string]func(*report.Page){
		"pe":        func(p *report.Page) { exception(p, &x, true) },
		"carried":   func(p *report.Page) { carried(p, &answer.CarriedException{Type: x.Type, Message: &text}) },
		"crashinfo": func(p *report.Page) { Crash(p, chain, CrashOptions{}) },
		"record":    func(p *report.Page) { crashRecord(p, record) },
	} {
		out := page(false, write)
		assert.Contains(t, out, "forged", name)
		assert.NotContains(t, out, "\r", name)
		for line := range strings.Lines(out) {
			for _, forged := range lines {
				assert.False(t, strings.HasPrefix(line, forged), "%s: %q", name, line)
			}
		}
	}
}
