// Package objects reads values from the objects of a dumped process: fields with type, offset and value, array
// elements, strings, statics and names of enum values. It does not find objects (package heap), and does not interpret
// the fields of library types (packages shapes and collections). Start at [Reader] and [Value].
//
//	r := objects.New(rt)
//	o, err := r.Object(addr)
//	name, err := o.Field("_name").Text(100)
//
// A Value that is not in the dump carries an error; it is never zero. [As] returns a Value as a Go value: a number, a
// string, a time.Time, a slice. An error is one of package target: target.ErrNotInDump, target.ErrCorrupt and
// target.ErrUnsupported are about the dump, and target.ErrNoSuch, target.ErrNull and target.ErrArgument about the call.
//
// Stability: stable.
package objects
