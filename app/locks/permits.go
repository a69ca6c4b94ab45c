package locks

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/answer/words"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A boundedCollection is a BlockingCollection. Adding to a full one waits for a semaphore, as taking from an empty one
// does.
type boundedCollection struct {
	_        shapes.Type `of:"System.Collections.Concurrent.BlockingCollection<>"`
	Capacity shapes.Int  `field:"_boundedCapacity"`
	Free     shapes.Ref  `field:"_freeNodes"`
}

// fullSemaphores describes the semaphores without permits that threads wait for, if the waiting methods release them
// later or a full BlockingCollection owns them. Other semaphores are signals, as for a worker without work.
func (g *grapher) fullSemaphores() []answer.Verdict {
	var order []*lock
	of := map[*lock][]*wait{}
	for _, w := range g.s.waits {
		l := w.lock
		if l == nil || l.Kind != answer.LockSemaphore || l.count > 0 || g.circled[w] || g.described[w] || w.remote != "" || w.libraryIdles() || g.s.uses[l] != nil {
			continue // reported with the suspended code that waits for it
		}
		if of[l] == nil {
			order = append(order, l)
		}
		of[l] = append(of[l], w)
	}
	var out []answer.Verdict
	for _, l := range order {
		list := of[l]
		v := answer.Verdict{Kind: answer.FindingPermits, Strength: answer.StrengthRecorded, Count: len(list),
			Show: []string{"dumpobj " + addressText(l.Address)}, Sites: g.sites(list), Thing: g.lockText(l).Text}
		v.Because(g.evidences(list)...)
		switch collection, state := g.fullCollection(list[0]); {
		case collection != 0:
			v.Statement = words.FullCollection.Of(g.waiting(list), words.Object(collection), limitOf(list), words.Text(state))
			v.Show[0] = "dumpobj " + addressText(collection)
		default:
			in := map[target.Addr]bool{}
			for _, w := range list {
				if md := g.releases(w); md != nil {
					in[md.Addr] = true
				}
			}
			if len(in) == 0 {
				continue
			}
			perhaps := g.inside(l, in)
			does := answer.Statement{}
			if len(perhaps) > 0 {
				does = words.PerhapsThread.Of(g.name(perhaps[0]), g.doing(perhaps[0]))
			}
			v.Statement = words.FullSemaphore.Of(g.waiting(list), g.lockText(l), limitOf(list), words.Text(l.State), does)
			if len(perhaps) > 0 {
				v.Show = append(v.Show, showThread(perhaps[0].Describe(g.s.gaps))...)
			} else {
				g.permitsOf(&v, l)
			}
		}
		for _, w := range list {
			if w.how != answer.HowRecorded {
				v.Strength = answer.Weakest(v.Strength, answer.StrengthLikely)
			}
		}
		v.Show = append(v.Show, g.show(list[0])...)
		out = append(out, v)
	}
	return out
}

// permitsOf describes the possible holders of a semaphore that only threads wait for. The text of v names the wait.
func (g *grapher) permitsOf(v *answer.Verdict, l *lock) {
	u, err := g.s.usersOf(l)
	if err != nil {
		return // the context's
	}
	switch {
	case len(u.holders) > 0:
		v.Strength = u.holders[0].strength
		v.Statement = v.Plus(words.CommaHolder.Of(g.holderText([]*holder{&u.holders[0]})))
		v.Show = append(v.Show, "dumpasync -address "+addressText(u.holders[0].box))
	case u.inside > 0:
		v.Strength = answer.StrengthPossible
		v.Statement = v.Plus(words.ThreadsInside.Of(words.N(u.inside)))
	default:
		g.nobody(v, v.Statement, u)
	}
}

// fullCollection returns the BlockingCollection that a thread adds to, with its state. If it finds no collection it
// returns 0 and notes what it could not read.
func (g *grapher) fullCollection(w *wait) (target.Addr, string) {
	name, _, _ := strings.Cut(w.called, "(")
	if !strings.HasPrefix(name, "System.Collections.Concurrent.BlockingCollection") || !strings.Contains(name[strings.LastIndexByte(name, '.')+1:], "Add") {
		return 0, ""
	}
	var unread error
	for root := range g.s.framework(w.thread) {
		if root.Interior {
			continue
		}
		o, err := g.s.r.b.Objects().Object(root.Object)
		if err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		k, x, is, err := shapes.Try[*boundedCollection](g.s.r.b, o)
		if !is || err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		if free, err := k.Free.Addr(x); err != nil || free != w.lock.Address {
			unread = cmp.Or(unread, err)
			continue
		}
		n, err := k.Capacity.Int(x)
		if err != nil {
			g.s.gaps.Note(err)
			return o.Addr, "which is full"
		}
		return o.Addr, fmt.Sprintf("which has all of its %d items", n)
	}
	if unread != nil {
		g.s.gaps.Note(fmt.Errorf("the collection that a thread adds to: %w", unread))
	}
	return 0, ""
}

// releases returns the method of the program in which a thread waits for a semaphore if it releases a semaphore later,
// or nil.
func (g *grapher) releases(w *wait) *code.MethodDesc {
	for md := range g.own(w.thread) {
		list, err := g.s.found.tasks.CallsOf(md)
		if err != nil {
			g.s.gaps.Note(fmt.Errorf("whether a method releases the semaphore that it waits for: %w", err))
		}
		if slices.ContainsFunc(list, gives) {
			return md
		}
		return nil
	}
	return nil
}

// own iterates over the program's methods on a thread's stack, the innermost first. It ends at a method without a
// readable name.
func (g *grapher) own(t *threads.Thread) iter.Seq[*code.MethodDesc] {
	return func(yield func(*code.MethodDesc) bool) {
		for f := range g.s.r.walker.Walk(g.s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			md, err := f.Method()
			if f.Kind != stackwalk.FrameManaged || err != nil || md == nil {
				continue
			}
			name, err := code.Of(f.Runtime).MethodName(md, code.MethodQualified)
			if err != nil || !answer.LibraryMethod(name) && !yield(md) {
				return
			}
		}
	}
}

// inside returns the threads in one of the methods that do not wait for the semaphore there. They may have entered it.
func (g *grapher) inside(l *lock, in map[target.Addr]bool) (out []*threads.Thread) {
	for i := range g.s.r.threads {
		t := &g.s.r.threads[i]
		if t.OS == nil || t.Managed == nil || g.of[t] != nil && g.of[t].lock == l || g.s.ctx.Err() != nil {
			continue
		}
		for md := range g.own(t) {
			if in[md.Addr] {
				out = append(out, t)
				break
			}
		}
	}
	return out
}
