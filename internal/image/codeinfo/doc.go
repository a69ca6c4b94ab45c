// Package codeinfo decodes the tables that compilers emit for code: which registers and stack slots
// hold references at an instruction (GC info), where variables are (debug information), and what
// exception clauses cover. It handles only encodings, for AMD64 and ARM64. Package dac/code finds a
// method's tables and their versions. Start reading at GCDecoder, DebugInfo and ReadEHClauses.
//
// All decoders accept arbitrary bytes: their work is bounded by the input, and they fail with
// [target.ErrCorrupt].
package codeinfo
