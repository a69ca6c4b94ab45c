package locks

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
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
	for _, op := range g.s.ops {
		for _, a := range op.path {
			if _, err := g.s.found.tasks.AwaitOf(a); errors.Is(err, dac.ErrILMissing) {
				return err
			}
		}
	}
	return nil
}
