//go:build !race

package dap_test

const underRace = false
