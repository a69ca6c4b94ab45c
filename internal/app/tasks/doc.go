// Package tasks reads the state of asynchronous code. It finds the tasks of a process and the boxes that hold the state
// machines of suspended async methods. It links them in both directions: what a method awaits, and what continues when
// a task completes. Such chains are the stacks of code without a thread. Package locks interprets the chains.
//
//	r := tasks.New(binder)
//	set, err := r.Collect(ctx, heap, heap.ScanOptions{})
//	for stack, err := range set.Stacks(ctx, tasks.StackOptions{}) { … }
//
// Differences between versions, from .NET Core 3.1 on, are noted in shapes.go.
package tasks
