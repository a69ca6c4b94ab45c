package flows

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Options selects code. The zero value selects all threads and all suspended async methods.
type Options struct {
	Object *target.Addr      // if not nil, only the flow of this Thread, ExecutionContext or async method
	Thread *stackwalk.Thread // if not nil, only the flow of this thread
}

// Flows lists the values that flow with threads and async methods: activities with their trace ids, log scopes, and
// AsyncLocals.
func Flows(ctx context.Context, p *process.Process, o Options) (*answer.Flows, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Flows, error) {
		b, err := c.Shapes()
		if err != nil {
			return nil, err
		}
		items, err := c.Collections()
		if err != nil {
			return nil, err
		}
		out := &answer.Flows{Flows: []answer.Flow{}}
		r := New(shapes.Reading{Gaps: &out.Gaps, Binder: b}, items)
		if o.Object != nil {
			object, err := b.Objects().Proven(*o.Object)
			if err != nil {
				return nil, err
			}
			out.Flows, err = r.Of(object)
			return out, err
		}
		if o.Thread != nil {
			return out, r.List(ctx, p, []stackwalk.Thread{*o.Thread}, nil, out)
		}
		list, err := c.ThreadList()
		if err != nil {
			return nil, err
		}
		set, err := tasks.Collected(ctx, c)
		if err != nil {
			return nil, err
		}
		return out, r.List(ctx, p, list, set, out)
	})
}
