// Package stackwalk walks the stacks of a runtime's threads. It yields the activations of managed methods, the
// runtime's explicit frames between them and, optionally, native activations. It does not find threads or say what they
// wait for: see package threads. Start at [Walker.Walk]; [Variables] and [Walker.Roots] read what a frame holds.
//
// Each Frame records how it was found (unwind.Trust). The last one records why the walk ended early (Frame.Err). A
// Describer turns frames into answers. docs/stackwalk.md has the rules of the walk, and what it is checked against.
//
// Stability: stable.
package stackwalk
