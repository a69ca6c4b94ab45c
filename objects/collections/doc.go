// Package collections lists the elements of .NET collections: lists, dictionaries, sets, queues, trees, channels,
// caches and their wrappers. It neither finds collections on the heap nor formats elements. Start at [Reader.Of].
//
//	r := collections.New(binder)
//	c, err := r.Of(object)
//	for item, err := range c.Items() { … }
//
// Items come in the order of .NET's enumerator. The package does not trust a collection's own figures: a damaged
// collection yields its valid items, and errors for the rest.
//
// Stability: unstable.
package collections
