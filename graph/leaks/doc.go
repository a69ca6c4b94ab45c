// Package leaks says what most of a heap hangs on, and what looks as if it only grew: the first look at a process that
// uses too much memory.
//
// Find looks for accumulations (many objects of one type that one object owns, as a collection that nobody empties
// does), single objects that retain much, groups of objects that nothing owns alone with what refers to most of them, and
// patterns that leak in .NET: events with many handlers, timers, callbacks registered with a CancellationTokenSource, disposables in
// the root scope of a service provider, and what waits for its finalizer. Owners are exact, by package graph;
// patterns are told by the names of types and fields, and a type whose fields are not those of any known version is
// in the answer as such. A suspect is what retains a share of the heap, and no proof: Options says what is listed.
package leaks
