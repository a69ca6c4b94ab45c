// Package examples shows common tasks of programs that import sosgo, one per file. Each needs at most two packages
// besides the root. The examples are tests on dumps of this repository; start with open_test.go. The folders incidentbot,
// leakgate and dedup have complete programs.
//
//   - open a dump: open, runtimes, ownTarget; limits: cancel, memoryLimit; goroutines and Close: concurrent
//   - why it died: crash, exceptions, signature
//   - threads: stacks, nativeFrames, walk, stackObjects, scan; what they wait for: waits, tasks, threadPool, requests
//   - the heap: objects, heapStats, duplicates, gcHeap, diff; what keeps objects alive: gcroot, retained, leaks
//   - values: describe, ofType, fields, values, collections, items, statics; types and addresses: runtimeType, address
//   - output: query, export, tables, profile, web
//   - files without a process: metadata, minidump
//
// Each loop over an answer ends with the first error of a row, as package sosgo describes: an error reports missing rows,
// and the last row has what kept the list from being whole. A program that can use a part of a list keeps the error and
// continues.
//
// Stability: unstable.
package examples
