// Package examples shows common tasks of programs that import sosgo, one per file. Each needs at most one package
// besides the root. The examples are tests on a dump of this repository; start with open_test.go.
//
// Stability: unstable.
package examples
