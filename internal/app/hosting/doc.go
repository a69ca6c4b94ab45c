// Package hosting reads the objects of a program's host: hosted services with their states, scopes of dependency
// injection with the objects that they will dispose, memory caches with their entries by size and age, and Entity
// Framework Core contexts with their tracked entities. The requests of web hosts are in package web.
//
// It reads fields by name; a library version with other fields is reported as an unknown layout. Start with
// questions.go.
package hosting
