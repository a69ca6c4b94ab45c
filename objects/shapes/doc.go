// Package shapes reads the fields of managed types by name.
//
// A shape is a Go struct, and functions have a pointer to it as their type parameter S. Tags on its fields name the fields of a managed type:
//
//	type list struct {
//		_     shapes.Type `of:"System.Collections.Generic.List<>"`
//		Items shapes.Ref  `field:"_items"`
//		Size  shapes.Int  `field:"_size"`
//	}
//
//	s, err := shapes.Bind[*list](binder, object.Type)
//	n, err := s.Size.Int(shapes.Of(object))
//
// A name is searched in the type and then in its bases. "<X>" is the backing field of the automatic property X. "a.b"
// is field b of the value type in field a. "a|b" is the first of the two that exists. "a@" is a field of F# whose name
// is that and a number. ",optional" permits that the field is missing. A field must be of the kind that the shape needs: a reference, an integer, a value type. For
// versions that differ more, a struct of pointers to shapes takes the first one that fits:
//
//	type set struct {
//		_     shapes.Type `of:"System.Collections.Generic.HashSet<>"`
//		New   *newSet
//		Old   *oldSet
//	}
//
// A Binder binds a type once. Later lookups take no lock, and reading allocates nothing. A type that does not fit is an
// *UnknownLayoutError; the package does not guess. The assembly that defines a type does not matter: class libraries move types between
// assemblies, and packages bring them to older runtimes. An unrelated type with the same name does not fit.
//
// Errors of reading are the three errors of package target. A name that is not in the dump is target.ErrNotInDump, not an unknown layout.
//
// Stability: stable.
package shapes
