// Package settings reads how a process was configured: the properties and switches of AppContext, the settings of the garbage collector
// with the figures of collections that the program asked for, and the configuration of the host with the provider of each key. It reads
// fields by name; a library version with other fields is reported as an unknown layout.
//
// Stability: unstable.
package settings
