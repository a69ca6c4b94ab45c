// Package settings reads how a process was configured: the properties and switches of AppContext, the GC's settings
// with the figures of collections that the program has read, and the configuration of the host with the provider of
// each key. Package secrets decides which values are hidden.
//
// It reads fields by name; a library version with other fields is reported as an unknown layout. Start with Process
// (questions.go).
package settings
