// Package synth assembles small dumps for tests: valid ones, and ones with exactly one wrong field.
// It shares no layout constants with the readers, because a test that did would share their
// mistakes.
package synth
