// Package waste finds useless or repeated content in the GC heap: repeated strings and boxed values, arrays that are
// mostly null or zero, collections that are empty or mostly unused, objects without content. It reports their holders.
//
// It examines all objects of the heap, reachable or not, in two parallel scans: one measures, the other finds holders.
// No byte counts twice: the array of a collection counts for the collection only.
//
// The thresholds are constants of this package. Names bind the fields of collections ([Options]). A collection whose fields have other
// names is reported as unknown, and nothing is guessed about it. Types that derive from a known collection count as one.
//
// Stability: unstable.
package waste
