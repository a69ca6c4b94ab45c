package hosting

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/process"
)

// read computes an answer about the host's objects. work describes the scan in progress reports.
func read[T any](ctx context.Context, p *process.Process, work string,
	compute func(*Reader, context.Context, *heap.Heap, heap.ScanOptions) (T, error)) (T, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (none T, err error) {
		b, err := p.Shapes()
		if err != nil {
			return none, err
		}
		items, err := p.Collections()
		if err != nil {
			return none, err
		}
		h, err := c.NamedHeap()
		if err != nil {
			return none, err
		}
		return process.Found(compute(New(b, items), ctx, h, c.Scan(work, heap.ScanOptions{})))
	})
}

// ServiceScopes lists the scopes of dependency injection with the objects that each will dispose.
func ServiceScopes(ctx context.Context, p *process.Process) (*answer.ServiceScopes, error) {
	return read(ctx, p, "looking for scopes", (*Reader).Scopes)
}

// Caches lists the memory caches of the program.
func Caches(ctx context.Context, p *process.Process) (*answer.MemoryCaches, error) {
	return read(ctx, p, "looking for caches", (*Reader).Caches)
}

// Hosts lists the generic hosts of the program, with the states of their services.
func Hosts(ctx context.Context, p *process.Process) (*answer.Hosts, error) {
	return read(ctx, p, "looking for hosts", func(r *Reader, ctx context.Context, h *heap.Heap, o heap.ScanOptions) (*answer.Hosts, error) {
		t, err := tasks.Of(p)
		if err != nil {
			return nil, err
		}
		return r.hosts(ctx, h, t, o, func(g *answer.Gaps) start { return startOn(ctx, p, t, g) })
	})
}

// DbContexts lists the contexts of Entity Framework Core.
func DbContexts(ctx context.Context, p *process.Process) (*answer.DbContexts, error) {
	return read(ctx, p, "looking for contexts", (*Reader).DbContexts)
}
