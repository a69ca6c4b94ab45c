// Package ondumps has the tests of package locks that open whole dumps, as those of dac/ondumps do.
package ondumps_test
