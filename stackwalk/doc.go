// Package stackwalk walks the stacks of a runtime's threads. It yields the activations of managed methods, the
// runtime's explicit frames between them and, if wanted, the activations of native code.
//
// A Walker iterates over the Frames of a thread, starting at the leaf. Each has the way it was found (unwind.Trust), and the last one has
// the reason if the walk ended early (Frame.Err). Frame.Method returns a frame's method, Variables its arguments and locals, and
// Walker.Roots the references that the garbage collector sees. Walker.Snapshot is a walk under the contract of the profiling API.
// Walker.Returns lists return addresses without a walk. A StackTree merges the stacks of several threads.
//
// A Describer turns frames into plain answers (answer.Frame). Package threads builds the stacks of threads from them.
//
// docs/stackwalk.md has the rules of the walk, and what it is checked against.
//
// Stability: stable.
package stackwalk
