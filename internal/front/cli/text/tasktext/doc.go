// Package tasktext writes answers about what the program waits for as text: tasks and async methods, the thread pool, timers, locks. SOS
// has some of these questions, and its form is written to the character where it does. It gets answers and can read nothing.
package tasktext
