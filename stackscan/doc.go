// Package stackscan finds the objects that the stacks and registers of a dumped process may refer to. It reads every
// aligned word and every register, and reports those that hold the address of an object. It does not walk stacks, as
// package stackwalk does, and needs neither code nor unwind information. Start at [New] and [Scanner.Scan].
//
// The result is an upper bound: a word may remain from an earlier call, or be a number that equals an address. The
// objects are real: a heap walk from a known start reaches each of them. If the heap around an address is not in the
// dump, the object is reported as unproven. The order is fixed: registers, then words by address.
//
// Stability: stable.
package stackscan
