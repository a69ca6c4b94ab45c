package threadpool

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

// TestNoWorker: a thread that waits for registered handles, the gate and the timers are no workers.
func TestNoWorker(t *testing.T) {
	assert.True(t, noWorker("System.Threading.PortableThreadPool+WaitThread", threads.ActivityEvent))
	assert.True(t, noWorker("System.Threading.TimerQueue", threads.ActivityIdle))
	assert.False(t, noWorker("System.Threading.PortableThreadPool+WorkerThread", threads.ActivityIdle))
	assert.False(t, noWorker("System.Threading.Monitor", threads.ActivityLock))
}

// TestLongQueue: items beyond the limit are not listed, but their number is known.
func TestLongQueue(t *testing.T) {
	q := &queueReader{ctx: t.Context(), out: &answer.WorkQueues{}, items: limits.WorkItems}
	var queue answer.WorkQueue
	assert.True(t, q.add(&queue, 0x1000, 0))
	assert.True(t, q.add(&queue, 0x1000, 1))
	assert.EqualValues(t, 2, queue.Count)
	assert.Empty(t, queue.Items)
	assert.NoError(t, q.out.Lost)
	assert.Len(t, q.out.Noted(), 1)
}
