// Package ondumps contains the tests of package code that open whole dumps; see package dac/ondumps.
package ondumps_test
