// Package contexts lists the AssemblyLoadContexts of a process with their assemblies, and what keeps those alive that were asked to unload:
// paths from roots to their LoaderAllocators, and threads that run their code.
//
// Stability: unstable.
package contexts
