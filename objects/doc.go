// Package objects turns objects of a dumped process into values: fields with type, offset and value, array elements,
// strings, statics and names of enum values.
//
//	r := objects.New(rt)
//	o, err := r.Object(addr)
//	name, err := o.Field("_name").Text(100)
//
// A Value that is not in the dump carries an error; it is never zero. A Reader caches types and is safe for concurrent use.
//
// Stability: stable.
package objects
