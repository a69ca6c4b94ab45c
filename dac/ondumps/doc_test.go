// Package ondumps has the tests of package dac that open whole dumps, by the root package or internal/test/testdump, which import
// dac. Beside the tests within dac they would have Go compile all that lies between the two once more (CONTRIBUTING.md).
package ondumps_test
