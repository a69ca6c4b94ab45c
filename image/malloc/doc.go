// Package malloc reads the native heaps of a process: the arenas of glibc's malloc, chunk by chunk.
//
// The main arena lies behind the program break, those of threads in heaps of up to 64 MB. What malloc_state, heap_info and the other
// structures look like depends on glibc's version (glibc.json). The process proves a form before it is believed: empty bins refer to
// themselves, full ones to chunks that refer back, arenas form a ring, and heaps name their arenas.
//
// Other allocators (musl, jemalloc, tcmalloc, mimalloc) are not read.
//
// Stability: unstable.
package malloc
