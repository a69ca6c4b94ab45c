package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestGate: three calls of a server are no wait that lasts for those who wait behind them, as far as is known. They are if who has entered asks again and again before he
// leaves.
func TestGate(t *testing.T) {
	answers := wholeWaits(t, "../../../../testdata/dumps/waits/net9-gate-answers/net9-gate-answers.dmp.zst")
	for i := range answers.Verdicts {
		assert.Equal(t, answer.FindingEntryPoint, answers.Verdicts[i].Kind, answers.Verdicts[i].Text)
	}
	v := verdictAbout(t, wholeWaits(t, "../../../../testdata/dumps/waits/net9-gate-repeats/net9-gate-repeats.dmp.zst"), "Customs.Tariffs.three")
	assert.Equal(t, answer.FindingPermits, v.Kind)
	assert.Empty(t, v.Severity)
	assert.Regexp(t, `^9 suspended operations wait for .*; Customs\.Tariffs\.Get [0-9a-f]{16} and 2 more likely entered it; the first of them waits for the server's answer from `, v.Text)
	assert.Empty(t, v.BehindMethods)
	assert.Len(t, v.Waiting, 9)
}
