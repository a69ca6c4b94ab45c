// Package examples shows the common tasks of a program that imports sosgo, one in each file. None needs more than one package
// beside the root.
//
// Stability: unstable.
package examples
