package locks

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
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
