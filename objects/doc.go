// Package objects turns objects of a dumped process into values: every field
// of every object with its type, offset and value, elements of arrays, text of
// strings, statics, names of enum values.
//
//	r := objects.New(rt)
//	o, err := r.Object(addr)
//	name, err := o.Field("_name").Text(100)
//
// What the dump lacks is an error of the Value and never a zero. A Reader is
// safe for concurrent use; what it learns of types it keeps.
package objects
