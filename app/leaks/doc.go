// Package leaks finds the largest holders of a heap and possible unbounded growth. Use it first for a process that uses
// too much memory. Package waste finds useless content instead.
//
// Find searches for accumulations (many objects of one type with one owner, such as a collection that is never
// emptied), for single objects with a large retained size, and for groups of objects without a common owner. It also
// searches for .NET leak patterns: events, timers, cancellation callbacks, disposables in a root scope, and objects
// awaiting finalization.
//
// Owners are exact and come from package graph. Patterns are identified by type and field names; types with unknown
// fields are listed. A suspect retains a share of the heap; that is no proof of a leak.
//
// Stability: unstable.
package leaks
