// Package ondumps contains the tests of package dac that open whole dumps through packages that import dac. In
// package dac they would make Go compile everything between the two once more (CONTRIBUTING.md).
package ondumps_test
