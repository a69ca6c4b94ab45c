// Package ilflow reads how control flows through one method's IL: the ways from one offset to others, the loops around a place, whether these end by
// themselves, what they search for, and whether they do nothing but wait for another thread.
//
// It sees no memory of the process. Start with ReadFlow (flow.go) and Around (loops.go). Opcodes are those of ECMA-335, partition III; forms that compilers
// write, with and without optimization, are named where they are recognised.
package ilflow
