// Package zero has the test that calls everything that importers see with zero values.
package zero
