// Package tuning lets tests of small heaps take the paths for large ones. Start at [With].
package tuning

import "context"

// Bounds decide how objects are read and numbered while a graph is built. A zero field selects the default.
type Bounds struct {
	DeferFrom uint64 // larger objects are read last, in pieces
	Piece     uint64 // the size of a piece
	Wide      bool   // number the heap as if it had 32 GB
}

type key struct{}

// With returns a context for building graphs with bounds b.
func With(ctx context.Context, b Bounds) context.Context { return context.WithValue(ctx, key{}, b) }

// Of returns the bounds in a context.
func Of(ctx context.Context) Bounds {
	b, _ := ctx.Value(key{}).(Bounds)
	return b
}
