//go:build race

package dap_test

// underRace reports whether the race detector is on. The detector itself allocates much memory.
const underRace = true
