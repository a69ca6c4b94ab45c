// Package hosting tells what the host of a program keeps for it: the scopes of dependency injection, with what they will dispose,
// memory caches, with their entries by size and age, and contexts of Entity Framework Core, with the entities that they track. All
// is read by the names of fields; a version of a library with other fields is an unknown layout.
package hosting
