// Package memorytext writes answers about what holds memory as text: what fills the heap, what keeps it alive, and
// what wastes it. For commands that SOS has, it also writes SOS's form, to the character. It receives answers and
// cannot read a dump.
package memorytext
