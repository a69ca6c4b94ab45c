// Package memorymap shows what the memory of a process is for: the GC heap and its tables, the runtime's native heaps and code, images and
// files, stacks, malloc, and the rest.
//
// The list of mappings has all memory. Structures of the runtime and of malloc, headers of images and registers of threads claim parts of
// it; where two claim the same memory, the more specific one has it. So each byte has one kind, and the sums are those of the mappings.
//
// Stability: unstable.
package memorymap
