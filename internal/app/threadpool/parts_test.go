package threadpool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/threadpool/internal/parts"
	"github.com/sosgo/sosgo/internal/threads"
)

// TestNoWorker checks that the gate, the timers and threads that wait for registered handles are not workers.
func TestNoWorker(t *testing.T) {
	assert.True(t, parts.NoWorker("System.Threading.PortableThreadPool+WaitThread", threads.ActivityEvent))
	assert.True(t, parts.NoWorker("System.Threading.TimerQueue", threads.ActivityIdle))
	assert.False(t, parts.NoWorker("System.Threading.PortableThreadPool+WorkerThread", threads.ActivityIdle))
	assert.False(t, parts.NoWorker("System.Threading.Monitor", threads.ActivityLock))
}

// TestLongQueue checks that items beyond the limit are counted but not listed.
func TestLongQueue(t *testing.T) {
	list := parts.Lister{Most: 2}
	var queue answer.WorkQueue
	var out answer.Gaps
	read := 0
	add := func() { list.Add(&queue, &out, read, func() (item answer.WorkItem) { read++; return item }) }
	add()
	add()
	assert.Len(t, queue.Items, 2)
	assert.Empty(t, out.Noted())
	add()
	add()
	assert.EqualValues(t, 4, queue.Count)
	assert.Len(t, queue.Items, 2)
	assert.Equal(t, 2, read, "what is not listed is not read")
	assert.Len(t, out.Noted(), 1)
}
