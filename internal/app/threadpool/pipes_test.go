package threadpool_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestPipe reads a pool with workers that all read a pipe to which nobody writes, by way of a FileStream. The pool adds a worker every half second, which
// takes an item, so items are taken; it is starved all the same.
func TestPipe(t *testing.T) {
	const path = "../../../testdata/dumps/pool/net10-storm/net10-storm.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, _ := testdump.OverlaidFile(t, path, sosgo.Options{Offline: true})
	p, err := reader(t, d).Describe(t.Context(), threadpool.Options{})
	require.NoError(t, err)
	require.Len(t, p.Workers, 8)
	for i := range p.Workers {
		assert.Regexp(t, `^reads or writes a file that is a pipe or a device \(/tmp/dev-.*\)$`, p.Workers[i].Activity.Text)
	}
	require.Less(t, p.Clock.Value-p.Dequeued.Value, int64(1000))
	assert.Equal(t, answer.FindingStarved, p.Verdicts[0].Kind, p.Verdicts[0].Text)
}
