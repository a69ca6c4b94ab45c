package memorytext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestNoReferrer checks that an object without a referrer is said to have none only if all objects were read.
func TestNoReferrer(t *testing.T) {
	for verdict, want := range map[answer.Reachability]string{
		answer.Garbage:  "No object references it.",
		answer.NotKnown: "No object that could be read references it.",
	} {
		var b strings.Builder
		p := report.NewPage(&b, false, nil)
		notHeld(p, &answer.RootPaths{Verdict: verdict, Evidence: &answer.NotHeld{Roots: 1, Live: 2, Objects: 3}})
		require.NoError(t, p.Err())
		assert.Contains(t, b.String(), "\n"+want+"\n")
	}
}
