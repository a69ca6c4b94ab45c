// Package malloc reads the arenas of glibc's malloc in a process, chunk by chunk. It does not read
// other allocators (musl, jemalloc, tcmalloc, mimalloc). Start reading at Open and Allocator.
//
// The main arena is at the program break; threads' arenas are in heaps of up to 64 MB. The layout
// of malloc_state, heap_info and other structures depends on glibc's version (glibc.json). Data of
// the process must prove a layout: empty bins refer to themselves, other bins to chunks that refer
// back, arenas form a ring, and heaps refer to their arenas.
package malloc
