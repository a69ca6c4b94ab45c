// Package sorting sorts lists whose order matters more than the time that it takes: rows of answers, modules, threads.
//
// Package slices has a copy of its sorting functions for every type of elements, 20 KB each; a hundred small lists made a megabyte of them.
// The functions here sort positions, by one copy of that code for all types, and then swap the elements into their places. Lists of objects
// are sorted by package slices, because positions take memory.
package sorting

import (
	"cmp"
	"reflect"
	"slices"
)

// Sort sorts x by compare as slices.SortFunc does.
func Sort[E any](x []E, compare func(a, b E) int) {
	Stable(x, compare)
}

// Stable sorts x by compare as slices.SortStableFunc does.
func Stable[E any](x []E, compare func(a, b E) int) {
	move(x, sorted(len(x), func(i, j int) int { return compare(x[i], x[j]) }))
}

// sorted returns the positions of n elements in their order. Equal elements keep theirs.
func sorted(n int, compare func(i, j int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) })
	return order
}

// move moves the element of list, a slice, at each position of order to the place that the position has in order. It uses order up.
func move(list any, order []int) {
	swap := reflect.Swapper(list)
	for start := range order {
		at := start
		for order[at] != start { // the element that was at start is at at
			from := order[at]
			swap(at, from)
			order[at] = at
			at = from
		}
		order[at] = at
	}
}

// Strings sorts strings. It is not inlined, and there is one copy of the functions of slices.Sort for strings, 7 KB, in place of one for
// each package that sorts some.
//
//go:noinline
func Strings(s []string) { slices.Sort(s) }

// Keys returns the keys of m in order, nil if there are none.
func Keys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	Strings(keys)
	return keys
}
