package locks

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A boundedCollection is a BlockingCollection. Adding to a full one waits for a semaphore, as taking from an empty one
// does.
type boundedCollection struct {
	_        objects.Shape    `of:"System.Collections.Concurrent.BlockingCollection<>"`
	Capacity objects.IntField `field:"_boundedCapacity"`
	Free     objects.RefField `field:"_freeNodes"`
	Items    objects.RefField `field:"_occupiedNodes"`
}

// A bounded is a BlockingCollection with a semaphore of its own.
type bounded struct {
	collection target.Addr
	items      bool                // the semaphore counts items, else free places
	capacity   answer.Maybe[int64] // of items; set for free places
}

// The fields of a BlockingCollection that have the semaphores of its free places and of its items.
const (
	freeNodes     = "_freeNodes"
	occupiedNodes = "_occupiedNodes"
)

// fullSemaphores describes the semaphores without permits that threads wait for, if the waiting methods release them
// later, code that is past its own wait does, or a full BlockingCollection owns them. Other semaphores are signals, as for a worker without work.
func (g *grapher) fullSemaphores() []answer.Verdict {
	var out []answer.Verdict
	order, of := g.atSemaphores()
	for _, l := range order {
		if v := g.fullSemaphore(l, of[l]); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// atSemaphores returns the semaphores without permits that threads wait for, and all threads that wait for each. It leaves out one if every wait for it is
// described, but counts a thread that another one joins with those that wait alike.
func (g *grapher) atSemaphores() (order []*lock, of map[*lock][]*wait) {
	of, reported := map[*lock][]*wait{}, map[*lock]bool{}
	for _, w := range g.s.waits {
		l := w.lock
		if l == nil || l.Kind != answer.LockSemaphore || l.count > 0 || g.circled[w] || g.lostThings[l.Address] {
			continue // reported already
		}
		if w.remote != "" || w.libraryIdles() || g.s.uses[l] != nil && g.s.uses[l].suspended {
			continue // reported with the suspended code that waits for it
		}
		if of[l] == nil {
			order = append(order, l)
			reported[l] = true
		}
		of[l], reported[l] = append(of[l], w), reported[l] && g.described[w]
	}
	return slices.DeleteFunc(order, func(l *lock) bool { return reported[l] }), of
}

// fullSemaphore describes a semaphore without permits and the threads that wait for it. It returns nil if the semaphore is a signal.
func (g *grapher) fullSemaphore(l *lock, list []*wait) *answer.Verdict {
	v := answer.Conclude(answer.FindingPermits, words.FullSemaphore.Of(g.waiting(list), g.lockText(l), limitOf(list), l.Counts), answer.StrengthRecorded, g.evidences(list)...)
	v.Count, v.Show, v.Sites, v.Thing = len(list), []string{"dumpobj " + addressText(l.Address)}, g.sites(list), g.lockText(l).Text
	v.Class = g.s.classes[l.Address]
	if collection, state := g.fullCollection(list[0]); collection != 0 {
		v.Kind, v.Statement = answer.FindingFull, words.FullCollection.Of(g.waiting(list), g.collectionName(l, collection), limitOf(list), state)
		v.Show[0], v.Thing = "dumpobj "+addressText(collection), words.RoomIn.Of(g.collectionName(l, collection)).Text
		if takers := g.takersOf(collection); g.course().collection(collection, len(list)).moves {
			return nil // it is full by design, and what adds to it is slowed down
		} else if len(takers) > 0 {
			g.taken(&v, takers)
		} else if !g.nobodyTakes(&v, collection) {
			return nil
		}
	} else if u := g.s.uses[l]; u == nil || !u.gives && len(u.holders) == 0 || !g.permits(&v, l) || g.takesTurns(&v, l, u, len(list), crowd) {
		return nil
	}
	g.noteUnread(l)
	for _, w := range list {
		if w.how != answer.HowRecorded {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
		}
	}
	v.Show = append(v.Show, g.show(list[0])...)
	return &v
}

// collectionName names a BlockingCollection by the field that holds it, or by its type.
func (g *grapher) collectionName(free *lock, collection target.Addr) answer.Statement {
	if g.s.names[collection] == "" {
		if class, ok := strings.CutSuffix(g.s.names[free.Address], "."+freeNodes); ok {
			return words.NamedObject.Of(words.Object(collection), words.Field(class))
		}
	}
	return g.addressName(collection)
}

// fullCollection returns the BlockingCollection that a thread adds to, with its state, or 0.
func (g *grapher) fullCollection(w *wait) (target.Addr, answer.Statement) {
	c := g.s.boundedOf(w)
	switch {
	case c.collection == 0 || c.items:
		return 0, answer.Statement{}
	case c.capacity.Err() != nil:
		return c.collection, words.IsFull.Of()
	}
	return c.collection, words.HasAllItems.Of(words.N(c.capacity.Value))
}

// boundedOf returns the BlockingCollection that a thread adds to or takes from.
func (s *survey) boundedOf(w *wait) bounded {
	if w.lock == nil {
		return bounded{}
	}
	return s.bounded[w.lock.Address]
}

// boundedCollection records the semaphores of a BlockingCollection.
func (s *survey) boundedCollection(_ *lock, o objects.Object) (bool, error) {
	k, at, is, err := shapes.TryBind[*boundedCollection](s.r.b, o)
	if !is || err != nil {
		return is, err
	}
	items, err := k.Items.Addr(at)
	if err != nil {
		return true, err
	}
	free, err := k.Free.Addr(at)
	if err != nil {
		return true, err
	}
	s.bounded[items] = bounded{collection: o.Addr, items: true}
	if free != 0 {
		s.bounded[free] = bounded{collection: o.Addr, capacity: answer.Of(k.Capacity.Int(at))}
	}
	return true, nil
}

// releases returns the method of the program in which a thread waits for a semaphore, directly or by a wrapper, if it releases a semaphore
// later, or nil.
func (s *survey) releases(w *wait) *dac.MethodDesc {
	wrapped, returns := false, false
	for md := range s.methodsOf(w.thread) {
		list, err := s.found.tasks.CallsOf(md)
		if err != nil {
			s.gaps.Note(fmt.Errorf("whether a method releases the semaphore that it waits for: %w", err))
		}
		if slices.ContainsFunc(list, releasesPermit) || returns && slices.ContainsFunc(list, givesBack) {
			return md
		}
		if wrapped, returns = s.found.tasks.EntersFor(md); !wrapped {
			return nil
		}
	}
	return nil
}

// methodsOf iterates over the program's methods on a thread's stack, the innermost first. It ends at a method without a
// readable name.
func (s *survey) methodsOf(t *stackwalk.Thread) iter.Seq[*dac.MethodDesc] {
	return func(yield func(*dac.MethodDesc) bool) {
		for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Kind != stackwalk.FrameManaged || err != nil || md == nil {
				continue
			}
			name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
			if err != nil || !answer.LibraryMethod(name) && !yield(md) {
				return
			}
		}
	}
}

// permits adds the methods that have entered a semaphore to v, which says who waits for it. It
// returns false if the wait is nothing to report.
func (g *grapher) permits(v *answer.Verdict, l *lock) bool {
	u := g.s.uses[l]
	if u == nil || l.count > 0 {
		return false // a permit is free: a waiter is about to go on
	}
	var sure, perhaps []*holder
	for i := range u.holders {
		if h := &u.holders[i]; h.strength == answer.StrengthLikely && !u.crowded(l) {
			sure = append(sure, h)
		} else {
			perhaps = append(perhaps, h)
		}
	}
	switch {
	case g.reentered(v, l, u, sure):
	case u.crowded(l):
		first := perhaps[0]
		v.Strength = answer.StrengthPossible
		v.Statement = v.Plus(words.HoldersAmong.Of(words.N(int(l.most)), words.N(len(perhaps)), g.holderName(first), g.holderDoes(first, false)))
	case len(sure) > 0:
		v.Strength, v.Statement = answer.StrengthLikely, v.Plus(words.SemiHolder.Of(g.holderText(sure)))
	case len(perhaps) > 0:
		v.Strength, v.Statement = answer.StrengthPossible, v.Plus(words.SemiHolder.Of(g.holderText(perhaps)))
	case len(u.inside) > 0:
		c := g.course()
		c.known[l.Address] = pace{} // a chain that comes back to it does not move
		moving := slices.DeleteFunc(slices.Clone(u.inside), func(x user) bool {
			return (!x.gives || g.of[x.thread] != nil) && !c.of(&holder{thread: x.thread}).moves
		})
		if slices.ContainsFunc(moving, func(x user) bool { return x.sure }) {
			return false // it has come past the semaphore, or is about to give a permit back
		}
		v.Strength, v.Statement = answer.StrengthPossible, v.Plus(words.MayHaveEntered.Of(words.N(len(u.inside))))
		if len(moving) > 0 {
			v.Severity = answer.SeverityWarning
		}
	case !u.gives && !u.blindWaiters:
		return false // a signal: the waiters never release it
	case len(u.hiding) > 0 && u.unread+u.blind == 0 && !u.blindWaiters:
		h := &u.hiding[0]
		v.Strength = answer.StrengthPossible
		v.Statement = v.Plus(words.HolderHidden.Of(words.N(len(u.hiding)), words.Method(compilernames.Pretty(h.method.String())), words.Method(h.call)))
	default:
		g.nobody(v, u)
	}
	list := append(sure, perhaps...)
	if len(perhaps) == 0 {
		v.BehindMethods = g.atServers(l, u)
	}
	if slices.ContainsFunc(list, func(h *holder) bool { return g.moves(h) || g.course().of(h).moves && !g.repeating([]holder{*h}) }) {
		v.Severity = answer.SeverityWarning // the next waiter may be about to go on
	}
	if v.Kind == answer.FindingPermits && g.unreadHolder(l) != nil {
		v.Severity = answer.SeverityWarning // what they wait for may go on
	}
	for _, h := range list[:min(len(list), listedOperations)] {
		v.Because(g.holderEvidence(h, l))
		v.Show = append(v.Show, g.showHolder(h)...)
	}
	return true
}

// reentered concludes that all holders of a semaphore wait for it again, in methods that they await or call, so that it is
// never released.
func (g *grapher) reentered(v *answer.Verdict, l *lock, u *semaphoreUse, sure []*holder) bool {
	all := int64(len(sure)) >= l.most || l.most == math.MaxInt32 && len(u.inside) == 0 && len(u.hiding) == 0 // no other holder is possible, or none was found
	if len(sure) == 0 || len(sure) < len(u.holders) || !all ||
		slices.ContainsFunc(sure, func(h *holder) bool { w := g.waitOf(h); return w == nil || w.lock != l || !w.ends.IsZero() }) {
		return false
	}
	v.Kind, v.Strength = answer.FindingDeadlock, answer.StrengthLikely
	first := g.holderName(sure[0])
	switch {
	case len(sure) == 1 && sure[0].thread != nil:
		v.Statement = words.ThreadReenters.Of(first, g.lockText(l), v.Statement)
	case len(sure) == 1:
		v.Statement = words.Reentered.Of(first, g.lockText(l), v.Statement)
	default:
		v.Statement = words.ReenteredMany.Of(first, words.N(len(sure)-1), g.lockText(l), v.Statement)
	}
	return true
}

// nobody concludes that a semaphore without permits has no holder among the suspended methods.
func (g *grapher) nobody(v *answer.Verdict, u *semaphoreUse) {
	var unread []answer.Statement
	if u.partial || g.s.incomplete() {
		unread = append(unread, words.UnreadParts.Of())
	}
	if u.unread > 0 {
		unread = append(unread, words.UnreadMethods.Of(words.N(u.unread)))
	}
	if u.blindWaiters {
		unread = append(unread, words.UnreadWaiters.Of())
	}
	if u.blind > 0 {
		unread = append(unread, words.UnreadThreads.Of(words.N(u.blind)))
	}
	if len(unread) > 0 {
		v.Strength, v.Statement = answer.StrengthUnknown, v.Plus(words.NobodyUnread.Of(words.Join(", ", unread...)))
		v.Severity = answer.SeverityWarning // a busy semaphore looks alike
		return
	}
	v.Strength, v.Statement, v.Rests = answer.StrengthLikely, v.Plus(words.NobodyEntered.Of()), leftBehind
	v.Because(words.PermitLost.Of())
}

// passes reports whether a semaphore is about to be free for the operations that wait for it: its holders take turns or are about to go on, or the
// waiters are few and what entered it runs on threads, which wait for nothing that is known, such as one that writes a message. If nothing says whether its holders go on, it
// adds that to v.
func (g *grapher) passes(v *answer.Verdict, l *lock, waiting int) bool {
	u := g.s.uses[l]
	if u == nil || len(u.holders) == 0 {
		return false
	}
	return waiting < fewOperations && !slices.ContainsFunc(u.holders, func(h holder) bool { return !g.runsFor(&h) }) || g.takesTurns(v, l, u, waiting, crowdAsync) || g.queued(l, u)
}

// queued reports whether all that may have entered a semaphore, as many as may enter it, go on: what they await has completed, or they wait for
// nothing but their turn in the thread pool. If they are more than may enter it, a thread that runs has just passed it on to another of them.
func (g *grapher) queued(l *lock, u *semaphoreUse) bool {
	return (l.most == math.MaxInt32 || int64(len(u.holders)) >= l.most) && !g.starves(l, u) && !slices.ContainsFunc(u.holders, func(h holder) bool {
		if h.thread != nil {
			return !u.crowded(l) || !g.runs(h.thread)
		}
		op := g.s.standing[h.box]
		return !g.s.goesOn[h.box] && (op == nil || op.thing.cause != tasks.CausePool)
	})
}

// crowded reports whether more seem to have entered a semaphore than may: some of them have left it, or are about to enter.
func (u *semaphoreUse) crowded(l *lock) bool {
	return l.most < math.MaxInt32 && int64(len(u.holders)) > l.most
}

// takesTurns reports whether the holders of a semaphore take turns: it is soon free for all who wait, and no holder stands in a loop that it has begun
// since. A holder in a loop may wait for something that never happens. If they wait for others, as a server, and nothing says since when, the turns must be few,
// and not of all requests; else it adds that to v.
func (g *grapher) takesTurns(v *answer.Verdict, l *lock, u *semaphoreUse, waiting, most int) bool {
	if g.starves(l, u) {
		return false
	}
	p := g.course().turns(l, u, waiting, most)
	return (p.moves || p.asks) && !g.repeating(u.holders) && (p.moves || !g.askers(v, l, waiting, len(u.holders)))
}

// starves reports whether most workers of a starved thread pool wait for a semaphore that suspended code has entered: this needs a worker to go on.
func (g *grapher) starves(l *lock, u *semaphoreUse) bool {
	workers := 0
	for _, w := range g.s.waits {
		if w.lock == l && w.thread != nil && w.thread.Managed != nil && w.thread.Managed.State&dac.ThreadPoolWorker != 0 {
			workers++
		}
	}
	if workers == 0 || !slices.ContainsFunc(u.holders, func(h holder) bool { return h.thread == nil }) || g.s.pool == nil && g.s.queued() != nil {
		return false
	}
	return 2*workers > len(g.s.pool.Workers) && slices.ContainsFunc(g.s.pool.Verdicts, func(v answer.Verdict) bool { return v.Kind == answer.FindingStarved })
}
