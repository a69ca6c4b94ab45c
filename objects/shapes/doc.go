// Package shapes reads the fields of managed types by their names: what a class library or a program keeps in which field.
//
// A shape is a Go struct whose fields say by tags which fields of a managed type they are for:
//
//	type list struct {
//		_     shapes.Type `of:"System.Collections.Generic.List<>"`
//		Items shapes.Ref  `field:"_items"`
//		Size  shapes.Int  `field:"_size"`
//	}
//
//	s, err := shapes.Bind[list](binder, object.Type)
//	n, err := s.Size.Int(shapes.Of(object))
//
// A name stands for the field of the type or, if that has none, of its bases; "<X>" is the field behind the automatic
// property X; "a.b" is field b of the value type that field a holds; "a|b" is the first of both that there is; ",optional"
// allows that there is none. A field has to be of the kind that the shape wants: a reference, an integer, a value type.
// Where a version of the library differs more than that, a struct of pointers to shapes is the first of them that fits:
//
//	type set struct {
//		_     shapes.Type `of:"System.Collections.Generic.HashSet<>"`
//		New   *newSet
//		Old   *oldSet
//	}
//
// A type is bound once and kept by the Binder; to find it again takes no lock, and reading allocates nothing. A type that does
// not fit is an *UnknownLayoutError, and never read by a guess. Which assembly defines a type does not count: the types of
// the class libraries move between assemblies, and a package may bring them for an older runtime. A type of the same name
// that is something else does not fit.
//
// What can't be read is one of the three errors of package target; names that the dump lacks are target.ErrNotInDump and no
// unknown layout.
package shapes
