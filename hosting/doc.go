// Package hosting tells what the host of a program keeps for it: the scopes of dependency injection, with what they will dispose,
// and memory caches, with their entries by size and age. All is read by the names of fields of Microsoft.Extensions; a version
// with other fields is an unknown layout.
package hosting
