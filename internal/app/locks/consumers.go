package locks

import (
	"errors"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A turn says whether code that waits for a promise does so again and again, as what consumes items or signals does.
type turn uint8

const (
	noTurn   turn = iota // nothing repeats the wait
	someTurn             // a loop without an end of its own repeats it, or the code can't be read
	eachTurn             // each turn of the loop begins with it, and nothing is known that there would be to do
)

// reason returns why the wait is normal, or "".
func (t turn) reason() string {
	if t == eachTurn {
		return "waits in a loop for the next item or signal (TaskCompletionSource)"
	}
	return ""
}

// inTurn returns the severity of waits: of those that are repeated nobody is known to suffer.
func inTurn(groups ...*waiters) answer.Severity {
	for _, w := range groups {
		if slices.ContainsFunc(w.ops, func(op *operation) bool { return op.turn == noTurn }) {
			return ""
		}
	}
	return answer.SeverityWarning
}

// consumers finds the operations that wait in loops for promises.
func (s *survey) consumers() {
	loops, work := map[*tasks.AwaitPoint]ilflow.AwaitLoop{}, map[target.Addr]bool{}
	for _, op := range s.ops {
		if !op.own || op.request != "" || op.forgotten || op.thing.cause != tasks.CausePromise || op.thing.kind == answer.WaitLimiter {
			continue
		}
		if op.turn = s.turnOf(op, loops); op.turn != eachTurn {
			continue
		}
		at := op.thing.addr // the collection with the promise
		if at == 0 {
			at = op.thing.source
		}
		has, known := work[at]
		if !known {
			has = s.hasWork(at, op.thing.addr != 0)
			work[at] = has
		}
		if has {
			op.turn = someTurn
		}
	}
}

// turnOf looks at the methods on the way to the outermost one for a loop around the wait.
func (s *survey) turnOf(op *operation, loops map[*tasks.AwaitPoint]ilflow.AwaitLoop) turn {
	var list []*tasks.AwaitPoint
	for _, a := range op.path {
		p, err := s.found.tasks.AwaitOf(a)
		if err != nil {
			if !errors.Is(err, dac.ErrILMissing) { // see unjudged
				s.missing(err)
			}
			return someTurn
		}
		if p != nil && !answer.LibraryMethod(p.Method) {
			list = append(list, p)
		}
	}
	if n := len(list); n > 1 && isEntryPoint(list[n-1].Method) {
		list = list[:n-1] // it waits until all of the program ends
	}
	out := noTurn
	for i, p := range list {
		l, known := loops[p]
		if !known {
			l = ilflow.OfAwait(p)
			loops[p] = l
		}
		if l.Around {
			out = someTurn
		}
		if l.First && (l.Endless || i+1 == len(list)) {
			return eachTurn
		}
		if slices.ContainsFunc(p.Awaits, func(other int) bool { return other < p.At }) {
			return s.anyLoop(out, list[i+1:])
		}
	}
	return out
}

// anyLoop returns whether one of the methods waits in a loop, if out does not say so.
func (s *survey) anyLoop(out turn, list []*tasks.AwaitPoint) turn {
	if slices.ContainsFunc(list, func(p *tasks.AwaitPoint) bool { return ilflow.OfAwait(p).Around }) {
		return someTurn
	}
	return out
}

// hasWork reports whether the object with a queue of promises, or with one promise, has a collection with elements, too: they may be what is waited for.
// It may also have one if a static field holds a queue.
func (s *survey) hasWork(a target.Addr, queue bool) bool {
	holder := s.inside[a]
	if holder == 0 {
		return queue
	}
	o, err := s.r.b.Objects().TrustedObject(holder)
	if err != nil {
		return true
	}
	list := objects.NewCollections(s.r.b)
	for _, v := range o.Fields() {
		if v.Kind() != objects.KindReference || v.IsNull() {
			continue
		}
		item, err := v.Object()
		if err != nil {
			return true
		}
		if n, ok, err := list.CountOf(item); item.Addr != a && (err != nil || ok && n > 0) {
			return true
		}
	}
	return false
}
