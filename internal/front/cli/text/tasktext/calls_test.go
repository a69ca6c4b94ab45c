package tasktext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestCallsFold checks that equal calls of a long chain are one line, and that a call with something of its own stays.
func TestCallsFold(t *testing.T) {
	a := &answer.AsyncCalls{Stacks: 1}
	for i := range 5000 {
		a.Calls = append(a.Calls, answer.AsyncCall{Depth: i, Count: 1, Kind: answer.AsyncTask, Name: answer.Text{S: "Task {Shop.Add}"}})
	}
	write := func() string {
		var out strings.Builder
		p := report.NewPage(&out, false, nil)
		Calls(p, a)
		return out.String()
	}
	folded := write()
	assert.Contains(t, folded, "… 4,998 more, each the continuation of the one before\n")
	assert.Less(t, len(folded), 1<<10)
	a.Calls[2500].Blocked = 2
	assert.Equal(t, 2, strings.Count(write(), " more, each"), "the call that threads block on is shown")
	a.Calls[2500].Blocked = 0
	for i := range a.Calls {
		a.Calls[i].Kind, a.Calls[i].Method.S, a.Calls[i].Line = answer.AsyncMethod, "Shop.Add", 7
	}
	assert.Equal(t, 1, strings.Count(write(), " more, each"), "an async method that calls itself")
	a.Calls[2500].Line = 8
	assert.Equal(t, 3, strings.Count(write(), " more, each")+strings.Count(write(), "@ 8]"), "one that stands elsewhere is shown")
	a.Calls = a.Calls[:shownLinks]
	assert.NotContains(t, write(), "more, each")
}
