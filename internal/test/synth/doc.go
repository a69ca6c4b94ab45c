// Package synth assembles small dumps for tests: honest ones, and ones that
// lie in exactly one place. It shares no layout constants with the readers.
package synth
