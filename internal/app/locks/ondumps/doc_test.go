// Package ondumps tests package locks on whole dumps.
package ondumps_test
