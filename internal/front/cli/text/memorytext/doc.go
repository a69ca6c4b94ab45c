// Package memorytext writes answers about what holds memory as text: what fills the heap, what keeps it, what it is wasted on. SOS has some
// of these questions, and its form is written to the character where it does. It gets answers and can read nothing.
package memorytext
