// Package house has the tests that hold the repository to its own rules: who imports whom, what is exported and documented, and
// which fields of framework types the shapes ask for.
package house
