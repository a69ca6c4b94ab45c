// Package hosting reads what a program's host keeps: the scopes of dependency injection with the objects that they will dispose, memory
// caches with their entries by size and age, and contexts of Entity Framework Core with the entities that they track. It reads fields by
// name; a library version with other fields is reported as an unknown layout.
//
// Stability: unstable.
package hosting
