package sqlpools

import (
	"context"

	"github.com/sosgo/sosgo/answer"
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
		return process.Found(New(b, items).Pools(ctx, p, h, o))
	})
}
