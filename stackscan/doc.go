// Package stackscan finds the objects that the stacks and registers of a dumped
// process may refer to, without walking the stacks (package stackwalk does).
//
// A Scanner looks at every aligned word of a stack, and at every register, and
// reports those that hold the address of an object. It needs neither code nor
// unwind information, so it works on any thread, also on one whose stack is
// damaged. What it reports is an upper bound of what the thread holds on to: a
// word may be the remains of an earlier call, or a number that looks like an
// address.
//
// What it does not report is wrong objects. An address counts as one if a walk
// of the heap, from a known start, finds an object there: an
// address inside an object, a swept object or an old string in a free block is
// left out. Where the dump lacks the heap around an address no walk can tell;
// there an address is reported as unproven if what it points to has a proven
// MethodTable, because in a partial dump that is all there is.
//
// The order is fixed: registers in the processor's order, then words by
// address. A stretch of the stack that the dump lacks is an error in the
// sequence, and the scan goes on behind it.
package stackscan
