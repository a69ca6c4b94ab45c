package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/target"
)

// maxLinks bounds the objects between a method and an iterator, and between an iterator and the queue that it reads.
const maxLinks = 1 << 8

// beforeElement is the highest state of an async iterator that waits until its next element is asked for (AsyncIteratorMethodToStateMachineRewriter.cs of Roslyn).
const beforeElement = -3

// iterator records an async iterator that waits until its next element is asked for: the code that goes through its elements works on the one before.
func (s *survey) iterator(f *answer.AsyncFrame) {
	if f.State != nil && *f.State <= beforeElement {
		s.iterators = append(s.iterators, f.Object)
	}
}

// An iteration is a suspended method that goes through the elements of an iterator, in an operation.
type iteration struct {
	box target.Addr
	op  *operation
}

// iterations returns the suspended methods that go through the elements of iterators which wait for the request of their next one, by iterator.
func (g *grapher) iterations() map[target.Addr][]iteration {
	if g.iterating != nil {
		return g.iterating
	}
	g.iterating = map[target.Addr][]iteration{}
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
			if seen[box] || g.s.ctx.Err() != nil {
				continue
			}
			seen[box] = true
			q := g.s.links(func(a target.Addr) bool { return !waits[a] && (g.s.ofIterator(a) || g.s.ofParallel(a)) })
			for r := range q.from(box) {
				if r.steps > 0 && waits[r.object] {
					g.iterating[r.object] = append(g.iterating[r.object], iteration{box, op})
				}
			}
		}
	}
	return g.iterating
}

// through returns the suspended methods that read a queue by way of iterators: they go through the elements of one that reads it, or of one that goes through such.
// unknown reports that the code of one can't be read.
func (g *grapher) through(c *channelWait) (out []holder, unknown bool) {
	seen := map[target.Addr]bool{}
	all := g.iterations()
	reads := func(it target.Addr) bool {
		q := g.s.links(func(a target.Addr) bool { return g.s.ofIterator(a) || g.s.isArray(a) })
		for r := range q.from(it) {
			if r.object == c.object.Addr || c.kind.of(g.s, r.object) == c.object.Addr {
				return true
			}
		}
		unknown = unknown || q.cut
		return false
	}
	for _, it := range g.s.iterators {
		if len(all[it]) == 0 || !reads(it) {
			continue
		}
		for _, x := range all[it] {
			if seen[x.box] {
				continue
			}
			seen[x.box] = true
			h := holder{box: x.box, strength: answer.StrengthLikely}
			if p, err := g.s.found.tasks.AwaitOf(x.box); err == nil && p != nil && !answer.LibraryMethod(p.Method) {
				h.method.S = p.Method
				h.again, h.entered = goesThrough(p)
			} else if own, err := g.s.found.tasks.AwaitOf(x.op.box); err != nil || own == nil {
				unknown = true
				continue
			} else { // such as Parallel.ForEachAsync, which calls the program's method for each element
				h.box, h.method, h.again = x.op.box, x.op.method, true
			}
			out = append(out, h)
		}
	}
	return out, unknown
}

// links returns a tracer to an iterator or a queue.
func (s *survey) links(through func(target.Addr) bool) tracer {
	return tracer{s: s, steps: maxLinks, objects: maxLinks, through: through}
}

// ofIterator reports whether an object is a state machine, as an async iterator is.
func (s *survey) ofIterator(a target.Addr) bool { return strings.Contains(s.nameAt(a), ">d__") }

// ofParallel reports whether an object is of the class Parallel: its workers find in it the sequence that they go through.
func (s *survey) ofParallel(a target.Addr) bool {
	return strings.HasPrefix(s.nameAt(a), "System.Threading.Tasks.Parallel+")
}

// nameAt returns the name of the definition of an object's type, or "".
func (s *survey) nameAt(a target.Addr) string {
	o, err := s.r.b.Objects().TrustedObject(a)
	if err != nil {
		return ""
	}
	name, err := s.r.b.Definition(o.Type)
	if err != nil {
		return ""
	}
	return name
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

// between reports whether a suspended method is an iterator that waits until its next element is asked for.
func (g *grapher) between(box target.Addr) bool { return slices.Contains(g.s.iterators, box) }

// iterated returns the pace of an iterator that waits until its next element is asked for: the one of the code that goes through its elements. What runs is in no
// operation.
func (c *course) iterated(it target.Addr) pace {
	list := c.g.iterations()[it]
	for i := range list {
		if p := c.of(&holder{box: list[i].box}); p.moves || p.asks {
			return pace{moves: p.moves, asks: p.asks}
		}
	}
	return pace{moves: len(list) == 0 && c.g.s.code.HasGraph() && c.g.s.code.Lives(it)}
}
