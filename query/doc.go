// Package query answers questions that users write themselves: expressions in the manner of C# about one object, and queries about many.
//
//	p := query.Process{Runtime: rt, Objects: objects, Heap: openHeap}
//	v, err := query.Evaluate(ctx, &p, `obj(0x7f079cc00b40).Customer.Name`)
//
// # Values
//
// What is not in the dump is neither zero nor null. A value that could not be read is an error value (KindError, with
// one of the three errors of package target), and what is computed from it is the same error; only && and || may know
// their result nevertheless, and ?? does not swallow it.
//
// # Names
//
// x.Name is the field Name of x or of the nearest base class that has one. If there is none it is what the compiler or a habit made of the
// name: <Name>k__BackingField and other compiler-made <Name>…, then _name, m_name, s_name, _Name and name. If several of one step exist,
// the name is ambiguous and the error lists them. Nothing of the program is run: a property that computes is unknown.
//
// # Queries
//
// A query is parsed to a plan, whose names are checked against the types of the dump before it runs. Expressions are
// compiled once for each type that the scan meets, so that fields are offsets and everything that the type decides is
// decided once. The heap is scanned by several workers, and the answer is the same for any number of them.
//
// Rows come from Sources. The heap's are built in; other packages add theirs to Env.Sources.
//
// Stability: stable.
package query
