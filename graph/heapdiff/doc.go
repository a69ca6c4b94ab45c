// Package heapdiff compares heaps of several dumps of a program: which types grew, in which generation, and where the growth
// hangs. [Summarize] makes of a heap what is to be compared, a few values a type, so that dumps can be looked at one after the
// other; [Compare] compares.
//
// What is the same in two dumps is told by names, since addresses and MethodTables differ: a type is the simple name of its
// assembly and its full name, a node of the merged paths the names on its path.
package heapdiff
