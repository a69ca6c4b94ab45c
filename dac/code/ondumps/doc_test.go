// Package ondumps has the tests of package code that open whole dumps, as those of dac/ondumps do.
package ondumps_test
