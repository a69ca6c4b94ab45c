// Package tasks says what asynchronous code waits for: it reads the tasks of a process and the state machines of its async
// methods, and follows who continues when one of them completes.
package tasks
