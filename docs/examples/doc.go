// Package examples shows common tasks of programs that import sosgo, one per file. Each needs at most one package
// besides the root. The examples are tests on a dump of this repository; start with open_test.go. The folders incidentbot,
// leakgate and dedup have complete programs.
//
// Each loop over an answer ends with the first error of a row, as package sosgo describes: an error reports missing rows,
// and the last row has what kept the list from being whole. A program that can use a part of a list keeps the error and
// continues.
//
// Stability: unstable.
package examples
