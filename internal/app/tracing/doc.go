// Package tracing reads the event sources of a process and their listeners: EventListeners of the program, sessions of
// EventPipe (dotnet-trace, dotnet-counters and others), and ETW. It does not read the events themselves. It reads
// fields by name; a runtime with other fields is reported as an unknown layout. Start with EventSources.
package tracing
