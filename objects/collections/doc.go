// Package collections lists the elements of .NET collections: lists, dictionaries, sets, queues, trees, channels,
// caches and their wrappers. It does not find collections on the heap, and does not format elements. Start at [New] and
// [Reader.Of].
//
//	r := collections.New(binder)
//	c, err := r.Of(object)
//	for item, err := range c.Items() { … }
//
// Each kind of collection is a shape of package shapes with a function that walks it. Items come in the order of .NET's
// enumerator. The package does not trust a collection's own figures: a damaged collection yields its valid items, and
// errors for the rest.
//
// Stability: unstable.
package collections
