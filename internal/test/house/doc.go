// Package house contains the tests that check the repository against its own rules: imports,
// exported names and their documentation, and the fields of framework types that shapes name.
package house
