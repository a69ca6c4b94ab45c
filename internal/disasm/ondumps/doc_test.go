// Package ondumps has the tests of package disasm that open whole dumps, in a folder of their own like dac/ondumps.
package ondumps_test
