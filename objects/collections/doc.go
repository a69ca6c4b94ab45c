// Package collections reads the content of collections: lists, dictionaries, sets, queues, trees, channels, caches and their wrappers.
//
//	r := collections.New(binder)
//	c, err := r.Of(object)
//	for item, err := range c.Items() { … }
//
// Kinds of collections are tables, one file a subject. Each row is a shape of package shapes with a function that walks
// it. Items come in the order in which the program would enumerate them.
//
// The package does not trust a collection's own figures. Arrays bound counts, and visited nodes bound chains and trees.
// A damaged collection, or one that a thread was writing to, yields its valid items and errors for the rest.
//
// Stability: unstable.
package collections
