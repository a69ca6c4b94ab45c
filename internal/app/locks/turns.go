package locks

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/locks/internal/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
)

// repeats reports whether a holder of a semaphore stands in a loop that began after it entered: in its own method, or in one that it awaits or calls.
// Such code may poll. Code that can't be read may, too. runs reports that the holder is a thread that runs: loops in which it computes do not count
// then. Nor does the loop in which a method reads or writes a file piece by piece.
func (s *survey) repeats(h *holder, runs bool) bool {
	if h.thread != nil {
		return s.threadRepeats(h, runs)
	}
	op := s.standing[h.box]
	if op == nil {
		return false // it goes on behind its await
	}
	pieces := op.thing.cause == tasks.CauseFile
	for _, a := range op.path {
		at, err := s.found.tasks.AwaitOf(a)
		if err != nil {
			return true
		}
		entered := 0
		if a == h.box {
			entered = h.entered
		}
		if at != nil && (a == h.box || !answer.LibraryMethod(at.Method)) { // a library writes in pieces
			if !pieces && h.loops(&metadata.MethodBody{Code: at.Code, Clauses: at.Clauses}, at.At, entered) {
				return true
			}
			pieces = false
		}
		if a == h.box {
			return false
		}
	}
	return true // the holder is not among the methods that wait
}

// threadRepeats is repeats for a thread.
func (s *survey) threadRepeats(h *holder, runs bool) bool {
	t := h.thread
	pieces := s.transfers(t)
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Missing() != nil {
			return true
		}
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || err == nil && md == nil {
			continue
		}
		if err != nil {
			return true
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		if err != nil {
			return true
		}
		if answer.LibraryMethod(name) && f.SP != h.frame {
			continue // it sleeps in steps
		}
		at, err := ilOffset(&f)
		if err != nil {
			return true
		}
		body, err := dac.CodeOf(f.Runtime).IL(md)
		if err != nil {
			return true
		}
		entered := 0
		if f.SP == h.frame {
			entered = h.entered
		}
		if !pieces && h.loops(&body, at, entered) && !(runs && ilflow.Compute(&body, at, entered)) {
			return true
		}
		pieces = false
		if f.SP == h.frame {
			return false
		}
	}
	return true
}

// loops is ilflow.Behind for the method of a holder that has entered at the offset entered, or, with an entered of 0, for one between it and its wait. Loops that
// give back in each turn what the holder has entered do not count, as of a walk along a list that locks the next node before it leaves this one.
func (h *holder) loops(body *metadata.MethodBody, at, entered int) bool {
	if entered == 0 || len(h.given) == 0 {
		return ilflow.Behind(body.Code, at, entered)
	}
	loops, err := ilflow.Around(body.Code, at)
	if err != nil {
		return true
	}
	g, err := ilflow.ReadFlow(body)
	if err != nil {
		return true
	}
	for start, end := range loops {
		if start > entered && !g.PassesEachTurn(start, end, h.given) {
			return true
		}
	}
	return false
}
