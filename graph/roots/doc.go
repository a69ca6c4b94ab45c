// Package roots tells what keeps the objects of a GC heap alive from outside of it.
//
// A Reader joins what heap, stackwalk and dac know: All iterates over the roots,
// Statics over the static fields of all types with the slots that hold their
// values, Dependents over the pairs of dependent handles. A Root is a plain value
// that costs nothing to make; Reader.Describe says in words what it is (thread,
// frame, variable; kind of handle and who in the runtime holds it), and is asked
// of those that are shown.
//
//	r := roots.New(roots.Process{…})         // or sosgo's View.RootReader
//	for root, err := range r.All(ctx, roots.Options{}) {
//		if err != nil { … }              // what can't be read; the rest goes on
//		mark(root.Object)
//	}
//
// # What is a root
//
// The roots are those of the collector's mark phase (gcenv.ee.cpp, GCScanRoots;
// gc.cpp, mark_phase):
//
//	KindHandle         a handle that keeps its object alive: strong, pinned, sized, async-pinned,
//	                   reference-counted and variable ones. Options.Weak adds those that do not.
//	KindFinalizer      an object that waits for its finalizer to run
//	KindStack          a register or a word of a stack that a frame says holds a reference
//	KindThreadStatics  the object[] in which a thread has its thread statics (.NET 9 and later;
//	                   before, handles have them)
//
// Static fields have no roots of their own: their values lie in object[]s that
// handles hold, thread statics' in what KindThreadStatics or handles hold. Statics
// names each slot and the object that contains it (Static.Table), so that who shows
// a path can show the field in place of the array. A sync block refers to its object
// weakly, and no root is one. Objects of frozen segments are never collected,
// whatever refers to them.
//
// Roots of stacks are exact, as the compilers tell them; explicit frames tell what they
// hold for the runtime's own code, and the arguments of calls that a stub has not
// passed on yet. Where the GC info of a frame can't be read, that is an error, and the words of
// the frame that look like references are roots that are marked Conservative. So
// are all stacks of a process whose environment makes its collector conservative.
//
// Two pairs of edges are in no object and are no roots either: those of Dependents,
// which count once their primary object is reached, and those from an object of a
// collectible type to its LoaderAllocator, which heap.EdgeOptions adds.
package roots
