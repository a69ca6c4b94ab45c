// Package contexts lists the AssemblyLoadContexts of a process with their assemblies. For unloading contexts it finds
// what keeps them alive: paths from roots to their LoaderAllocators, and threads that run their code. Plain lists of
// assemblies are in package modules. Start with LoadContexts.
package contexts
