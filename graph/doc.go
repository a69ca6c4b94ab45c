// Package graph is the graph of a heap's objects: references, roots, paths from roots, and retained sizes.
//
// Build reads the heap once and makes rows of references. Everything else is computed from these when first needed, and
// cached: Graph.Live, Graph.Reach (a shortest path to each object), Graph.Referrers (the reversed edges) and
// Graph.Dominators (retained sizes). Graph.Paths returns the shortest paths to an object from each kind of root, each
// frame or each handle. Names returns the fields by which one object refers to another.
//
// Nodes are numbers. First come the objects in the order of their addresses, then the Sources, which keep objects alive from outside of the
// heap (threads with their frames, handles, static fields), and then one root that all of them depend on. A query costs no allocation and
// is safe for concurrent use. Close frees all memory when nothing uses the graph (Graph.Use).
//
// A damaged or incomplete heap has a graph too. References that lead to no object are counted by Fault and not followed.
// Stats.Warnings returns the missing parts of the graph.
//
// # Memory
//
// All arrays are outside of Go's heap, and count against Options.MaxMemory. The table has the bytes for n objects, m
// references and b bytes of heap. On real heaps m is 1.1 to 2.1 n; on the measured one it is 1.3 n.
//
//	index (address to node and back)   b/64 + b/1024; 1.5 n where objects have 88 bytes
//	rows                               4 n + 4 m
//	sizes, types                       6 n; 7 n with more than 65,536 types
//	Live                               n/8
//	Reach                              4 n, and 4 n more while it is computed
//	LiveStarts                         b/64
//	Referrers                          4 n + 4 m
//	Dominators                        16 n, and up to 18 n more while they are computed
//	Dominators.Children                8 n
//
// Options.Keep stores them in files, which the next start maps. Mapped memory does not count.
//
// For a heap of 32 GB and more, Build needs another m bytes while it runs.
//
// Stability: stable.
package graph

import "github.com/sosgo/sosgo/target"

var errClosed = target.Unsupportedf("the graph is closed")

// errNoGraph is the error of the nil Graph and of the zero Graph.
var errNoGraph = target.Unsupportedf("there is no graph")
