// Package stackexport writes stacks in the forms that other tools read: folded text for flame graphs, speedscope's
// JSON, and profiles of pprof. A dump is a profile with one sample a thread.
//
// The names in a dump are not to be trusted; what is written is text without
// control characters, in which the separators of a form mean nothing else.
//
// Stability: unstable.
package stackexport
