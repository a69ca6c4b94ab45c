package leaks

import (
	"cmp"
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/process"
)

// Leaks lists objects that retain much of the heap, and common .NET leak patterns.
func Leaks(ctx context.Context, p *process.Process, o Options) (*answer.Leaks, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Leaks, error) {
		h, err := c.NotedHolders()
		if err != nil {
			return nil, err
		}
		r, err := p.Objects()
		if err != nil {
			return nil, err
		}
		o.Jobs = cmp.Or(o.Jobs, c.Jobs())
		return Find(ctx, h, r, o)
	})
}
