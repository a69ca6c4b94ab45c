package cli

import "strings"

// Suggest returns the candidate that the user most likely meant by what was typed;
// it is empty where none is near.
func Suggest(typed string, candidates []string) string { return suggest(typed, candidates) }

// suggest returns the candidate that the user most likely meant: one that starts with typed, or is at
// most two edits away and keeps more than half of typed. Ties go to the first candidate.
func suggest(typed string, candidates []string) string {
	typed = strings.ToLower(typed)
	best, bestDist := "", 3
	for _, c := range candidates {
		lower := strings.ToLower(c)
		d := editDistance(typed, lower)
		if len(typed) >= 3 && strings.HasPrefix(lower, typed) {
			d = min(d, 1)
		}
		if d < bestDist && 2*d <= len(typed) {
			best, bestDist = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours that lead from a to b. Long words are not worth the time.
func editDistance(a, b string) int {
	const longest = 40
	if len(a) > longest || len(b) > longest {
		return longest
	}
	var rows [3][longest + 1]int
	prev2, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
