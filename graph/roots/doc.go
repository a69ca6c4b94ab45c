// Package roots finds what keeps the objects of a GC heap alive from outside of it. It does not follow references: see
// package graph. Start at [Reader.All], which iterates over the roots; Statics iterates over static fields, and
// Dependents over dependent handles. Reader.Describe describes a root in words. It is slower, so call it only for
// displayed roots.
//
//	for root, err := range roots.New(heap, objects, walker, threads).All(ctx, roots.Options{}) {
//		if err != nil { … }              // an unreadable part; the iteration continues
//		mark(root.Object)
//	}
//
// Stability: unstable.
package roots
