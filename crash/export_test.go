package crash

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/threads"
)

// FailFastAt is what would be told of t if f were a frame of Environment.FailFast.
func FailFastAt(p *Process, rt *dac.Runtime, w *stackwalk.Walker, t *threads.Thread, f *stackwalk.Frame) *answer.FailFast {
	d := &describer{ctx: context.Background(), p: p, rt: rt, died: &Crash{Thread: t}, out: &answer.Crash{}, fatal: f}
	d.failFast(w)
	return d.out.FailFast
}

// IsFailFast is isFailFast.
var IsFailFast = isFailFast
