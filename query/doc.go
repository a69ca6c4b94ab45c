// Package query answers questions that users write: expressions in the syntax of C# about one object, and queries about
// many. It does not run the program's code: a computed property is unknown. Start at [Evaluate] and [Run].
//
//	p := query.Process{Runtime: rt, Objects: objects, Heap: openHeap}
//	v, err := query.Evaluate(ctx, &p, `obj(0x7f079cc00b40).Customer.Name`)
//
// A value that is not in the dump is an error value, as is everything computed from it. A query is checked against the
// types of the dump, compiled once per type, and run by several workers. Rows come from Sources: the heap's, and those
// in Env.Sources.
//
// Stability: stable.
package query
