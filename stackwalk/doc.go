// Package stackwalk walks the stacks of a runtime's threads. It yields the activations of managed methods, the
// runtime's explicit frames between them and, optionally, native activations. Start at [Threads], which
// joins the operating system's threads with the runtime's, and [Walker.Walk]; [Variables] and [Walker.Roots] read what a
// frame holds.
//
// Each Frame records how it was found ([Trust]). The last one records why the walk ended early (Frame.Err).
// docs/stackwalk.md has the rules of the walk, and what it is checked against.
//
// Stability: stable.
package stackwalk
