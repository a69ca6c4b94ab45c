// Package stackwalk walks the stacks of a runtime's threads: the activations of
// managed methods, the runtime's explicit frames between them and, where they are
// wanted, the activations of native code.
//
// A Walker iterates over the Frames of a thread, from the leaf on. Each says how
// it was found (unwind.Trust), and the last one why the walk ended early
// (Frame.Err). Of a frame, Frame.Method tells the method, Variables the arguments
// and locals, and Walker.Roots the references that the garbage collector sees.
// Walker.Snapshot is a walk under the contract of the profiling API, Walker.Returns
// lists return addresses without a walk, and a StackTree merges the stacks of
// several threads.
//
// A Describer says what frames are as plain answers (answer.Frame): package threads
// makes the stacks of threads of them.
//
// docs/stackwalk.md has the rules of the walk and what it is checked against.
package stackwalk
