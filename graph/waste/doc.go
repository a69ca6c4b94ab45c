// Package waste finds memory of the GC heap that holds nothing that a program needs, or the same thing again: strings and
// boxed values that are there twice, arrays that are mostly null or zero, collections that are empty or have room for more
// than they hold, objects without content. It says who refers to what is wasted.
//
// It looks at all objects of the heap, reachable or not, in two parallel scans: one weighs, the other looks for holders. What
// was wasted is told apart so that no byte counts twice: the array behind a collection counts for the collection alone.
//
// # What counts
//
// The thresholds are constants of this package. Fields of collections are bound by their names ([Options]); a collection whose
// fields have other names is said to be unknown, and nothing of it is guessed. Types that derive from a known collection
// count as one.
package waste
