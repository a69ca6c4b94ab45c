package workers

import (
	"context"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/absent"
)

// Each calls f with 0 to n-1 on at most jobs goroutines and waits for them. No call begins after ctx
// is done; the error is ctx's.
func Each(ctx context.Context, jobs, n int, f func(i int)) error {
	ctx = absent.Context(ctx)
	var next atomic.Int64
	var g Group
	for range max(1, min(jobs, n)) {
		g.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	g.Wait()
	return ctx.Err()
}
