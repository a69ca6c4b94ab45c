package tasktext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
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

// TestCirclesFold checks that links that take turns in a long chain are shown once, and that the end of the chain stays.
func TestCirclesFold(t *testing.T) {
	names := []string{"Shop.A", "Shop.B", "Shop.C"}
	write := func(turns, n int) []string {
		a := &answer.AsyncCalls{Stacks: 1}
		s := &answer.AsyncStack{}
		groups := []answer.AsyncGroup{}
		for i := range n {
			name := answer.Text{S: names[i%turns]}
			groups = append(groups, answer.AsyncGroup{Depth: i, Count: 1, Kind: answer.AsyncMethod, MethodTable: target.Addr(i % turns), Name: name})
			a.Calls = append(a.Calls, answer.AsyncCall{Depth: i, Count: 1, Kind: answer.AsyncMethod, Name: name})
			s.Frames = append(s.Frames, answer.AsyncFrame{Depth: i, Kind: answer.AsyncMethod, AsyncName: answer.AsyncName{Name: name}})
		}
		a.Calls = append(a.Calls, answer.AsyncCall{Depth: n, Count: 1, Kind: answer.AsyncMethod, Name: answer.Text{S: "Shop.Last"}})
		s.Frames = append(s.Frames, answer.AsyncFrame{Depth: n, Kind: answer.AsyncMethod, AsyncName: answer.AsyncName{Name: answer.Text{S: "Shop.Last"}}})
		groups = append(groups, answer.AsyncGroup{Depth: n, Count: 1, Kind: answer.AsyncMethod, MethodTable: 99, Name: answer.Text{S: "Shop.Last"}})
		var out, other, merge strings.Builder
		merged(report.NewPage(&merge, false, nil), groups)
		Calls(report.NewPage(&out, false, nil), a)
		stacks(report.NewPage(&other, false, nil), &answer.Async{Stacks: func(yield func(*answer.AsyncStack, error) bool) { yield(s, nil) }})
		return []string{out.String(), other.String(), merge.String()}
	}
	for turns, between := range map[int]string{2: "… 19,996 more, these 2 in turn, each", 3: "… 19,992 more, these 3 in turn, each"} {
		for _, text := range write(turns, 20_000) {
			assert.Contains(t, text, between)
			assert.Contains(t, text, "Shop.Last")
			for i := range turns {
				assert.GreaterOrEqual(t, strings.Count(text, names[i]), 2, "the first and the last round")
			}
			assert.Less(t, len(text), 4<<10)
		}
		assert.NotContains(t, strings.Join(write(turns, turns*shownLinks), ""), "in turn")
	}
}
