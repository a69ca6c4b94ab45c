package interop

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/process"
)

// ComWrappers lists the wrappers of System.Runtime.InteropServices.ComWrappers: managed objects for native code, and
// native objects for managed code.
func ComWrappers(ctx context.Context, p *process.Process) (*answer.ComWrappers, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.ComWrappers, error) {
		b, err := p.Shapes()
		if err != nil {
			return nil, err
		}
		h, err := c.NamedHeap()
		if err != nil {
			return nil, err
		}
		return process.Found(New(b).Wrappers(ctx, h, c.Scan("looking for wrappers", heap.ScanOptions{})))
	})
}
