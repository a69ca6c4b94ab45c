package tasktext

import (
	"io"
	"testing"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// There may be a million stacks: what writing one needs is allocated for all of them, and not for each frame.
func TestAsyncAllocatesNothingPerFrame(t *testing.T) {
	const stacks, frames = 100, 50
	state := int32(3)
	name, place := &answer.AsyncName{Name: answer.Text{S: "Program+<Inner>d__2"}}, &answer.AsyncPlace{Method: answer.Text{S: "Program.Inner"}}
	s := &answer.AsyncStack{}
	for i := range frames {
		s.Frames = append(s.Frames, answer.AsyncFrame{Depth: i % 10, Object: target.Addr(0x7000 + i), Kind: answer.AsyncMethod, AsyncName: name, AsyncPlace: place, State: &state})
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
