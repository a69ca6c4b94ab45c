// Package leaks finds the largest holders of a heap and what looks like unbounded growth. It is the first look at a
// process that uses too much memory.
//
// Find looks for accumulations, which are many objects of one type that one object owns, such as a collection that is never emptied. It
// looks for single objects with a large retained size, and for groups of objects without a common owner, with what refers to most of them.
// It also looks for patterns that leak in .NET: events with many handlers, timers, callbacks registered with a CancellationTokenSource,
// disposables in the root scope of a service provider, and objects that wait for the finalizer.
//
// Owners are exact and come from package graph. Names of types and fields identify patterns; the answer lists types whose fields are those
// of no known version. A suspect retains a share of the heap. It is not proof of a leak. Options controls what is listed.
//
// Stability: unstable.
package leaks
