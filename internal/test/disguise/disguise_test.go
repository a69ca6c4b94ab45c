package disguise_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/disguise"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// different are answers that differ for a disguised dump, and why.
var different = map[string]string{
	"DescribeRuntimes": "the build id is another one",
	"Images":           "the build id is another one",
	"HandlesHold":      "a thread of 11 has one handle, and an exception that is handled has none",
	"Memory":           "tables have the card tables of 10; the descriptor of 11 has none of them",
}

// contended are answers that differ if threads wait for monitors: a Lock counts its waiters
// elsewhere; see TestContendedMonitor.
var contended = map[string][]string{
	"net10-stacks": {"Crash", "Locks", "SyncBlocks"}, "net10-arm64": {"Locks", "SyncBlocks"}, "net10-single": {"Locks", "SyncBlocks"},
}

// TestAnswers compares the answers for disguised dumps with those for the originals.
func TestAnswers(t *testing.T) {
	for _, name := range testcase.Sample(t, []string{"net10-zoo", "net10-zoo-servergc", "net10-zoo-noregions", "win-net10-zoo", "net10-async", "net10-crash-nested",
		"net10-stacks", "net10-arm64", "net10-single"}, 3) {
		t.Run(name, func(t *testing.T) {
			c := testdump.Open(t, name)
			differs := maps.Clone(different)
			for _, answer := range contended[name] {
				differs[answer] = "threads wait for monitors"
			}
			compare(t, c.Dump, disguise.Open(t, c.Path, c.Options()), differs)
		})
	}
}

func compare(t *testing.T, plain, disguised *sosgo.Dump, different map[string]string) {
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
		if out := m.Type.Out(0); out.Kind() == reflect.Func && !out.CanSeq2() {
			continue // a function is not an answer
		}
		t.Run(m.Name, func(t *testing.T) {
			want, got := answerOf(t, a, m, ctx), answerOf(t, b, m, ctx)
			// If the tables of handles are not in the dump, the first read of them is shorter in
			// 11.
			want, got = strings.ReplaceAll(want, "GC handles: 20 bytes at", "GC handles: 16 bytes at"), strings.ReplaceAll(got, "GC handles: 20 bytes at", "GC handles: 16 bytes at")
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

// TestContendedMonitor checks that monitors that are Locks have the owners and waiters of the
// runtime's monitors.
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
			if b.Waiters > 0 {
				assert.Equal(t, 16, b.Since.Bits)
				assert.NotZero(t, b.Since.Low)
			}
		}
	}
	assert.Equal(t, 3, managed)

	want, err := locks.Locks(t.Context(), plain.Process, locks.Options{})
	require.NoError(t, err)
	got, err := locks.Locks(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	require.Len(t, got.Locks, len(want.Locks))
	for i := range want.Locks {
		want.Locks[i].OwnerID, got.Locks[i].OwnerID = 0, 0 // a Lock of 11 has the managed id
		want.Locks[i].Age = got.Locks[i].Age               // and 16 bits of a time, which are too few where no timer limits the time of the dump
	}
	assert.ElementsMatch(t, want.Locks, got.Locks)

	wantWaits, err := locks.Waits(t.Context(), plain.Process, locks.Options{})
	require.NoError(t, err)
	gotWaits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	assert.Equal(t, wantWaits.Verdicts, gotWaits.Verdicts)
	assert.Equal(t, wantWaits.Threads, gotWaits.Threads)

	ended, err := crash.Describe(t.Context(), plain.Process, crash.Options{})
	require.NoError(t, err)
	crash, err := crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	require.NotNil(t, crash.Waiting)
	waiting := crash.Waiting
	assert.Equal(t, ended.Waiting.Monitors, waiting.Monitors)
	assert.Equal(t, ended.Waiting.Deadlocks, waiting.Deadlocks)
}

// waitingFor returns the named thread and what it waits for.
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

// TestUnknownLock checks that a monitor with an invalid Lock is missing from the answer, and not
// free.
func TestUnknownLock(t *testing.T) {
	c := testdump.Open(t, "net10-stacks")
	_, thread, item := waitingFor(t, c, "deadlock one")
	const lock = 8 // SyncBlock.Lock in the disguise
	v, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Monitors: true, Damage: []testdump.Damage{testdump.Words(item.Block.Addr+lock, uint64(thread.ExposedHandle))}}).View("")
	require.NoError(t, err)
	a, err := locks.Locks(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	assert.ErrorIs(t, a.Lost, target.ErrCorrupt)
	assert.ErrorContains(t, a.Lost, "no System.Threading.Lock")
}

// TestPulseWaiters checks that waiters for a pulse are counted even if their threads recorded
// nothing.
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
	a, err := locks.Locks(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	at := slices.IndexFunc(a.Locks, func(l answer.Lock) bool { return l.Address == item.Block.Object })
	require.GreaterOrEqual(t, at, 0, "%v", a.Noted())
	assert.False(t, a.Locks[at].Held)
	assert.Empty(t, a.Locks[at].Waiting)
	assert.Equal(t, "1 waiting for a pulse (its own count)", a.Locks[at].State)
}

// TestDelegates checks that delegates with the field names of 11 make the same calls.
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
		if errors.Is(err, target.ErrArgument) {
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

// TestValueTaskSources checks that async iterators are followed without the field of promises that
// 11 dropped.
func TestValueTaskSources(t *testing.T) {
	c := testdump.Open(t, "net10-async")
	dropped := map[string]map[string]string{"System.Threading.Tasks.Sources.ManualResetValueTaskSourceCore`1": {"_completed": "_formerly"}}
	plain, err := c.View("")
	require.NoError(t, err)
	other, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Fields: dropped}).View("")
	require.NoError(t, err)
	want, err := async.Stacks(t.Context(), plain.Process, async.StackOptions{})
	require.NoError(t, err)
	got, err := async.Stacks(t.Context(), other.Process, async.StackOptions{})
	require.NoError(t, err)
	a, err := json.Marshal(want)
	require.NoError(t, err)
	b, err := json.Marshal(got)
	require.NoError(t, err)
	assert.Equal(t, string(a), string(b))
}

// TestRuntimeAsync checks that the continuations of a task name the methods that the runtime
// suspended. Types of 10 get the names of types of 11.
func TestRuntimeAsync(t *testing.T) {
	c := testdump.Open(t, "net10-async")
	plain, err := c.View("")
	require.NoError(t, err)
	rt, err := plain.Runtime()
	require.NoError(t, err)
	h, err := plain.Heap()
	require.NoError(t, err)
	var task target.Addr
	for o, err := range h.Objects() {
		if name, _ := rt.TypeName(o.Type.Addr, dac.NameManaged); err == nil && strings.Contains(name, "+AsyncStateMachineBox<") && strings.Contains(name, "<Inner>") {
			task = o.Addr
			break
		}
	}
	require.NotZero(t, task)
	ip, method := codeAddress(t, c)

	var continuation *dac.MethodTable
	for at, err := range rt.TypesNamed("System.Runtime.CompilerServices.DynamicStaticsInfo", "") {
		require.NoError(t, err)
		continuation, err = rt.TrustedMethodTable(at)
		require.NoError(t, err)
	}
	require.NotNil(t, continuation)
	fields, err := rt.Fields(continuation)
	require.NoError(t, err)
	const place, info, thunk, first, second, state = target.Addr(0x5e1000000000), 0, 0x20, 0x40, 0x80, 16
	objects := func(next target.Addr, resume uint64) []uint64 { // fields in the order of the type
		words := []uint64{uint64(continuation.Addr), 0, 0, 0}
		words[1+fields[0].Offset/8], words[1+fields[1].Offset/8] = resume, uint64(next)
		return words
	}
	changes := disguise.Changes{
		Fields: map[string]map[string]string{"System.Runtime.CompilerServices.DynamicStaticsInfo": {"_pGCStatics": "ResumeInfo", "_pNonGCStatics": "Next"}},
		Types:  map[string]string{"System.Runtime.CompilerServices.DynamicStaticsInfo": "Continuation", "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1": "AsyncHelpers"},
		Damage: []testdump.Damage{
			// A reference.
			{At: fields[1].Addr + 12, Bytes: binary.LittleEndian.AppendUint32(nil, fields[1].Offset|0x12<<27)},
			testdump.Words(place+info, 0, uint64(ip)),
			testdump.Words(place+thunk, 0, 0),
			testdump.Words(place+first, objects(place+second, uint64(place+thunk))...),
			testdump.Words(place+second, objects(0, uint64(place+info))...),
			testdump.Words(task+state, uint64(place+first)),
		},
	}
	v, err := disguise.OpenWith(t, c.Path, c.Options(), changes).View("")
	require.NoError(t, err)
	got, err := async.State(t.Context(), v.Process, task)
	require.NoError(t, err)
	require.Len(t, got.Suspended, 1, "%v", got.Noted())
	assert.Equal(t, method, got.Suspended[0].Method.S)
	assert.NoError(t, got.Suspended[0].Method.Err)
}

// codeAddress returns an address in the code of a method on some stack, and the method's name.
func codeAddress(t *testing.T, c *testdump.Dump) (target.Addr, string) {
	w, err := c.Walker()
	require.NoError(t, err)
	list, err := c.Threads()
	require.NoError(t, err)
	for i := range list {
		if list[i].Managed == nil || list[i].OS == nil {
			continue
		}
		for f := range w.Walk(t.Context(), list[i].Managed, list[i].OS.Registers, stackwalk.WalkOptions{}) {
			if md, err := f.Method(); f.Kind == stackwalk.FrameManaged && err == nil && md != nil {
				name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
				require.NoError(t, err)
				return f.IP, name
			}
		}
	}
	require.Fail(t, "no managed frame")
	return 0, ""
}

// TestStaleException checks that an exception being handled is the thread's, although its handle
// has another object.
func TestStaleException(t *testing.T) {
	c := testdump.Open(t, "net10-crash-nested")
	rt, err := c.Runtime()
	require.NoError(t, err)
	threads, err := rt.Threads()
	require.NoError(t, err)
	offset, err := rt.Layout().Offset("Thread", "LastThrownObject")
	require.NoError(t, err)
	var stale []testdump.Damage
	want := map[target.Addr]target.Addr{}
	for i := range threads {
		if states, err := rt.ExceptionStates(&threads[i]); err == nil && len(states) > 0 {
			handle, err := target.Pointer(rt.Memory(), threads[i].Addr+target.Addr(offset))
			require.NoError(t, err)
			stale = append(stale, testdump.Words(handle, uint64(threads[i].ExposedHandle)))
			want[threads[i].Addr] = states[0].Thrown
		}
	}
	require.NotEmpty(t, stale)
	v, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Damage: stale}).View("")
	require.NoError(t, err)
	other, err := v.Runtime()
	require.NoError(t, err)
	threads, err = other.Threads()
	require.NoError(t, err)
	for i := range threads {
		if thrown := want[threads[i].Addr]; thrown != 0 {
			assert.Equal(t, thrown, threads[i].LastThrown)
			assert.NoError(t, threads[i].LastThrownError)
		}
	}
	w, err := v.Walker()
	require.NoError(t, err)
	list, err := v.Threads()
	require.NoError(t, err)
	held := map[target.Addr]bool{}
	for i := range list {
		if list[i].Managed == nil || list[i].OS == nil {
			continue
		}
		for root := range w.Roots(t.Context(), list[i].Managed, list[i].OS.Registers) {
			if root.Explicit == "ExInfo" {
				held[root.Object] = true
			}
		}
	}
	for _, thrown := range want {
		assert.True(t, held[thrown], "%v is a root", thrown)
	}
	plain, err := c.View("")
	require.NoError(t, err)
	before, err := crash.Describe(t.Context(), plain.Process, crash.Options{})
	require.NoError(t, err)
	after, err := crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	assert.Equal(t, before.Exceptions, after.Exceptions)
}
