// Package stackexport writes stacks in the formats of other tools: folded text for flame graphs, speedscope's
// JSON, and profiles for pprof. A dump is a profile with one sample per thread. The package does not walk
// stacks. Start at Folded, Speedscope and Pprof.
//
// Names in a dump may be hostile: the output is text without control characters, and names cannot contain a
// format's separators.
package stackexport
