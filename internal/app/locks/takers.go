package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// takes reports whether a method takes items from a BlockingCollection.
func takes(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	return strings.HasPrefix(class, "BlockingCollection") && (name == "Take" || name == "TryTake" || name == "GetConsumingEnumerable")
}

// takers finds the threads with a method that takes from a collection again and again. A thread that has taken once may take no more.
func (s *survey) takers(collection target.Addr) (out []holder) {
	known := map[target.Addr]*methodCalls{}
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if t.Managed == nil || t.OS == nil || s.ctx.Err() != nil {
			continue
		}
		var taker *holder // its method has a call that takes
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Kind != stackwalk.FrameManaged || err != nil || md == nil {
				continue // a taker may be missing: the conclusion without one says so
			}
			m, err := s.calls(f.Runtime, md, known, takes)
			if err != nil || !m.own || taker == nil && len(m.list) == 0 {
				continue
			}
			again := false
			if taker != nil {
				_, loops, err := s.loopsOf(&f, md)
				again = err == nil && len(loops) > 0
			} else if h := s.threadHolder(t, &f, m); s.takesIn(t, &f, md, collection, &again) {
				taker = &h
			}
			if again {
				out = append(out, *taker)
				break
			}
		}
	}
	return out
}

// takesIn reports whether a frame's method is past a call that takes from a collection. It sets again if that call is in a loop that the frame
// is in, or if the loop goes through GetConsumingEnumerable.
func (s *survey) takesIn(t *stackwalk.Thread, f *stackwalk.Frame, md *dac.MethodDesc, collection target.Addr, again *bool) bool {
	il, loops, err := s.loopsOf(f, md)
	if err != nil {
		return false
	}
	this := s.code.Receiver(t, f, md)
	before := func(il int) []tasks.Call {
		if around, err := s.found.tasks.CallsAround(md, il, this); err == nil {
			return around.Before
		}
		return nil
	}
	is := func(c tasks.Call) bool { return takes(c.Method) && c.Object == collection }
	past := before(il)
	if !slices.ContainsFunc(past, is) {
		return false
	}
	for start, end := range loops {
		first := len(before(start))
		*again = *again || slices.ContainsFunc(before(end)[first:], is) ||
			slices.ContainsFunc(past[:first], func(c tasks.Call) bool { return is(c) && enumerates(c.Method) })
	}
	return true
}

// loopsOf returns the IL offset at which a frame stands, and the loops of its method around it: their ends by their starts.
func (s *survey) loopsOf(f *stackwalk.Frame, md *dac.MethodDesc) (at int, loops ilflow.Loops, err error) {
	if at, err = reach.ILOffset(f); err != nil {
		return 0, nil, err
	}
	body, err := dac.CodeOf(f.Runtime).IL(md)
	if err != nil {
		return 0, nil, err
	}
	loops, err = ilflow.Around(body.Code, at)
	return at, loops, err
}

// suspendedTakers finds the suspended methods that take from a collection again and again.
func (g *grapher) suspendedTakers(collection target.Addr) []holder {
	o, err := g.s.r.b.Objects().TrustedObject(collection)
	if err != nil {
		return nil
	}
	list, _ := g.readers(&channelWait{kind: &collectionKind, object: o}) // if this finds nothing, others are sought
	return slices.DeleteFunc(list, func(h holder) bool { return !h.again })
}

// takesOn reports whether a thread or suspended method that takes from a full collection goes on: it waits for an item although there are some, or moves and is in no loop
// without a way out.
func (g *grapher) takesOn(h holder) bool {
	if h.thread == nil {
		return g.moves(&h)
	}
	return g.of[h.thread].hasPermits() || g.threadMoves(h.thread) && !g.s.endless(h.thread)
}

// hasPermits reports whether a wait for a semaphore ends in a moment, because that has permits.
func (w *wait) hasPermits() bool {
	return w != nil && w.lock != nil && w.lock.Kind == answer.LockSemaphore && w.lock.count > 0
}

// taken adds who takes from a full collection to the conclusion that threads wait for room in it.
func (g *grapher) taken(v *answer.Verdict, list []holder) {
	h := &list[0]
	if v.Strength = answer.StrengthLikely; slices.ContainsFunc(list, g.takesOn) {
		v.Severity = answer.SeverityWarning // there is room soon
	}
	v.Show = append(v.Show, g.showHolder(h)...)
	g.behind(v, list)
	if h.thread == nil {
		var wait answer.Statement
		if op := g.s.standing[h.box]; op != nil {
			wait = words.AndWaitsFor.Of(g.thingText(op.thing))
		}
		v.Statement = v.Plus(words.ReadsIt.Of(g.holderName(h), wait))
		return
	}
	name := g.name(h.thread)
	inMethod, andDoes := words.InMethodWaits, words.AndDoes
	if len(list) > 1 {
		inMethod, andDoes = words.InMethodFirst, words.AndFirstDoes
	}
	var does answer.Statement
	if w := g.waitOf(h); w != nil {
		thing := g.what(w)
		if c := g.s.boundedOf(w); c.collection != 0 && !c.items {
			thing = words.RoomIn.Of(g.collectionName(w.lock, c.collection))
		}
		does = inMethod.Of(words.Method(compilernames.Pretty(h.method.String())), thing)
	} else {
		activity, where := g.activity(h.thread)
		does = andDoes.Of(activity, where)
	}
	says := words.TakesFromIt.Of(name, does)
	if len(list) > 1 {
		says = words.TakeFromIt.Of(name, words.N(len(list)-1), does)
	}
	v.Statement = v.Plus(says)
	v.Because(words.TakesItsIL.Of(name))
}

// behind sets who must go on first for a conclusion, if all of a list wait themselves.
func (g *grapher) behind(v *answer.Verdict, list []holder) {
	var threads []uint32
	var methods []target.Addr
	for i := range list {
		if list[i].thread != nil {
			id := g.waitingIDs(list[i : i+1])
			if id == nil {
				return
			}
			threads = append(threads, id...)
		} else {
			op := g.s.standing[list[i].box]
			if op == nil {
				return
			}
			methods = append(methods, op.box)
		}
	}
	v.Behind, v.BehindMethods = threads, methods
}

// boxes returns the addresses of suspended methods.
func boxes(ops []*operation) (out []target.Addr) {
	for _, op := range ops {
		out = append(out, op.box)
	}
	return out
}

// waitingIDs returns the OS ids of threads if all of a list are threads that wait.
func (g *grapher) waitingIDs(list []holder) (out []uint32) {
	for i := range list {
		if t := list[i].thread; t == nil || g.of[t] == nil {
			return nil
		}
		out = append(out, osID(list[i].thread))
	}
	return out
}
