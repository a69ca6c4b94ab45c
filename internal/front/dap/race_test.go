//go:build race

package dap_test

// underRace reports that the race detector runs, which allocates much itself.
const underRace = true
