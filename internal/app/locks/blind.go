package locks

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// manyBlind is the number of operations from which on a wait is a finding although their code can't be read: so many do not wait at a usual moment.
const manyBlind = 1000

// blind reports whether a wait is no finding because the code of the operations can't be read: what ends the wait may be about to do so. It notes what could
// not be read.
func (g *grapher) blind(waiting int, groups ...*waiters) bool {
	unread := g.unreadCode()
	for _, w := range groups {
		op := w.ops[0]
		_, err := g.s.found.tasks.AwaitOf(op.box)
		if err = cmp.Or(err, unread); err == nil {
			continue
		}
		g.s.gaps.Note(fmt.Errorf("who ends the waits of suspended code in %s: %w", op.method.S, err))
		if waiting >= manyBlind {
			return false
		}
		for _, of := range groups {
			g.blinded = append(g.blinded, of.ops...)
		}
		return true
	}
	return false
}

// unreadCode returns why a suspended method that waits, or a method on the stack of a thread, can't be read, if its IL is missing: it may end waits of others.
func (g *grapher) unreadCode() error {
	if _, err := g.s.code.Frames(); errors.Is(err, dac.ErrILMissing) {
		return err
	}
	return g.unreadMethod(func(target.Addr) bool { return true })
}

// unreadMethod returns why one of the suspended methods that wait, among some of them, can't be read, if its IL is missing.
func (g *grapher) unreadMethod(some func(box target.Addr) bool) error {
	for _, op := range g.s.ops {
		for _, a := range op.path {
			if _, err := g.s.found.tasks.AwaitOf(a); errors.Is(err, dac.ErrILMissing) && some(a) {
				return err
			}
		}
	}
	return nil
}

// unreadHolder returns why it is not known whether what has entered a semaphore goes on, if that is missing IL of the program: its own code, or what ends its waits.
// A long pause is recorded, and nothing asks for the next element of an iterator that nothing leads to.
func (g *grapher) unreadHolder(l *lock) error {
	u := g.s.uses[l]
	if u == nil || g.s.found == nil { // nothing of suspended code was read
		return nil
	}
	for i := range u.holders {
		h := &u.holders[i]
		if length, known := g.pauseOf(h); known && length > briefly || h.thread == nil && g.dropped(h.box) {
			continue
		}
		switch {
		case h.thread == nil:
			_, err := g.s.code.Frames()
			if !errors.Is(err, dac.ErrILMissing) {
				err = g.unreadMethod(func(box target.Addr) bool { return !g.s.ofLibrary(box) })
			}
			if err != nil {
				return err
			}
		case g.s.codeUnread(h.thread):
			_, err := g.s.code.Frames()
			return err
		}
	}
	return nil
}

// noteUnread notes that the code of what has entered a semaphore can't be read.
func (g *grapher) noteUnread(l *lock) {
	if err := g.unreadHolder(l); err != nil {
		g.s.gaps.Note(fmt.Errorf("whether what has entered %s goes on: %w", g.lockText(l).Text, err))
	}
}

// dropped reports whether a suspended method is an iterator between two elements that nothing which runs later leads to.
func (g *grapher) dropped(box target.Addr) bool {
	return g.between(box) && g.s.code.HasGraph() && !g.s.code.Lives(box)
}
