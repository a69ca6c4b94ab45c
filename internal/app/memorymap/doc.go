// Package memorymap shows the purpose of a process's memory: the GC heap and its tables, the runtime's native heaps and
// code, images and files, stacks, malloc, and the rest. It does not list objects; see package memory.
//
// The list of mappings covers all memory. Structures of the runtime and of malloc, image headers and thread registers
// claim parts of it; the more specific of two claims wins. So each byte has one kind, and the sums match the mappings.
//
// Start with Memory (questions.go) and Map (memorymap.go).
package memorymap
