// Package heapdiff compares heaps of several dumps of a program: which types grew, in which generation, and what
// retains the growth. It does not compare single objects. [Summarize] reduces a heap to a few values per type, so that
// dumps can be read one after the other. Start at [Compare], which compares summaries.
//
// Addresses differ between dumps, so names identify things. A type is the simple name of its assembly and its full
// name. A node of the merged paths is the names on its path.
package heapdiff
