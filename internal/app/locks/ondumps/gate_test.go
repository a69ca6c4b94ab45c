package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestGate: those who have entered a semaphore and wait for a server are known as what must go on first. Who asks again and again before he leaves is not.
func TestGate(t *testing.T) {
	for name, behind := range map[string]int{"answers": 3, "repeats": 0} {
		v := verdictAbout(t, wholeWaits(t, "../../../../testdata/dumps/waits/net9-gate-"+name+"/net9-gate-"+name+".dmp.zst"), "Customs.Tariffs.three")
		assert.Equal(t, answer.FindingPermits, v.Kind, name)
		assert.Regexp(t, `^9 suspended operations wait for .*; Customs\.Tariffs\.Get [0-9a-f]{16} and 2 more likely entered it; the first of them waits for the server's answer from `, v.Text, name)
		assert.Len(t, v.BehindMethods, behind, name)
		assert.Len(t, v.Waiting, 9, name)
	}
}
