// Package text has what the renderers of several groups share. A renderer gets
// an answer and a page, and can read nothing: see the test of import
// directions in the module's root.
package text

import "github.com/sosgo/sosgo/internal/report"

// Count returns a number of things, with its noun: "1 object", "12,400 objects".
func Count(n uint64, one, many string) string { return report.Commas(n) + " " + Noun(n, one, many) }

// Noun returns the noun of n things.
func Noun(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
