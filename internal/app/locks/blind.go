package locks

import "fmt"

// manyBlind is the number of operations from which on a wait is a finding although their code can't be read: so many do not wait at a usual moment.
const manyBlind = 1000

// blind reports whether a wait is no finding because the code of the operations can't be read: what ends the wait may be about to do so. It notes what could
// not be read.
func (g *grapher) blind(waiting int, groups ...*waiters) bool {
	for _, w := range groups {
		op := w.ops[0]
		if _, err := g.s.found.tasks.AwaitOf(op.box); err != nil {
			g.s.gaps.Note(fmt.Errorf("who ends the waits of suspended code in %s: %w", op.method.S, err))
			if waiting >= manyBlind {
				return false
			}
			for _, of := range groups {
				g.blinded = append(g.blinded, of.ops...)
			}
			return true
		}
	}
	return false
}
