// Package codeinfo decodes what the compilers record beside code: which registers and stack slots hold references at an
// instruction (GC info), where variables live (debug information) and what the exception clauses cover.
//
// It handles encodings only. Where the blobs of a method lie, and which version of an encoding they have, is the business of package
// dac/code. All decoders take bytes that may be garbage: they end after work that the bytes bound, and answer with [target.ErrCorrupt].
//
// The encodings of AMD64 and ARM64 are known.
//
// Stability: unstable.
package codeinfo
