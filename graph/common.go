package graph

import (
	"context"
	"math/bits"
)

// Common calls f for the objects of two graphs at equal addresses: n of g, m of other. It compares bits, and walks
// neither heap. Several goroutines call f, each with its own result of create. The error is the context's.
func Common[T any](ctx context.Context, g, other *Graph, create func() T, f func(with T, n, m Node)) error {
	if g == nil || other == nil || g.index == nil || other.index == nil {
		return errNoGraph
	}
	x, y := g.index, other.index
	return parallel(ctx, g.lazy.options.Workers, int(x.chunks), numberPiece/chunkGranules, create, func(with T, from, to int) {
		for c := uint64(from); c < uint64(to); c++ {
			at, ok := y.granule(uint64(x.address(c * chunkGranules)))
			if !ok {
				continue
			}
			there := y.words[at>>6:][:chunkWords]
			for i, word := range x.words[c*chunkWords:][:chunkWords] {
				for both := word & there[i]; both != 0; both &= both - 1 {
					bit := uint64(i*64 + bits.TrailingZeros64(both))
					n, _ := x.rank(c*chunkGranules + bit)
					m, _ := y.rank(at + bit)
					f(with, n, m)
				}
			}
		}
	})
}
