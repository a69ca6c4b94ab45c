// Package apptext writes answers about what the application was doing as text: web requests, connection pools. For
// commands that SOS has, it also writes SOS's form, to the character. It receives answers and cannot read a dump.
package apptext
