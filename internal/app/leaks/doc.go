// Package leaks finds the largest holders of a heap and possible unbounded growth. Package waste finds useless content
// instead. Start with Leaks (questions.go) and Find (leaks.go).
//
// Find searches for accumulations (many objects of one type with one owner, such as a collection that is never
// emptied), for single objects with a large retained size, and for groups of objects without a common owner. It also
// searches for .NET leak patterns, such as events, timers and disposables in a root scope.
//
// Owners are exact and come from package graph. Patterns are identified by type and field names; types with unknown
// fields are listed. A suspect retains a share of the heap; that is no proof of a leak.
package leaks
