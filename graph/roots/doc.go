// Package roots finds what keeps the objects of a GC heap alive from outside of it.
//
// A Reader combines packages heap, stackwalk and dac. All iterates over the roots, Statics over the static fields of all
// types with the slots of their values, and Dependents over the pairs of dependent handles. A Root is a plain value that
// costs nothing to make. Reader.Describe describes it in words (thread, frame, variable; kind and owner of a handle), and
// should be called for displayed roots only.
//
//	r := roots.New(roots.Process{…})         // or sosgo's View.RootReader
//	for root, err := range r.All(ctx, roots.Options{}) {
//		if err != nil { … }              // an unreadable part; the iteration continues
//		mark(root.Object)
//	}
//
// # Kinds of roots
//
// The roots are those of the collector's mark phase (gcenv.ee.cpp, GCScanRoots; gc.cpp, mark_phase):
//
//	KindHandle         a handle that keeps its object alive: strong, pinned, sized, async-pinned,
//	                   reference-counted and variable ones. Options.Weak adds the others.
//	KindFinalizer      an object that waits for its finalizer to run
//	KindStack          a register or a word of a stack that holds a reference, according to its frame
//	KindThreadStatics  the object[] that contains a thread's thread statics (.NET 9 and later;
//	                   before, handles hold them)
//
// Static fields are not roots. Handles hold the object[]s that contain their values, and KindThreadStatics or handles hold
// those of thread statics. Statics returns each slot and the object that contains it (Static.Table), so that a path can
// show the field instead of the array. A sync block refers to its object weakly and is not a root. Objects of frozen
// segments are never collected, whatever refers to them.
//
// Roots of stacks are exact, as the compiler recorded them. Explicit frames hold references for the runtime's own code, and the arguments
// of calls that a stub has not passed on yet. Unreadable GC info of a frame is an error. The words of the frame that look like references
// are then roots with Conservative set. The same applies to all stacks of a process whose environment makes its collector conservative.
//
// Two kinds of edges are in no object and are not roots. Those of Dependents count once their primary object is reached.
// Those from an object of a collectible type to its LoaderAllocator are added by heap.EdgeOptions.
//
// Stability: unstable.
package roots
