// Package tasktext writes answers about what the program waits for as text: tasks and async methods, the thread pool,
// timers, locks. For commands that SOS has, it also writes SOS's form, to the character. It receives answers and
// cannot read a dump.
package tasktext
