package locks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// maxEnumerators bounds the enumerators of BlockingCollections that are looked at.
const maxEnumerators = 1 << 12

// enumerators begins the names of the types of the enumerators that GetConsumingEnumerable and the partitioner of Parallel make.
const enumerators = "System.Collections.Concurrent.BlockingCollection`1+<"

// nobodyTakes adds to the conclusion that threads wait for room in a collection whether code that can still run takes from it, if nothing is known to do
// so again and again. It returns false if a thread goes on that may take from it, so that the collection may be full by design.
func (g *grapher) nobodyTakes(v *answer.Verdict, collection target.Addr) bool {
	sought := func(method string) (target.Addr, bool) {
		if strings.HasPrefix(method, "BlockingCollection") && strings.HasSuffix(method, "FromAny") { // its argument is an array of them
			return 0, true
		}
		return collection, takes(method)
	}
	r, err := g.s.code.Callers(sought)
	if err != nil {
		return false // it was stopped
	}
	if missing := g.s.found.tasks.MissingIL(); r == nil && missing.Methods > 0 {
		g.s.gaps.Note(fmt.Errorf("which code takes from %s: %w", addressText(collection), missing.Err))
		return false
	}
	unseen := r == nil || g.s.enumerated(collection)
	if !unseen && !r.Outside && len(r.Threads) == 0 {
		v.Statement, v.Strength = v.Plus(words.NoneTakes.Of()), answer.StrengthLikely
		v.Rests = words.Searched
		v.Because(words.SignalsIL.Of())
		return true
	}
	unseen = (unseen || g.s.code.Unseen(r, sought)) && g.s.code.HasGraph() // without a graph all that was ever made lives
	for i := range g.s.r.threads {
		t := &g.s.r.threads[i]
		if (unseen && g.s.repeatsSome(t) || r != nil && r.Threads[t]) && g.course().of(&holder{thread: t}).moves && !g.s.endless(t) {
			return false
		}
	}
	v.Statement, v.Strength, v.Severity = v.Plus(words.NobodyTakes.Of()), answer.StrengthPossible, answer.SeverityWarning
	return true
}

// repeatsSome reports whether a thread may do something again and again: a method of the program on its stack is in a loop, or it is a worker of the
// thread pool, or its code could not be read.
func (s *survey) repeatsSome(t *stackwalk.Thread) bool {
	list, err := s.code.Frames()
	return err != nil || slices.ContainsFunc(list, func(f *reach.Frame) bool {
		return f.Thread == t && (f.Loops || t.Managed.State&dac.ThreadPoolWorker != 0)
	})
}

// enumerated reports whether an enumerator lives that takes from a collection. Code that has it takes without a call on the collection.
func (s *survey) enumerated(collection target.Addr) bool {
	n, err := s.enumeratorsOf(collection)
	return err != nil || n > 0
}

// enumeratorsOf counts the enumerators that live and take from a collection.
func (s *survey) enumeratorsOf(collection target.Addr) (n int, err error) {
	list, err := tasks.Objects(s.ctx, s.r.heap, func(mt *dac.MethodTable) bool {
		t, err := s.r.b.Objects().TrustedType(mt.Addr)
		if err != nil {
			return true // it can't be excluded
		}
		name, err := s.r.b.Definition(t)
		return err != nil || strings.HasPrefix(name, enumerators)
	}, maxEnumerators)
	if err != nil {
		return 0, err
	}
	for _, a := range list {
		o, err := s.r.b.Objects().TrustedObject(a)
		if err != nil {
			return 0, err
		}
		for _, v := range o.Fields() {
			if of, err := v.Addr(); err == nil && of == collection {
				if s.code.Lives(a) {
					n++
				}
				break
			}
		}
	}
	return n, nil
}
