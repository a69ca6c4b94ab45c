// Package sorting sorts lists whose order matters more than the time that it takes: rows of answers, modules, threads.
//
// Package slices has a copy of its sorting functions for every type of elements, 20 KB each; a hundred small lists made a megabyte of them.
// The functions here have one copy for all types and take twice the time. Lists of objects are sorted by package slices.
package sorting

import "sort"

// Sort sorts x by compare as slices.SortFunc does.
func Sort[E any](x []E, compare func(a, b E) int) { sort.Sort(list[E]{x, compare}) }

// Stable sorts x by compare as slices.SortStableFunc does.
func Stable[E any](x []E, compare func(a, b E) int) { sort.Stable(list[E]{x, compare}) }

type list[E any] struct {
	x       []E
	compare func(a, b E) int
}

func (l list[E]) Len() int           { return len(l.x) }
func (l list[E]) Less(i, j int) bool { return l.compare(l.x[i], l.x[j]) < 0 }
func (l list[E]) Swap(i, j int)      { l.x[i], l.x[j] = l.x[j], l.x[i] }
