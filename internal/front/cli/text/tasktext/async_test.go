package tasktext

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// There may be a million stacks: what writing one needs is allocated for all of them, and not for each frame.
func TestAsyncAllocatesNothingPerFrame(t *testing.T) {
	const stacks, frames = 100, 50
	states := [2]int32{3, 4} // equal frames would be folded
	name, place := answer.AsyncName{Name: answer.Text{S: "Program+<Inner>d__2"}}, answer.AsyncPlace{Method: answer.Text{S: "Program.Inner"}}
	s := &answer.AsyncStack{}
	for i := range frames {
		s.Frames = append(s.Frames, answer.AsyncFrame{Depth: i % 10, Object: target.Addr(0x7000 + i), Kind: answer.AsyncMethod, AsyncName: name, AsyncPlace: place, State: &states[i%2]})
	}
	a := &answer.Async{Stacks: func(yield func(*answer.AsyncStack, error) bool) {
		for range stacks {
			if !yield(s, nil) {
				return
			}
		}
	}}
	for _, sos := range []bool{false, true} {
		n := testing.AllocsPerRun(5, func() { Async(report.NewPage(io.Discard, sos, nil), a) })
		if n > frames*stacks/4 {
			t.Errorf("SOS's form %v: %v allocations for %d stacks of %d frames", sos, n, stacks, frames)
		}
	}
}

// TestLinks checks that a long chain of equal tasks has three lines: its first task, a count, and its last task.
func TestLinks(t *testing.T) {
	name := answer.AsyncName{Name: answer.Text{S: "Task {Shop.Add}"}}
	s := &answer.AsyncStack{Reason: answer.Text{S: "a promise"}}
	for i := range 5000 {
		s.Frames = append(s.Frames, answer.AsyncFrame{Depth: i, Object: target.Addr(0x7000 + i), Kind: answer.AsyncTask, AsyncName: name})
	}
	a := &answer.Async{Stacks: func(yield func(*answer.AsyncStack, error) bool) { yield(s, nil) }}
	var b strings.Builder
	Async(report.NewPage(&b, false, nil), a)
	assert.Equal(t, "STACK 1 waits for a promise\n000000007000 Task {Shop.Add}\n  … 4,998 more, each the continuation of the one before\n"+
		strings.Repeat(" ", 2*report.MostIndent)+"000000008387 Task {Shop.Add}\n\n", b.String())
	for i := range s.Frames {
		s.Frames[i].Kind, s.Frames[i].Method.S, s.Frames[i].State = answer.AsyncMethod, "Shop.Add", new(int32)
	}
	*s.Frames[3000].State = 1
	b.Reset()
	Async(report.NewPage(&b, false, nil), a)
	assert.Equal(t, 2, strings.Count(b.String(), " more, each"), "an async method that calls itself, from two places")
	assert.Contains(t, b.String(), " 000000007bb8 (1) Shop.Add\n")
	s.Frames = s.Frames[:shownLinks]
	b.Reset()
	Async(report.NewPage(&b, false, nil), a)
	assert.Equal(t, shownLinks+2, strings.Count(b.String(), "\n"), "a short one is written whole")
}
