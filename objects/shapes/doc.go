// Package shapes reads the fields of managed types by name. It does not interpret what it reads: package collections
// does that for collections. Start at [Bind]; [On] finds objects on the heap, and [Reading] reads them for an answer.
//
//	type list struct {
//		_     shapes.Type `of:"System.Collections.Generic.List<>"`
//		Items shapes.Ref  `field:"_items"`
//		Size  shapes.Int  `field:"_size"`
//	}
//	s, x, err := shapes.BindObject[*list](binder, object) // then s.Size.Int(x)
//
// Stability: stable.
package shapes
