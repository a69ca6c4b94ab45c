package threadpool_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestTimersBeingChanged has queues of timers that contradict themselves. While a thread has the monitor or the lock of the queue, it may be changing them.
func TestTimersBeingChanged(t *testing.T) {
	d := testdump.Open(t, "net10-async")
	sound, err := reader(t, d).Timers(t.Context())
	require.NoError(t, err)
	require.Empty(t, sound.Noted())
	const (
		list = target.Addr(0x7fea85811520) // _longTimers of the queue with the most timers
		next = target.Addr(0x7fea8580ce20) // _next of its first timer but two
	)
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	queue, err := h.ObjectContaining(list)
	require.NoError(t, err)
	r, err := v.Objects()
	require.NoError(t, err)
	q, err := r.Object(queue.Addr)
	require.NoError(t, err)
	lock, err := q.Field("<SharedLock>k__BackingField").Object()
	require.NoError(t, err)
	state := lock.Field("_state").Location()
	word := state &^ 7
	raw, err := target.Uint64(v.Process.Memory(), word)
	require.NoError(t, err)
	taken := testdump.Words(word, raw|1<<(8*(state-word)))
	monitor := testdump.Words(queue.Addr-8, 1<<32) // a thin lock of thread 1 in the header
	for name, damage := range map[string]testdump.Damage{
		"no list": testdump.Words(list, 0), "a shorter list": testdump.Words(next, 0),
	} {
		bad := d.Damaged(t, damage)
		got, err := reader(t, bad).Timers(t.Context())
		require.NoError(t, err, name)
		assert.Less(t, len(got.Timers), len(sound.Timers), name)
		if assert.NotEmpty(t, got.Noted(), name) {
			assert.ErrorIs(t, got.Noted()[0], target.ErrCorrupt, name)
			assert.Contains(t, got.Noted()[0].Error(), "timers, and its lists have", name)
		}
		bad.Close()
		for _, held := range []testdump.Damage{taken, monitor} {
			bad = d.Damaged(t, damage, held)
			got, err = reader(t, bad).Timers(t.Context())
			require.NoError(t, err, name)
			assert.Less(t, len(got.Timers), len(sound.Timers), name)
			assert.Empty(t, got.Noted(), name)
			bad.Close()
		}
	}
}
