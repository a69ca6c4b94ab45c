package threadpool_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
)

// TestWindowsPool reads the Windows pool: three workers block, seven items wait. The runtime does not mark its workers.
func TestWindowsPool(t *testing.T) {
	const path = "../../../testdata/dumps/pool/net10-winpool/net10-winpool.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, _ := testdump.OverlaidFile(t, path, sosgo.Options{Offline: true})
	p, err := reader(t, d).Describe(t.Context(), threadpool.Options{Items: true})
	require.NoError(t, err)
	assert.Empty(t, p.Noted())
	assert.Equal(t, answer.PoolWindows, p.Kind)
	assert.Equal(t, answer.Known[int64](3), p.Total)
	assert.Equal(t, answer.Known[int64](3), p.Running)
	assert.Equal(t, answer.Known[int64](768), p.Max)
	assert.Error(t, p.Goal.Err())
	assert.Equal(t, answer.Known[uint64](7), p.Queued)
	require.Len(t, p.Workers, 3)
	for i := range p.Workers {
		assert.True(t, p.Workers[i].Waits)
	}
	assert.Contains(t, p.Verdicts[0].Text, "starved")

	v, err := d.View("")
	require.NoError(t, err)
	all, err := stacks.ManagedThreads(t.Context(), v.Process, stacks.ManagedOptions{})
	require.NoError(t, err)
	marked := 0
	for i := range all.Threads {
		for _, s := range all.Threads[i].Special {
			if s == threads.PurposeWorker {
				marked++
			}
		}
	}
	assert.Equal(t, 3, marked)
}
