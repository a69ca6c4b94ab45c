// Package graph is the graph of a heap's objects: who refers to whom, what keeps an
// object alive, by which path, and what would be free without it.
//
// Build reads the heap once and makes rows of references; all else is computed from
// these when it is first wanted, and kept: Graph.Live, Graph.Reach (a shortest path to
// each object), Graph.Referrers (the edges turned round), Graph.Dominators (retained
// sizes). Graph.Paths are the shortest paths to an object from each kind of root, each frame
// or each handle. Names tells by which field one object refers to another.
//
// Nodes are numbers: the objects in the order of their addresses, behind them the Sources,
// which keep objects alive from outside of the heap (threads with their frames, handles,
// static fields), and one root on which they all hang. A query costs no allocation and
// may come from any number of goroutines. Close gives all memory back, when nobody uses the graph any more (Graph.Use).
//
// A heap that is damaged, or not all in the dump, has a graph too. References that lead to no object
// are counted by Fault and not followed; Stats.Warnings says what the graph lacks.
//
// # Memory
//
// All arrays are outside of Go's heap and counted against Options.MaxMemory. For n objects,
// m references (m is 1.1 to 2.1 n on real heaps, 1.3 n of the heap that was measured) and b bytes
// of heap they take:
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
// Options.Keep has them in files, which the next start maps: what is mapped is not counted.
//
// Where a heap has 32 GB and more, Build takes another m bytes while it works.
package graph

import "github.com/sosgo/sosgo/target"

// errClosed is about a graph behind Close.
var errClosed = target.Unsupportedf("the graph is closed")
