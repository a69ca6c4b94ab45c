// Package stackscan finds the objects that the stacks and registers of a dumped process may refer to. Unlike package
// stackwalk it does not walk the stacks.
//
// A Scanner reads every aligned word of a stack and every register, and reports those that hold the address of an object. It needs neither
// code nor unwind information, so it works on any thread, even with a damaged stack. Its result is an upper bound of what the thread refers
// to: a word may remain from an earlier call, or may be a number that equals an address.
//
// The reported objects are real. An address counts if a heap walk from a known start reaches an object there. Addresses
// inside objects, of swept objects and of old strings in free blocks do not count. If the dump lacks the heap around an
// address, no walk can decide. The address is then reported as unproven if its first word is a proven MethodTable.
//
// The order is fixed: registers in the processor's order, then words by address. A part of a stack that is not in the
// dump is an error in the sequence, and the scan continues after it.
//
// Stability: stable.
package stackscan
