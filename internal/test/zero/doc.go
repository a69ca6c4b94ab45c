// Package zero contains the test that calls the methods of zero values that callers get.
package zero
