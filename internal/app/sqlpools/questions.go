package sqlpools

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/process"
)

// SQLPools lists the database connection pools: idle connections, the commands on the others, and the calls that wait.
func SQLPools(ctx context.Context, p *process.Process, o Options) (*answer.SQLPools, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.SQLPools, error) {
		b, err := p.Shapes()
		if err != nil {
			return nil, err
		}
		items, err := p.Collections()
		if err != nil {
			return nil, err
		}
		h, err := c.NamedHeap()
		if err != nil {
			return nil, err
		}
		o.Scan = c.Scan("looking for pools", o.Scan)
		pool, err := threadpool.Of(p)
		if err != nil {
			return nil, err
		}
		var unread answer.Gaps // an unknown time has its own error
		if o.Clock, err = pool.Now(ctx, &unread); err != nil {
			return nil, err
		}
		out, err := New(b, items).Pools(ctx, p, h, o)
		if err == nil && aged(out) {
			out.NoteAll(unread.Noted())
		}
		return process.Found(out, err)
	})
}

// aged reports whether an answer has ages, which are those at the newest time that could be read.
func aged(out *answer.SQLPools) bool {
	for i := range out.Pools {
		p := &out.Pools[i]
		if slices.ContainsFunc(p.Connections, func(c answer.SQLConnection) bool { return c.Command.Value != nil && c.Command.Value.Age.Err() == nil }) ||
			slices.ContainsFunc(p.Opening, func(o answer.SQLOpening) bool { return o.Age.Err() == nil }) {
			return true
		}
	}
	return false
}
