package locks

import (
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// repeats reports whether a holder of a semaphore stands in a loop that began after it entered: in its own method, or in one that it awaits or calls.
// Such code may poll, unless the loop does nothing but pause a constant number of times. Code that can't be read may, too. runs reports that the holder is a thread that
// runs: loops in which it computes do not count then. Nor does the loop in which a method reads or writes a file piece by piece.
func (s *survey) repeats(h *holder, runs bool) bool {
	if h.thread != nil {
		return s.threadRepeats(h, runs)
	}
	op := s.standing[h.box]
	if op == nil {
		if slices.Contains(s.iterators, h.box) {
			at, err := s.found.tasks.AwaitOf(h.box)
			return err != nil || at == nil || h.loops(&metadata.MethodBody{Code: at.Code, Clauses: at.Clauses}, at.At, h.entered, pausesAt(at, false))
		}
		return false // it goes on behind its await
	}
	pieces := op.thing.cause == tasks.CauseFile
	for i, a := range op.path {
		at, err := s.found.tasks.AwaitOf(a)
		if err != nil && a != h.box && s.ofLibrary(a) {
			continue // its loops do not count
		}
		if err != nil {
			return true
		}
		entered := 0
		if a == h.box {
			entered = h.entered
		}
		if at != nil && (a == h.box || !answer.LibraryMethod(at.Method)) { // a library writes in pieces
			if !pieces && h.loops(&metadata.MethodBody{Code: at.Code, Clauses: at.Clauses}, at.At, entered, pausesAt(at, i > 0 && !s.ofLibrary(op.path[i-1]) && awaitsNext(at))) {
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

// ofLibrary reports whether a suspended method is a library's. It needs no code of it.
func (s *survey) ofLibrary(box target.Addr) bool {
	name := s.found.tasks.MethodOf(box)
	return name.Err == nil && answer.LibraryMethod(name.S)
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
		at, err := reach.ILOffset(&f)
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
		if !pieces && h.loops(&body, at, entered, s.pausesOf(md, &body)) && !(runs && ilflow.Compute(&body, at, entered)) {
			return true
		}
		pieces = false
		if f.SP == h.frame {
			return false
		}
	}
	return true
}

// A pausing returns how often the loop from one offset of a method to another turns at most, if it pauses in each turn and ends by itself.
type pausing func(start, end int) (turns int64, ok bool)

// pausesAt returns the pausing of a suspended method. iterates reports that it waits for the next element of an iterator with loops of its own: a loop that asks for
// elements ends with those.
func pausesAt(p *tasks.AwaitPoint, iterates bool) pausing {
	return func(start, end int) (int64, bool) {
		if iterates && nextIn(p, start, end) {
			return 1, true
		}
		return ilflow.PausesIn(p.Code, start, end, p.Awaits, p.Member)
	}
}

// awaitsNext reports whether a suspended method awaits the next element of a sequence.
func awaitsNext(p *tasks.AwaitPoint) bool {
	called := ""
	for in, err := range metadata.Instructions(p.Code) {
		if err != nil || in.Offset >= p.At {
			break
		}
		if op := in.Opcode.String(); op != "call" && op != "callvirt" {
			continue
		}
		name := p.Member(in.Token())
		if name = name[strings.LastIndexByte(name, '.')+1:]; name != "ConfigureAwait" && name != "GetAwaiter" && name != "get_IsCompleted" {
			called = name
		}
	}
	return called == "MoveNextAsync"
}

// pausesOf returns the pausing of a method with a body.
func (s *survey) pausesOf(md *dac.MethodDesc, body *metadata.MethodBody) pausing {
	return func(start, end int) (int64, bool) {
		meta, err := md.Metadata()
		if err != nil {
			return 0, false
		}
		return ilflow.PausesIn(body.Code, start, end, nil, func(t metadata.Token) string { return tasks.MemberName(meta, t) })
	}
}

// loops reports whether the method of a holder that has entered at the offset entered, or, with an entered of 0, one between it and its wait, stands in a loop that began
// since. Loops that give back in each turn what the holder has entered do not count, as of a walk along a list that locks the next node before it leaves this one; nor do
// those that do nothing but pause a constant number of times.
func (h *holder) loops(body *metadata.MethodBody, at, entered int, pauses pausing) bool {
	loops, err := ilflow.Around(body.Code, at)
	if err != nil {
		return true
	}
	for start, end := range loops {
		if entered != 0 && start <= entered {
			continue
		}
		if _, ends := pauses(start, end); !ends && !h.givesEachTurn(body, start, end, entered) {
			return true
		}
	}
	return false
}

// givesEachTurn reports whether a loop of the method of a holder that has entered at an offset gives back in each turn what the holder has entered.
func (h *holder) givesEachTurn(body *metadata.MethodBody, start, end, entered int) bool {
	if entered == 0 || len(h.given) == 0 {
		return false
	}
	g, err := ilflow.ReadFlow(body)
	return err == nil && g.PassesEachTurn(start, end, h.given)
}

// roundsOf returns how often a holder pauses at most as it does now, before it goes on: the product of the turns of the loops around its pause that pause so.
func (s *survey) roundsOf(h *holder) int64 {
	out := int64(1)
	multiply := func(code []byte, at, entered int, pauses pausing) {
		loops, err := ilflow.Around(code, at)
		if err != nil {
			return
		}
		for start, end := range loops {
			if n, ok := pauses(start, end); ok && (entered == 0 || start > entered) && out <= maxRounds {
				out *= min(n, maxRounds)
			}
		}
	}
	if h.thread == nil {
		op := s.standing[h.box]
		if op == nil {
			return 1
		}
		for i, a := range op.path {
			if p, err := s.found.tasks.AwaitOf(a); err == nil && p != nil {
				entered := 0
				if a == h.box {
					entered = h.entered
				}
				multiply(p.Code, p.At, entered, pausesAt(p, i > 0 && !s.ofLibrary(op.path[i-1]) && awaitsNext(p)))
			}
			if a == h.box {
				break
			}
		}
		return out
	}
	if h.thread.Managed == nil || h.thread.OS == nil {
		return out
	}
	for f, err := range s.programFrames(h.thread) {
		if err != nil {
			return out
		}
		at, err := reach.ILOffset(&f.Frame)
		if err != nil {
			return out
		}
		entered := 0
		if f.SP == h.frame {
			entered = h.entered
		}
		multiply(f.body.Code, at, entered, s.pausesOf(f.md, &f.body))
		if f.SP == h.frame {
			break
		}
	}
	return out
}

// maxRounds bounds the pauses of a holder that are counted.
const maxRounds = 1 << 20

// turnOf returns for how long a holder goes on pausing, if it does and the dump has the time.
func (g *grapher) turnOf(h *holder) (length time.Duration, known bool) {
	length, known = g.pauseOf(h)
	if !known || length <= 0 {
		return length, known
	}
	if rounds := time.Duration(g.s.roundsOf(h)); rounds <= patiently/length+1 {
		return length * rounds, true
	}
	return 2 * patiently, true
}

// pausing returns how many of those that wait for a semaphore have to pause themselves before they give it back. The others have their turns at once: they find what the one
// before has made, as a token that it has renewed for all.
func (g *grapher) pausing(l *lock, waiting int) int {
	quick := 0
	for _, op := range g.s.ops {
		if op.thing.lock == l && g.s.findsDone(op.box) {
			quick++
		}
	}
	return max(waiting-quick, 1)
}

// findsDone reports whether a suspended method that waits for a semaphore may find what another one has made meanwhile, and gives the semaphore back then without an await.
func (s *survey) findsDone(box target.Addr) bool {
	if s.found == nil {
		return false
	}
	p, err := s.found.tasks.AwaitOf(box)
	if err != nil || p == nil {
		return false
	}
	known, ok := s.finds[p]
	if !ok {
		known = findsAt(p)
		if s.finds == nil {
			s.finds = map[*tasks.AwaitPoint]bool{}
		}
		s.finds[p] = known
	}
	return known
}

// findsAt is findsDone for the code of a method and its await.
func findsAt(p *tasks.AwaitPoint) bool {
	g, err := ilflow.ReadFlow(&metadata.MethodBody{Code: p.Code, Clauses: p.Clauses})
	if err != nil {
		return false
	}
	isResult := func(method metadata.Token) bool { return strings.HasSuffix(p.Member(method), ".GetResult") }
	results, releases := g.CallsBehind(p.At, isResult), g.CallsBehind(p.At, func(method metadata.Token) bool { return releasesPermit(p.Member(method)) })
	return len(results) > 0 && g.Finds(results[0], releases, p.Member)
}
