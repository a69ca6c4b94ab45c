// Package interop reads the wrappers that ComWrappers makes: managed objects that native code refers to, and native objects that managed code
// refers to. It reads fields by name; a runtime with other fields is reported as an unknown layout.
//
// Since .NET 10 the wrappers are managed objects on all systems. Before, and for the built-in COM of Windows, the runtime's own structures
// have them, which are not read.
//
// Stability: unstable.
package interop
