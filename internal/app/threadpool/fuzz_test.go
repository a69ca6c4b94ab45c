package threadpool_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// objectsOf returns the addresses of objects with one of the words in their type's name.
func objectsOf(t testing.TB, name string, words ...string) []target.Addr {
	v, err := testdump.Open(t, name).View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	var out []target.Addr
	for _, w := range words {
		for o, err := range h.Walk(context.Background(), &heap.Filter{Type: h.TypeContains(w)}) {
			require.NoError(t, err)
			out = append(out, o.Addr)
		}
	}
	require.NotEmpty(t, out)
	return out
}

// askAll reads everything of a pool and checks that each failure has one of the three kinds of errors.
func askAll(t *testing.T, r *threadpool.Reader) {
	ctx := context.Background()
	p, err := r.Describe(ctx, threadpool.Options{Items: true, Log: true})
	require.NoError(t, err)
	timers, err := r.Timers(ctx)
	require.NoError(t, err)
	for _, err := range append(p.Noted(), timers.Noted()...) {
		assert.True(t, testdump.Typed(err), "%v", err)
	}
}

// FuzzPool overwrites a word of an object of the pool.
func FuzzPool(f *testing.F) {
	const name = "net10-stacks"
	at := objectsOf(f, name, "ThreadPool", "ConcurrentQueue", "WorkStealing", "Timer")
	d, over := testdump.OpenOverlaid(f, name)
	r := reader(f, d)
	for i := range min(len(at), 20) {
		f.Add(uint16(i), uint8(1), uint64(at[i]))
		f.Add(uint16(i), uint8(2), uint64(1)<<31)
		f.Add(uint16(i), uint8(3), ^uint64(0))
	}
	f.Fuzz(func(t *testing.T, n uint16, word uint8, v uint64) {
		over.Set(testdump.Words(at[int(n)%len(at)]+8*target.Addr(word%32), v))
		askAll(t, r)
	})
}

// TestTimerRing checks that a timer that is its own successor ends the list and is reported.
func TestTimerRing(t *testing.T) {
	const name = "net10-zoo"
	timer := objectsOf(t, name, "System.Threading.TimerQueueTimer")[0]
	d, over := testdump.OpenOverlaid(t, name)
	r := reader(t, d)
	for offset := target.Addr(8); offset < 0x40; offset += 8 { // one of them is _next
		over.Set(testdump.Words(timer+offset, uint64(timer)))
		askAll(t, r)
		got, err := r.Timers(context.Background())
		require.NoError(t, err)
		if got.Lost != nil && len(got.Timers) > 0 {
			assert.ErrorIs(t, got.Lost, target.ErrCorrupt)
			return
		}
	}
	t.Error("no word of a timer is its successor")
}

// TestLyingQueue checks that impossible indexes of a worker's queue are corrupt and end the list.
func TestLyingQueue(t *testing.T) {
	const name = "net10-stacks"
	d, over := testdump.OpenOverlaid(t, name)
	r := reader(t, d)
	lied := 0
	for _, queue := range objectsOf(t, name, "ThreadPoolWorkQueue+WorkStealingQueue") {
		for offset := target.Addr(8); offset < 0x30; offset += 4 {
			over.Set(testdump.Damage{At: queue + offset, Bytes: []byte{0, 0, 0, 0x70}})
			q, err := r.Queues(context.Background())
			require.NoError(t, err)
			if q.Lost != nil {
				lied++
				assert.True(t, testdump.Typed(q.Lost), "%v", q.Lost)
			}
		}
	}
	assert.NotZero(t, lied)
}

// TestMissingParts reads a web server's pool and timers repeatedly, each time without one piece of memory.
func TestMissingParts(t *testing.T) {
	testdump.OpenWeb(t, "web-net10").Sweep(t, 1e6, false, func(v *sosgo.View) (any, []error, error) {
		p, err := threadpool.Pool(t.Context(), v.Process, threadpool.Options{Items: true, Log: true}, nil, nil)
		if err != nil {
			return nil, nil, err
		}
		timers, err := threadpool.Timers(t.Context(), v.Process)
		return []any{p, p.Queues, timers}, append(p.Noted(), timers.Noted()...), err
	})
}

// TestMissingTypes reads a pool and the timers repeatedly, each time without one piece of memory, including types.
func TestMissingTypes(t *testing.T) {
	ask := func(v *sosgo.View) (any, []error, error) {
		p, err := threadpool.Pool(t.Context(), v.Process, threadpool.Options{Items: true, Log: true}, nil, nil)
		if err != nil {
			return nil, nil, err
		}
		timers, err := threadpool.Timers(t.Context(), v.Process)
		return []any{p, p.Queues, timers}, append(p.Noted(), timers.Noted()...), err
	}
	for name, most := range map[string]int{"net10-async": 60, "net31-zoo": 60, "net8-zoo": 30, "win-net6-zoo": 30} {
		t.Run(name, func(t *testing.T) { testdump.Open(t, name).Sweep(t, most, true, ask) })
	}
}

// TestCanceled checks that a canceled context ends each query with its error.
func TestCanceled(t *testing.T) {
	v, err := testdump.OpenWeb(t, "web-net10").View("")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func() error{
		"pool": func() error { _, err := threadpool.Pool(ctx, v.Process, threadpool.Options{}, nil, nil); return err },
		"brief pool": func() error {
			_, err := threadpool.Pool(ctx, v.Process, threadpool.Options{Brief: true}, nil, nil)
			return err
		},
		"queues": func() error { _, err := threadpool.WorkQueues(ctx, v.Process); return err },
		"timers": func() error { _, err := threadpool.Timers(ctx, v.Process); return err },
	} {
		assert.ErrorIs(t, ask(), context.Canceled, name)
	}
}

// TestSlotBeingTaken has a slot behind the items from which a worker is taking an item: its number is one round of the ring behind. Another number is damage.
func TestSlotBeingTaken(t *testing.T) {
	const name, slots = "net10-async", 32
	d, over := testdump.OpenOverlaid(t, name)
	r := reader(t, d)
	const position, at = 23, target.Addr(0x7fea858071a0) // of an item, and the place of its slot's number
	for n, damaged := range map[int32]bool{
		position + 1: false, position: false, position - slots + 1: false,
		position - slots: true, position - 1: true, position + slots: true, position + 2: true,
	} {
		over.Set(testdump.Damage{At: at, Bytes: binary.LittleEndian.AppendUint32(nil, uint32(n))})
		q, err := r.Queues(context.Background())
		require.NoError(t, err)
		assert.Equal(t, damaged, q.Lost != nil, "%d: %v", n, q.Lost)
	}
}
