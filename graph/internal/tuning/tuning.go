// Package tuning lets tests meet in small heaps what happens in large ones.
package tuning

import "context"

// Bounds are what decides, while a graph is built, how objects are read and numbered. Zero values mean the usual.
type Bounds struct {
	DeferFrom uint64 // larger objects are read last, in pieces
	Piece     uint64 // the size of a piece
	Wide      bool   // number the heap as if it had 32 GB
}

type key struct{}

// With returns a context for graphs that are built with other bounds.
func With(ctx context.Context, b Bounds) context.Context { return context.WithValue(ctx, key{}, b) }

// Of returns the bounds of a context.
func Of(ctx context.Context) Bounds {
	b, _ := ctx.Value(key{}).(Bounds)
	return b
}
