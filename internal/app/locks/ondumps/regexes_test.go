package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestRegexes checks the threads that match with regular expressions against the program's source, Patterns.cs: those with a time limit, or with a
// pattern that takes linear time, are no finding.
func TestRegexes(t *testing.T) {
	got := waitsOf(t, "../../../../testdata/dumps/waits/net9-patterns/net9-patterns.dmp.zst")
	v := verdictAbout(t, got, "Checks.Mail")
	assert.Equal(t, answer.FindingSpin, v.Kind)
	assert.Equal(t, answer.StrengthPossible, v.Strength)
	assert.Equal(t, 2, v.Count)
	assert.Contains(t, v.Text, `2 threads, the first 7 "mail 1", match with the regular expression ^([a-z]+)+@[a-z]+$ in Clerk.Checks.Mail`)
	assert.Equal(t, "the text has 41 characters, and the expression no time limit (matchTimeout)", v.Evidence[0])
	assert.Contains(t, verdictAbout(t, got, "Clerk.Checks.Names").Text, `thread 9 "names" matches with the regular expression ^(\w+\s?)+$ in Clerk.Checks.Names`, "its code was made at run time")
	for i := range got.Verdicts {
		assert.False(t, strings.Contains(got.Verdicts[i].Text, "Limited") || strings.Contains(got.Verdicts[i].Text, "Linear"), got.Verdicts[i].Text)
	}
}
