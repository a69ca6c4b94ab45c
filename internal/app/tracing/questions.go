package tracing

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/process"
)

// EventSources lists the event sources of the process with their listeners: EventListeners, sessions of EventPipe, and
// ETW.
func EventSources(ctx context.Context, p *process.Process) (*answer.EventSources, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.EventSources, error) {
		rt, err := p.Runtime()
		if err != nil {
			return nil, err
		}
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
		return process.Found(New(rt, b, items).Sources(ctx, h, c.Scan("looking for event sources", heap.ScanOptions{})))
	})
}
