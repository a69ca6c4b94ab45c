package locks

import (
	"math"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/target"
)

// atServers returns the suspended methods that have entered a semaphore, if they are all that may enter, and each waits for a server in no loop that it has begun since: it
// goes on with the answer. How long they have waited is known to the client libraries. It returns nil for others.
func (g *grapher) atServers(l *lock, u *semaphoreUse) (out []target.Addr) {
	if l.most < math.MaxInt32 && int64(len(u.holders)) < l.most {
		return nil
	}
	for i := range u.holders {
		h := &u.holders[i]
		op := g.s.standing[h.box]
		if h.thread != nil || op == nil || op.thing.cause != tasks.CauseStream || g.s.repeats(h, false) {
			return nil
		}
		out = append(out, h.box)
	}
	return out
}
