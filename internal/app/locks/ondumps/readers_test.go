package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestReaders: a client that reads nothing lets the flush of its response wait, which Kestrel has a promise of its own for. Who takes turns to write to this client waits for it, and
// for nothing of the process. The eight senders of one request are not all requests of a busy server.
func TestReaders(t *testing.T) {
	w := wholeWaits(t, "../../../../testdata/dumps/waits/net9-readers/net9-readers.dmp.zst")
	for i := range w.Verdicts {
		assert.Equal(t, answer.NoFinding, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	writes, holders := 0, 0
	for i := range w.Operations {
		o := &w.Operations[i]
		if o.Request != "GET /feed" {
			continue
		}
		if o.Kind == answer.WaitStream {
			writes += o.Count
		}
		for k := range o.Holders {
			assert.Equal(t, "room in a pipe", o.Holders[k].Waits)
			holders++
		}
	}
	assert.Equal(t, 1, writes)
	assert.Equal(t, 1, holders)
}
