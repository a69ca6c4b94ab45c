package locks

import (
	"cmp"
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

// freeNodes is the field of a BlockingCollection that has the semaphore of its free places.
const freeNodes = "_freeNodes"

// fullSemaphores describes the semaphores without permits that threads wait for, if the waiting methods release them
// later, code that is past its own wait does, or a full BlockingCollection owns them. Other semaphores are signals, as for a worker without work.
func (g *grapher) fullSemaphores() []answer.Verdict {
	var order []*lock
	of := map[*lock][]*wait{}
	for _, w := range g.s.waits {
		l := w.lock
		if l == nil || l.Kind != answer.LockSemaphore || l.count > 0 || g.circled[w] || g.described[w] || w.remote != "" || w.libraryIdles() || g.s.uses[l] != nil && g.s.uses[l].suspended {
			continue // reported with the suspended code that waits for it
		}
		if of[l] == nil {
			order = append(order, l)
		}
		of[l] = append(of[l], w)
	}
	var out []answer.Verdict
	for _, l := range order {
		if v := g.fullSemaphore(l, of[l]); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// fullSemaphore describes a semaphore without permits and the threads that wait for it. It returns nil if the semaphore is a signal.
func (g *grapher) fullSemaphore(l *lock, list []*wait) *answer.Verdict {
	v := answer.Conclude(answer.FindingPermits, words.FullSemaphore.Of(g.waiting(list), g.lockText(l), limitOf(list), l.Counts), answer.StrengthRecorded, g.evidences(list)...)
	v.Count, v.Show, v.Sites, v.Thing = len(list), []string{"dumpobj " + addressText(l.Address)}, g.sites(list), g.lockText(l).Text
	v.Class = g.s.classes[l.Address]
	if collection, state := g.fullCollection(list[0]); collection != 0 {
		name := words.Object(collection)
		if field, ok := strings.CutSuffix(g.s.names[l.Address], "."+freeNodes); ok {
			name = words.NamedObject.Of(name, words.Field(field))
		}
		v.Kind, v.Statement = answer.FindingFull, words.FullCollection.Of(g.waiting(list), name, limitOf(list), state)
		v.Show[0] = "dumpobj " + addressText(collection)
		if takers := g.s.takers(collection); g.keepsTaking(takers, len(list)) {
			return nil
		} else if len(takers) > 0 {
			g.taken(&v, takers)
		} else {
			v.Statement = v.Plus(words.NobodyTakes.Of())
		}
	} else if u := g.s.uses[l]; u == nil || !u.gives && len(u.holders) == 0 || !g.permits(&v, l) || g.takesTurns(l, u, len(list), crowd) {
		return nil
	}
	for _, w := range list {
		if w.how != answer.HowRecorded {
			v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
		}
	}
	v.Show = append(v.Show, g.show(list[0])...)
	return &v
}

// fullCollection returns the BlockingCollection that a thread adds to, with its state. If it finds no collection it
// returns 0 and notes what it could not read.
func (g *grapher) fullCollection(w *wait) (target.Addr, answer.Statement) {
	name, _, _ := strings.Cut(w.called, "(")
	if !strings.HasPrefix(name, "System.Collections.Concurrent.BlockingCollection") || !strings.Contains(name[strings.LastIndexByte(name, '.')+1:], "Add") {
		return 0, answer.Statement{}
	}
	at, k, x := g.collection(w, func(k *boundedCollection) *objects.RefField { return &k.Free })
	if k == nil {
		return 0, answer.Statement{}
	}
	n, err := k.Capacity.Int(x)
	if err != nil {
		g.s.gaps.Note(err)
		return at, words.IsFull.Of()
	}
	return at, words.HasAllItems.Of(words.N(n))
}

// collection returns the BlockingCollection with the semaphore that a thread waits for in the field that by selects. If it finds no collection
// it returns 0 and nil, and notes what it could not read.
func (g *grapher) collection(w *wait, by func(*boundedCollection) *objects.RefField) (target.Addr, *boundedCollection, objects.Instance) {
	var unread error
	for root := range g.s.framework(w.thread) {
		if root.Interior {
			continue
		}
		o, err := g.s.r.b.Objects().TrustedObject(root.Object)
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		k, x, is, err := shapes.TryBind[*boundedCollection](g.s.r.b, o)
		if !is || err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		if semaphore, err := by(k).Addr(x); err != nil || semaphore != w.lock.Address {
			unread = cmp.Or(unread, err)
			continue
		}
		return o.Addr, k, x
	}
	if unread != nil {
		g.s.gaps.Note(fmt.Errorf("the collection of items that a thread waits for: %w", unread))
	}
	return 0, nil, 0
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
		if slices.ContainsFunc(list, gives) || returns && slices.ContainsFunc(list, givesBack) {
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
