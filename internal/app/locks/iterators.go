package locks

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks/internal/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/target"
)

// Bounds of the references from an async iterator to the queue that it reads, and from a method to the iterator whose elements it goes through: Parallel.ForEachAsync
// has it in an object for its workers.
const (
	queueDepth    = 4
	iteratorDepth = 3
)

// beforeElement is the highest state of an async iterator that waits until its next element is asked for (AsyncIteratorMethodToStateMachineRewriter.cs of Roslyn).
const beforeElement = -3

// iterator records an async iterator that has returned an element: what goes through its elements has it in hand.
func (s *survey) iterator(f *answer.AsyncFrame) {
	if f.State != nil && *f.State <= beforeElement {
		s.iterators = append(s.iterators, f.Object)
	}
}

// iterations returns the suspended methods that go through the elements of iterators which wait for the request of their next one, by iterator.
func (g *grapher) iterations() map[target.Addr][]target.Addr {
	if g.iterating != nil {
		return g.iterating
	}
	g.iterating = map[target.Addr][]target.Addr{}
	if len(g.s.iterators) == 0 {
		return g.iterating
	}
	waits := map[target.Addr]bool{}
	for _, a := range g.s.iterators {
		waits[a] = true
	}
	seen := map[target.Addr]bool{}
	for _, op := range g.s.ops {
		for _, box := range op.path {
			if seen[box] {
				continue
			}
			seen[box] = true
			for it := range g.s.nearTo([]target.Addr{box}, iteratorDepth, func(a target.Addr) bool { return waits[a] }) {
				g.iterating[it] = append(g.iterating[it], box)
			}
		}
	}
	return g.iterating
}

// through returns the suspended methods that read a queue by way of iterators: they go through the elements of one that reads it, or of one that goes through such.
func (g *grapher) through(c *channelWait) (out []holder) {
	seen := map[target.Addr]bool{}
	boxes := g.iterations()
	for _, it := range g.s.iterators {
		if len(boxes[it]) == 0 || len(g.s.nearTo([]target.Addr{it}, queueDepth, func(a target.Addr) bool { return a == c.object.Addr })) == 0 {
			continue
		}
		for _, box := range boxes[it] {
			if seen[box] {
				continue
			}
			seen[box] = true
			h := holder{box: box, strength: answer.StrengthLikely}
			if p, err := g.s.found.tasks.AwaitOf(box); err == nil && p != nil {
				h.method.S = p.Method
				h.again, h.entered = goesThrough(p)
			}
			out = append(out, h)
		}
	}
	return out
}

// goesThrough reports whether a suspended method stands in a loop that asks for the next element of a sequence, and where the outermost one begins.
func goesThrough(p *tasks.AwaitPoint) (is bool, start int) {
	loops, err := ilflow.Around(p.Code, p.At)
	if err != nil {
		return false, 0
	}
	for from, end := range loops {
		if nextIn(p, from, end) && (!is || from < start) {
			is, start = true, from
		}
	}
	return is, start
}
