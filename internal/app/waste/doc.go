// Package waste finds useless or repeated content in the GC heap: repeated strings and boxed values, arrays that are
// mostly null or zero, collections that are empty or mostly unused, objects without content. It reports their holders.
// Package leaks finds what keeps memory alive. Start with Find (waste.go).
//
// It examines all objects of the heap, reachable or not, in two parallel scans: one measures, the other finds holders.
// No byte counts twice: the array of a collection counts for the collection only.
//
// The thresholds are constants of this package. Collections are bound by field names ([Options]). A collection with
// other field names is reported as unknown. Types derived from a known collection count as that collection.
package waste
