package disguise_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/disguise"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// different are answers that differ over a disguised dump, and why.
var different = map[string]string{
	"DescribeRuntimes": "the build id is another one",
	"Images":           "the build id is another one",
	"HandlesHold":      "a thread of 11 has one handle, and an exception that is handled has none",
}

// TestAnswers compares the answers over disguised dumps with those over the dumps.
func TestAnswers(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net10-zoo-servergc", "net10-zoo-noregions", "net10-async", "net10-crash-nested", "win-net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			c := testdump.Open(t, name)
			v := disguise.Open(t, c.Path, c.Options())
			compare(t, c.Dump, v)
		})
	}
}

func compare(t *testing.T, plain, disguised *sosgo.Dump) {
	a, err := plain.View("")
	require.NoError(t, err)
	b, err := disguised.View("")
	require.NoError(t, err)
	ha, err := a.Heap()
	require.NoError(t, err)
	hb, err := b.Heap()
	require.NoError(t, err)
	sa, err := ha.Stats(t.Context(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	sb, err := hb.Stats(t.Context(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	assert.Equal(t, sa.Count, sb.Count)
	assert.Equal(t, ha.Warnings(), hb.Warnings())
	ctx := reflect.ValueOf(t.Context())
	for m := range reflect.TypeFor[*sosgo.View]().Methods() {
		variadic := m.Type.NumIn() == 3 && m.Type.IsVariadic()
		if m.Type.NumIn() != 2 && !variadic || m.Type.NumOut() != 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() || different[m.Name] != "" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			want, got := answerOf(t, a, m, ctx), answerOf(t, b, m, ctx)
			if want != got {
				w, g := bytes.Split([]byte(want), []byte("\n")), bytes.Split([]byte(got), []byte("\n"))
				for i := range w {
					if i >= len(g) || !bytes.Equal(w[i], g[i]) {
						end := min(i+6, len(w), len(g))
						t.Errorf("line %d of %d, %d:\n%s\n---\n%s", i, len(w), len(g), bytes.Join(w[max(0, i-3):end], []byte("\n")), bytes.Join(g[max(0, i-3):end], []byte("\n")))
						break
					}
				}
			}
		})
	}
}

func answerOf(t *testing.T, v *sosgo.View, m reflect.Method, ctx reflect.Value) string {
	out := m.Func.Call([]reflect.Value{reflect.ValueOf(v), ctx})
	if err, _ := out[1].Interface().(error); err != nil {
		return err.Error()
	}
	v0 := out[0].Interface()
	if out[0].Kind() == reflect.Func { // an iterator over values and errors
		var all []any
		for x, err := range out[0].Seq2() {
			all = append(all, x.Interface())
			if !err.IsNil() {
				all = append(all, err.Interface().(error).Error())
			}
		}
		v0 = all
	}
	text, err := json.MarshalIndent(v0, "", " ")
	require.NoError(t, err)
	return string(text)
}

// TestContendedMonitor checks that monitors which are Locks have the owners and waiters of the runtime's monitors.
func TestContendedMonitor(t *testing.T) {
	c := testdump.Open(t, "net10-stacks")
	plain, err := c.View("")
	require.NoError(t, err)
	v, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Monitors: true}).View("")
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	managed := 0
	for b, err := range rt.SyncBlocks() {
		require.NoError(t, err)
		if b.Lock != 0 {
			managed++
		}
	}
	assert.Equal(t, 3, managed)

	want, err := plain.Locks(t.Context())
	require.NoError(t, err)
	got, err := v.Locks(t.Context())
	require.NoError(t, err)
	require.Len(t, got.Locks, len(want.Locks))
	for i := range want.Locks {
		want.Locks[i].OwnerID, got.Locks[i].OwnerID = 0, 0 // a Lock of 11 knows the managed id
	}
	assert.ElementsMatch(t, want.Locks, got.Locks)

	wantWaits, err := plain.Waits(t.Context())
	require.NoError(t, err)
	gotWaits, err := v.Waits(t.Context())
	require.NoError(t, err)
	assert.Equal(t, wantWaits.Verdicts, gotWaits.Verdicts)
	assert.Equal(t, wantWaits.Threads, gotWaits.Threads)

	ended, err := plain.Crash(t.Context())
	require.NoError(t, err)
	crash, err := v.Crash(t.Context())
	require.NoError(t, err)
	require.NotNil(t, crash.Waiting)
	waiting := crash.Waiting
	assert.Equal(t, ended.Waiting.Monitors, waiting.Monitors)
	assert.Equal(t, ended.Waiting.Deadlocks, waiting.Deadlocks)
}

// waitingFor returns the thread with a name, and what it waits for.
func waitingFor(t *testing.T, c *testdump.Dump, name string) (*dac.Runtime, *dac.Thread, dac.BlockingItem) {
	rt, err := c.Runtime()
	require.NoError(t, err)
	threads, err := rt.Threads()
	require.NoError(t, err)
	for i := range threads {
		if got, _ := rt.ThreadName(&threads[i]); got == name {
			items, err := rt.BlockingItems(&threads[i])
			require.NoError(t, err)
			require.Len(t, items, 1)
			return rt, &threads[i], items[0]
		}
	}
	require.Fail(t, "no thread", name)
	return nil, nil, dac.BlockingItem{}
}

// TestUnknownLock checks that a monitor whose Lock is something else is missing from the answer, not free.
func TestUnknownLock(t *testing.T) {
	c := testdump.Open(t, "net10-stacks")
	_, thread, item := waitingFor(t, c, "deadlock one")
	const lock = 8 // SyncBlock.Lock in the disguise
	v, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Monitors: true, Damage: []testdump.Damage{testdump.Words(item.Block.Addr+lock, uint64(thread.ExposedHandle))}}).View("")
	require.NoError(t, err)
	a, err := v.Locks(t.Context())
	require.NoError(t, err)
	assert.ErrorIs(t, a.Lost, target.ErrCorrupt)
	assert.ErrorContains(t, a.Lost, "no System.Threading.Lock")
}

// TestPulseWaiters checks that waiters for a pulse are counted even if their threads recorded nothing.
func TestPulseWaiters(t *testing.T) {
	c := testdump.Open(t, "net10-stacks")
	rt, thread, item := waitingFor(t, c, "monitor wait")
	var first target.Addr
	for at, err := range rt.TypesNamed("System.Threading.ThreadBlockingInfo", "") {
		require.NoError(t, err)
		mt, err := rt.TrustedMethodTable(at)
		require.NoError(t, err)
		fields, err := rt.Fields(mt)
		require.NoError(t, err)
		for i := range fields {
			if fields[i].Thread {
				a, err := rt.ThreadStaticField(mt, &fields[i], thread)
				require.NoError(t, err)
				first = a.Addr
			}
		}
	}
	require.NotZero(t, first)
	v, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Monitors: true, Damage: []testdump.Damage{testdump.Words(first, 0)}}).View("")
	require.NoError(t, err)
	a, err := v.Locks(t.Context())
	require.NoError(t, err)
	at := slices.IndexFunc(a.Locks, func(l answer.Lock) bool { return l.Address == item.Block.Object })
	require.GreaterOrEqual(t, at, 0, "%v", a.Noted())
	assert.False(t, a.Locks[at].Held)
	assert.Empty(t, a.Locks[at].Waiting)
	assert.Equal(t, "1 waiting for a pulse (its own count)", a.Locks[at].State)
}

// TestDelegates checks that delegates whose fields have the names of 11 make the same calls.
func TestDelegates(t *testing.T) {
	c := testdump.Open(t, "net10-stacks")
	renamed := map[string]map[string]string{"System.MulticastDelegate": {"_invocationList": "_helperObject", "_invocationCount": "_extraData"}}
	plain, err := c.View("")
	require.NoError(t, err)
	other, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Fields: renamed}).View("")
	require.NoError(t, err)
	h, err := plain.Heap()
	require.NoError(t, err)
	a, err := plain.Objects()
	require.NoError(t, err)
	b, err := other.Objects()
	require.NoError(t, err)
	several := 0
	for o, err := range h.Objects() {
		if err != nil || o.Free {
			continue
		}
		was, err := a.Object(o.Addr)
		require.NoError(t, err)
		want, err := was.Delegate()
		if errors.Is(err, target.ErrUnsupported) {
			continue
		}
		require.NoError(t, err)
		is, err := b.Object(o.Addr)
		require.NoError(t, err)
		got, err := is.Delegate()
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range want {
			wantMethod, wantErr := want[i].Method()
			gotMethod, gotErr := got[i].Method()
			assert.Equal(t, wantErr == nil, gotErr == nil)
			if wantErr == nil && gotErr == nil {
				assert.Equal(t, wantMethod.Addr, gotMethod.Addr)
			}
			assert.Equal(t, want[i].Target, got[i].Target)
		}
		if len(want) > 1 {
			several++
		}
	}
	assert.Positive(t, several)
}

// TestValueTaskSources checks that async iterators are followed although their promises lack the field that 11 dropped.
func TestValueTaskSources(t *testing.T) {
	c := testdump.Open(t, "net10-async")
	dropped := map[string]map[string]string{"System.Threading.Tasks.Sources.ManualResetValueTaskSourceCore`1": {"_completed": "_formerly"}}
	plain, err := c.View("")
	require.NoError(t, err)
	other, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Fields: dropped}).View("")
	require.NoError(t, err)
	want, err := plain.AsyncStacks(t.Context())
	require.NoError(t, err)
	got, err := other.AsyncStacks(t.Context())
	require.NoError(t, err)
	a, err := json.Marshal(want)
	require.NoError(t, err)
	b, err := json.Marshal(got)
	require.NoError(t, err)
	assert.Equal(t, string(a), string(b))
}
