package processtext

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// TestModeOfGC: a heap that was not made yet is one thing, one that can't be read
// another.
func TestModeOfGC(t *testing.T) {
	mode := func(why error) string {
		var b bytes.Buffer
		p := report.NewPage(&b, false, func(error) {}, func() error { return nil })
		EEVersion(p, &answer.EEVersion{Version: "10.0.0", NoGC: answer.Reason{Err: why}})
		assert.NoError(t, p.Err())
		return b.String()
	}
	assert.Equal(t, "10.0.0\nGC Heap not initialized, so GC mode is not determined yet.\n", mode(answer.ErrNoHeapYet))
	assert.Equal(t, "10.0.0\nGC mode <not in dump>\n", mode(target.ErrNotInDump))
	assert.ErrorIs(t, answer.ErrNoHeapYet, target.ErrUnsupported)
}
