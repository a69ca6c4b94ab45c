package tasks

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
)

// OnlyThrough reports whether all methods with a call that is sought are among methods, or are called by nothing but such methods, directly or through others. The
// error is set if code can't be read.
func (l *Leads) OnlyThrough(ctx context.Context, h *heap.Heap, methods []*dac.MethodDesc) (bool, error) {
	p, err := l.r.program.Get(l.r.readProgram)
	if err != nil {
		return false, err
	}
	seen := map[programMethod]bool{}
	for _, md := range methods {
		if in, err := md.Module(); err == nil {
			seen[programMethod{in.Addr, md.Token.Row()}] = true
		}
	}
	again := *l
	again.followed = map[string]bool{} // the callers of virtual methods of one name are listed once
	todo := slices.Clone(l.direct)
	for len(todo) > 0 {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[m] {
			continue
		}
		seen[m] = true
		var callers []programMethod
		err := again.callers(ctx, h, p, m, func(_ string, list []programMethod) error {
			callers = append(callers, list...)
			return nil
		})
		if err != nil || len(callers) == 0 {
			return false, err
		}
		todo = append(todo, callers...)
	}
	return true, ctx.Err()
}
