// Package objects reads values from the objects of a dumped process: fields with type, offset and value, array
// elements, strings, statics and names of enum values. It does not find objects (package heap).
// Start at [Reader] and [Value].
//
//	r := objects.New(rt)
//	o, err := r.Object(addr)
//	name, err := o.Field("_name").Text(100)
//
// A Value that is not in the dump carries an error; it is never zero. [As] returns a Value as a Go value: a number, a
// string, a time.Time, a slice. An error is one of package target: target.ErrNotInDump, target.ErrCorrupt and
// target.ErrUnsupported are about the dump, and target.ErrNoSuch, target.ErrNull and target.ErrArgument about the call.
//
// # Collections
//
// [Collections] lists the elements of .NET collections: lists, dictionaries, sets, queues, trees, channels, caches and
// their wrappers.
//
//	c, err := objects.NewCollections(binder).Of(object)
//	for item, err := range c.Items() { … }
//
// Items come in the order of .NET's enumerator. A collection's own figures are not trusted: a damaged collection yields
// its valid items, and errors for the rest.
//
// # Shapes
//
// A shape is a Go struct that names fields of a managed type. A [Binder] finds their offsets once for each type.
//
//	type list struct {
//		_     objects.Shape    `of:"System.Collections.Generic.List<>"`
//		Items objects.RefField `field:"_items"`
//		Size  objects.IntField `field:"_size"`
//	}
//	s, x, err := objects.BindObject[*list](binder, object) // then s.Size.Int(x)
//
// [BoundObjects] finds such objects on the heap, and a [Reading] reads them for an answer.
//
// Stability: stable.
package objects
