package locks

import "fmt"

// manyBlind is how many operations with unread code no longer wait at a usual moment: what may end their waits is not known.
const manyBlind = 1000

// blind reports whether the code of operations that wait can't be read, so that who ends their waits can't be known: it may be about to. It notes that, which is
// no finding unless very many wait.
func (g *grapher) blind(waiting int, groups ...*waiters) bool {
	for _, w := range groups {
		op := w.ops[0]
		if _, err := g.s.found.tasks.AwaitOf(op.box); err != nil {
			g.s.gaps.Note(fmt.Errorf("who ends the waits of suspended code in %s: %w", op.method.S, err))
			return waiting < manyBlind
		}
	}
	return false
}
