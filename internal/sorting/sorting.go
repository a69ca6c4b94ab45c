// Package sorting sorts lists whose order matters more than the time that it takes: rows of answers, modules, threads.
//
// Package slices has a copy of its sorting functions for every type of elements, 20 KB each; a hundred small lists made a megabyte of them.
// The functions here sort positions, by one copy of that code for all types, and then move the elements. Lists of objects are sorted by
// package slices, because positions and a second list take memory.
package sorting

import "slices"

// Sort sorts x by compare as slices.SortFunc does.
func Sort[E any](x []E, compare func(a, b E) int) {
	move(x, sorted(len(x), func(i, j int) int { return compare(x[i], x[j]) }))
}

// Stable sorts x by compare as slices.SortStableFunc does.
func Stable[E any](x []E, compare func(a, b E) int) {
	move(x, stable(len(x), func(i, j int) int { return compare(x[i], x[j]) }))
}

func sorted(n int, compare func(i, j int) int) []int {
	order := positions(n)
	slices.SortFunc(order, compare)
	return order
}

func stable(n int, compare func(i, j int) int) []int {
	order := positions(n)
	slices.SortStableFunc(order, compare)
	return order
}

func positions(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// move moves the element at each position of order to the place that the position has in order.
func move[E any](x []E, order []int) {
	unsorted := slices.Clone(x)
	for i, from := range order {
		x[i] = unsorted[from]
	}
}
