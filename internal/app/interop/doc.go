// Package interop reads the wrappers of ComWrappers: managed objects that native code refers to, and native objects
// that managed code refers to. It reads fields by name; a runtime with other fields is reported as an unknown layout.
// Start with ComWrappers.
//
// Since .NET 10 the wrappers are managed objects on all systems. It does not read the runtime's own structures, which
// hold them in earlier versions and for the built-in COM of Windows.
package interop
