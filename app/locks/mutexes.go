package locks

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/target"
)

// ownedElsewhere describes where the owner of a Mutex is recorded. The class library records it only where it implements wait handles itself.
func (s *survey) ownedElsewhere() string {
	for range shapes.Loaded[waitable](s.r.b) {
		return "is not known"
	}
	return "is not in managed memory"
}

// sharedHandles describes each Mutex and Semaphore of the operating system that several threads wait for, without saying who makes them wait.
// Events are left out: threads without work wait for them.
func (g *grapher) sharedHandles() []answer.Verdict {
	var order []target.Addr
	by := map[target.Addr][]*wait{}
	end, strength := map[target.Addr]string{}, map[target.Addr]string{}
	for _, w := range g.s.waits {
		if w.lock != nil || w.join || w.more > 0 || w.remote != "" || w.object.Addr == 0 {
			continue
		}
		a := w.object.Addr
		if is, err := shapes.Is[mutex](g.s.r.b, w.object.Type); is && err == nil {
			end[a], strength[a] = "who owns it "+g.s.ownedElsewhere(), answer.StrengthLikely
		} else if is, err := shapes.Is[kernelSemaphore](g.s.r.b, w.object.Type); is && err == nil && !w.libraryIdles() {
			end[a], strength[a] = "it does not record who has entered, and threads without work may wait like this", answer.StrengthPossible
		} else {
			continue
		}
		if by[a] == nil {
			order = append(order, a)
		}
		by[a] = append(by[a], w)
	}
	var out []answer.Verdict
	for _, a := range order {
		alike := by[a]
		if len(alike) < 2 {
			continue
		}
		names := make([]string, len(alike))
		for i, w := range alike {
			names[i] = g.name(w.thread)
		}
		text := fmt.Sprintf("%d threads wait for the same %s: %s; %s", len(alike), g.what(alike[0]), strings.Join(names, ", "), end[a])
		out = append(out, answer.Verdict{Kind: answer.FindingWait, Text: text, Strength: strength[a], Count: len(alike), Evidence: g.evidences(alike), Show: g.show(alike[0]), Sites: g.sites(alike)})
	}
	return out
}
