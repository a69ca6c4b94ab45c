// Package flows finds the code that holds an object: through the values that flow with a thread or a suspended async method (the
// AsyncLocals of its ExecutionContext), and through the variables of async methods. It also describes what a thread does.
//
// The package does not interpret the objects. Its callers decide which objects matter, and get the stacks and threads that hold them.
//
// Stability: unstable.
package flows
