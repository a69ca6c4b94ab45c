// Package tracing reads who listens to the events of a process: the EventSources, the EventListeners of the program, the sessions of EventPipe
// (dotnet-trace, dotnet-counters and the like), and ETW. It reads fields by name; a runtime with other fields is reported as an unknown layout.
//
// Stability: unstable.
package tracing
