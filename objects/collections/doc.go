// Package collections reads what collections of the class libraries hold: lists, dictionaries, sets, queues, trees,
// channels, caches and what wraps them.
//
//	r := collections.New(binder)
//	c, err := r.Of(object)
//	for item, err := range c.Items() { … }
//
// The kinds stand in tables, one file a subject, as shapes of package shapes with a function that walks them. Items come in
// the order in which the program would enumerate them. Nothing that a collection says of itself is believed: counts are
// bounded by the arrays that are there, chains and trees by what was seen, and a collection that a writer was inside of, or
// that is damaged, answers what holds and says what does not.
package collections
