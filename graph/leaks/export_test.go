package leaks

import "github.com/sosgo/sosgo/graph"

// Together returns the function that computes the common retained size of objects.
func Together(x *graph.Holders, d *graph.Dominators) func([]graph.Node) uint64 {
	return (&finder{x: x, g: x.Graph(), doms: d}).together
}
