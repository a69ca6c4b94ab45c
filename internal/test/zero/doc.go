// Package zero contains the test that calls everything exported with zero values.
package zero
