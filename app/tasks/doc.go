// Package tasks says what asynchronous code waits for. It finds the tasks of a process and the boxes that the state machines
// of suspended async methods live in, and follows both directions between them: what a method awaits, and who goes on when a
// task completes. Chains of these are the stacks that async code has no thread for.
//
//	r := tasks.New(binder)
//	set, err := r.Collect(ctx, heap, heap.ScanOptions{})
//	for stack, err := range set.Stacks(ctx, tasks.StackOptions{}) { … }
//
// The fields of the framework's types are read by package shapes, by their names, in all versions from .NET Core 3.1 on; what
// of them differs between versions is said where they are declared (shapes.go).
package tasks
