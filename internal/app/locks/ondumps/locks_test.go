package ondumps_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

func reader(t testing.TB, d interface {
	View(string) (*sosgo.View, error)
}) *locks.Reader {
	v, err := d.View("")
	require.NoError(t, err)
	r, err := locks.Of(v.Process)
	require.NoError(t, err)
	return r
}

// nameOf returns the name that the program gave a thread.
func nameOf(d *testdump.Dump, t *answer.Thread) string {
	if t == nil {
		return ""
	}
	fact, _ := d.Case.Manifest.Fact("thread " + strconv.Itoa(int(t.ManagedID)))
	name, _, _ := strings.Cut(fact, ":")
	return name
}

// stacks compares the locks and waits of the program "stacks" with its source, and returns the number of comparisons.
func stacks(t *testing.T, d *testdump.Dump) int {
	r := reader(t, d)
	got, err := r.Describe(context.Background(), locks.Options{})
	require.NoError(t, err)
	held := map[string][]string{} // by owner: kind, count, waiters
	constructors := map[string]string{}
	pulses := 0
	for _, l := range got.Locks {
		words := fmt.Sprintf("%s %d", l.Kind, l.Recursion)
		for i := range l.Waiting {
			w := &l.Waiting[i]
			if l.Kind == answer.LockConstructor {
				assert.Equal(t, answer.HowInferred, w.How)
			} else {
				assert.Equal(t, answer.HowRecorded, w.How)
			}
			if w.Pulse {
				assert.Equal(t, "monitor wait", nameOf(d, &w.Thread))
				pulses++
				continue
			}
			words += " " + nameOf(d, &w.Thread)
		}
		if l.Kind == answer.LockConstructor {
			constructors[nameOf(d, l.Owner)] = words
			continue
		}
		held[nameOf(d, l.Owner)] = append(held[nameOf(d, l.Owner)], words)
	}
	assert.Equal(t, 1, pulses)
	assert.Equal(t, []string{"monitor 0 deadlock two"}, held["deadlock one"])
	assert.Equal(t, []string{"monitor 0 deadlock one"}, held["deadlock two"])
	assert.Equal(t, []string{"thin monitor 2"}, held["recursive lock"])
	assert.Equal(t, []string{"thin monitor 0"}, held["monitor wait"])
	assert.Equal(t, map[string]string{"static constructor": "static constructor 0 waits for the static constructor"}, constructors)
	compared := 5
	if lock := held["holds a Lock"]; assertLock(d) {
		assert.Equal(t, []string{"Lock 0 waits for a Lock"}, lock)
		compared++
	}
	return compared + deadlock(t, d, r)
}

// assertLock reports whether the program has a System.Threading.Lock.
func assertLock(d *testdump.Dump) bool {
	for i := range 64 {
		if fact, ok := d.Case.Manifest.Fact("thread " + strconv.Itoa(i)); ok && strings.HasPrefix(fact, "holds a Lock") {
			return true
		}
	}
	return false
}

// deadlock checks that the deadlock is reported once, as proved, and that the waits for a task and a static constructor
// are found.
func deadlock(t *testing.T, d *testdump.Dump, r *locks.Reader) int {
	got, err := r.Waits(context.Background(), locks.Options{})
	require.NoError(t, err)
	circles, tasks := 0, 0
	for _, v := range got.Verdicts {
		if strings.HasPrefix(v.Text, "deadlock: ") {
			circles++
			assert.Equal(t, answer.StrengthProved, v.Strength)
			assert.Len(t, v.Evidence, 2)
		}
		if strings.HasPrefix(v.Text, "sync over async: ") && strings.Contains(v.Text, "AsyncMethod") {
			tasks++
		}
	}
	assert.Equal(t, 1, circles, "%+v", got.Verdicts)
	assert.Equal(t, 1, tasks, "%+v", got.Verdicts)
	constructors := 0
	for i := range got.Threads {
		if w := &got.Threads[i]; w.Kind == answer.LockConstructor {
			constructors++
			assert.Equal(t, "waits for the static constructor", nameOf(d, &w.Thread))
			assert.Equal(t, "static constructor", nameOf(d, w.Owner))
			assert.Equal(t, "Debuggee.Stacks.Scenario+SlowToStart", w.Type.S)
			assert.Equal(t, answer.HowInferred, w.How)
		}
	}
	assert.Equal(t, 1, constructors, "threads that wait for a static constructor")
	return circles + tasks + constructors
}

// TestStacks checks a deadlock, a recursive lock, Monitor.Wait, Lock and a static constructor on all runtimes and
// systems.
func TestStacks(t *testing.T) {
	testdump.Both(t, "net10-stacks", testcase.Named("*-stacks-withheap", "*-stacks-full"), stacks)
}

// TestWebWaits compares the waits of the program "web" with what it printed.
func TestWebWaits(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		var want struct{ AsyncLockWaiters int }
		require.NoError(t, json.Unmarshal(d.Case.Manifest.Facts["waits"], &want))
		r := reader(t, d)
		all, err := r.Describe(context.Background(), locks.Options{})
		require.NoError(t, err)
		assert.Empty(t, all.Noted())
		async, keeper := 0, ""
		for _, l := range all.Locks {
			async = max(async, len(l.Async))
			if l.Owner != nil && l.Owner.Name == "stock keeper" {
				keeper = fmt.Sprintf("%s %d", l.Kind, len(l.Waiting))
			}
		}
		assert.Equal(t, want.AsyncLockWaiters, async)
		assert.Equal(t, "monitor 1", keeper)
		waits, err := r.Waits(context.Background(), locks.Options{})
		require.NoError(t, err)
		var said []string
		for _, v := range waits.Verdicts {
			said = append(said, v.Text)
		}
		text := strings.Join(said, "\n")
		assert.Contains(t, text, `thread 31 "sync over async" blocks in WebDebuggee.PoolWork.SyncOverAsync`)
		assert.Contains(t, text, "WebDebuggee.PoolWork.Outer")
		assert.Regexp(t, `PoolWork\.Outer.* awaits .*PoolWork\.Middle.* awaits .*PoolWork\.Inner`, text)
		assert.NotContains(t, text, "deadlock")
		never := 0
		for _, w := range waits.Threads {
			if strings.HasSuffix(w.Method.S, "PoolWork.Worker") && w.Kind == answer.LockEvent {
				never++
			}
		}
		assert.Equal(t, 8, never, "workers that wait for NeverSet")
		return 5
	})
}

// TestPartialLocks checks that a dump without the heap gives an error, not an empty list of locks.
func TestPartialLocks(t *testing.T) {
	v, err := testdump.Open(t, "net10-crash-null-triage").View("")
	require.NoError(t, err)
	r, err := locks.Of(v.Process)
	if err == nil {
		var got *answer.Locks
		got, err = r.Describe(context.Background(), locks.Options{})
		require.NoError(t, err)
		err = got.Lost
	}
	assert.ErrorIs(t, err, target.ErrNotInDump)
}

// TestUnreadMonitors checks dumps without sync blocks: a thread inside a method of Monitor still waits, for an unknown
// object, and no holder is concluded. The program set the names of the threads.
func TestUnreadMonitors(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-stacks-triage"), func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		got, err := locks.Waits(t.Context(), v.Process, locks.Options{})
		require.NoError(t, err)
		require.ErrorIs(t, got.Lost, target.ErrNotInDump)
		found := map[string]string{}
		for i := range got.Threads {
			if w := &got.Threads[i]; w.Kind == answer.LockMonitor {
				assert.Equal(t, answer.HowInferred, w.How)
				assert.Zero(t, w.Object)
				assert.Nil(t, w.Owner)
				found[nameOf(d, &w.Thread)] = w.Text
			}
		}
		const enters, pulse = "waits for the monitor of an object that could not be determined", "waits for a pulse of an object that could not be determined"
		assert.Equal(t, map[string]string{"deadlock one": enters, "deadlock two": enters, "monitor wait": pulse}, found)
		assert.Empty(t, got.Verdicts)
		triage, err := triage.Triage(t.Context(), v.Process, triage.Options{})
		require.NoError(t, err)
		i := slices.IndexFunc(triage.Unknown, func(u answer.TriageAbsent) bool { return u.Subject == "locks and blocked threads" })
		require.GreaterOrEqual(t, i, 0)
		assert.True(t, triage.Unknown[i].Partly)
		return len(found)
	})
}

// TestUnreadSpinLocks reads a slice without the types of some SpinLock fields. The list of locks must be marked
// incomplete.
func TestUnreadSpinLocks(t *testing.T) {
	v, err := testdump.Open(t, "net10-async").View("")
	require.NoError(t, err)
	r, err := locks.Of(v.Process)
	require.NoError(t, err)
	got, err := r.Describe(context.Background(), locks.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, got.Lost, target.ErrNotInDump)
	assert.ErrorContains(t, got.Lost, "SpinLocks of objects")
}

// FuzzLocks overwrites a word of a lock, or of the stack of a waiting thread.
func FuzzLocks(f *testing.F) {
	from := testdump.Open(f, "net10-stacks")
	d, kept := testdump.Thin(f, from.Path, from.Options(), testdump.FewOf(16, regexp.MustCompile(
		`System\.Threading\.Lock|Slim|SetOnInvokeMres|AsyncStateMachineBox|Tasks\.Task|Lazy|WaitHandle|System\.Threading\.(AutoResetEvent|Semaphore|Thread$|WorkStealing)`).MatchString))
	var at []target.Addr
	for i := range kept {
		at = append(at, kept[i].Addr)
	}
	require.Greater(f, len(at), 20)
	v, err := d.View("")
	require.NoError(f, err)
	list, err := v.Threads()
	require.NoError(f, err)
	rt, err := v.Runtime()
	require.NoError(f, err)
	for i := range list {
		if m := list[i].Managed; m != nil {
			if items, err := rt.BlockingItems(m); err == nil && len(items) > 0 {
				at = append(at, items[0].Block.Addr, m.Addr)
			}
		}
	}
	fuzzWaits(f, d, at, 32)
}

// fuzzWaits overwrites one of the first words at each address. Waits that can no longer be read must have typed errors.
func fuzzWaits(f *testing.F, d *testdump.Draft, at []target.Addr, words uint8) {
	v, err := d.View("")
	require.NoError(f, err)
	b, err := v.Shapes()
	require.NoError(f, err)
	h, err := v.Heap()
	require.NoError(f, err)
	w, err := v.Walker()
	require.NoError(f, err)
	list, err := v.Threads()
	require.NoError(f, err)
	var readers []*locks.Reader
	for some := range slices.Chunk(slices.DeleteFunc(slices.Clone(list), func(t stackwalk.Thread) bool { return t.Managed == nil }), 5) {
		readers = append(readers, locks.New(d.Target(), b, h, w, some, nil))
	}
	for i := range max(min(len(at), 16), len(readers)) {
		f.Add(uint16(i), uint8(i), uint8(1), uint64(at[i%len(at)]))
		f.Add(uint16(i), uint8(i), uint8(2), ^uint64(0))
	}
	f.Fuzz(func(t *testing.T, n uint16, some, word uint8, v uint64) {
		if v&3 == 1 { // another object in place of the right one
			v = uint64(at[v>>2%uint64(len(at))])
		}
		d.Set(testdump.Words(at[int(n)%len(at)]+8*target.Addr(word%words), v))
		got, err := readers[int(some)%len(readers)].Waits(context.Background(), locks.Options{Scan: heap.ScanOptions{Jobs: 1}})
		require.NoError(t, err)
		for _, err := range got.Noted() {
			assert.True(t, testdump.Typed(err), "%v", err)
		}
	})
}

// limited opens the dump of stacks with one wait of the deadlock limited to an hour.
func limited(t *testing.T) *sosgo.View {
	clean := view(t, testdump.Open(t, "net10-stacks").Dump)
	rt, err := clean.Runtime()
	require.NoError(t, err)
	list, err := clean.Threads()
	require.NoError(t, err)
	first, err := rt.Layout().Offset("Thread", "DebugBlockingInfo")
	require.NoError(t, err)
	timeout, err := rt.Layout().Offset("DebugBlockingItem", "Timeout")
	require.NoError(t, err)
	for i := range list {
		if name, _ := list[i].Name(); name != "deadlock one" {
			continue
		}
		item, err := target.Pointer(rt.Memory(), list[i].Managed.Addr+target.Addr(first))
		require.NoError(t, err)
		hour := binary.LittleEndian.AppendUint32(nil, 3600000)
		damage := []testdump.Damage{{At: item + target.Addr(timeout), Bytes: hour}}
		// The class library records the same (ThreadBlockingInfo): the lock, the kind, the timeout.
		lock, err := target.Pointer(rt.Memory(), item)
		require.NoError(t, err)
		sp, _ := list[i].OS.Registers.SP()
		for a := sp; a < sp+0x4000; a += 8 {
			if word, err := target.Pointer(rt.Memory(), a); err == nil && word == lock && a != item {
				damage = append(damage, testdump.Damage{At: a + 12, Bytes: hour})
			}
		}
		d, _ := testdump.OpenOverlaid(t, "net10-stacks", damage...)
		return view(t, d)
	}
	t.Fatal("no deadlock")
	return nil
}

// TestWaitsThatEnd checks that a cycle with a limited wait is not a proved deadlock in any command.
func TestWaitsThatEnd(t *testing.T) {
	v := limited(t)
	waits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	require.NoError(t, err)
	circles := 0
	for _, v := range waits.Verdicts {
		assert.NotContains(t, v.Text, "deadlock: ")
		if strings.HasPrefix(v.Text, "circle of waits that can end by itself: ") {
			circles++
			assert.Equal(t, answer.StrengthLikely, v.Strength)
			assert.Contains(t, v.Text, `"deadlock one" waits for at most 1 h`)
		}
	}
	assert.Equal(t, 1, circles)
	limits := 0
	for i := range waits.Threads {
		if waits.Threads[i].Ends == "waits for at most 1 h" {
			limits++
		}
	}
	assert.Equal(t, 1, limits)
	x, err := crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	text := ""
	for _, v := range x.Verdicts {
		if strings.Contains(v.Text, "wait for each other's monitors") {
			text = v.Text
			assert.Equal(t, answer.StrengthLikely, v.Strength)
		}
	}
	assert.Regexp(t, `^a circle of waits that ends by itself: .* waits for at most 1 h$`, text)
}

// TestRecycledOwner checks that a thread which has the recorded id of a lock's owner is not proved to hold it if no method on its stack has entered that
// lock: one has entered none, another a different one.
func TestRecycledOwner(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	v := view(t, d.Dump)
	b, err := v.Shapes()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	w, err := v.Walker()
	require.NoError(t, err)
	threads, err := v.Threads()
	require.NoError(t, err)
	for _, name := range []string{"deep", "recursive lock"} {
		list := slices.Clone(threads)
		at := func(wanted string) *stackwalk.Thread {
			i := slices.IndexFunc(list, func(t stackwalk.Thread) bool { name, _ := t.Name(); return name == wanted })
			require.GreaterOrEqual(t, i, 0, wanted)
			managed := *list[i].Managed
			list[i].Managed = &managed
			return &list[i]
		}
		owner, innocent := at("deadlock one"), at(name)
		innocent.Managed.ManagedID, owner.Managed.ManagedID = owner.Managed.ManagedID, innocent.Managed.ManagedID
		got, err := locks.New(d.Target(), b, h, w, list, nil).Waits(t.Context(), locks.Options{})
		require.NoError(t, err)
		i := slices.IndexFunc(got.Verdicts, func(v answer.Verdict) bool { return strings.Contains(v.Text, `"`+name+`" holds the monitor`) })
		require.GreaterOrEqual(t, i, 0, name)
		assert.Equal(t, answer.StrengthLikely, got.Verdicts[i].Strength, name)
		assert.Contains(t, got.Verdicts[i].Text, "by the id in its record, thread")
		assert.Contains(t, got.Verdicts[i].Text, "a thread that had this id before left it locked")
	}
}

// TestEndedOwner checks that an ended thread is named as the owner of a lock that it can't release.
func TestEndedOwner(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	v := view(t, d.Dump)
	b, err := v.Shapes()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	w, err := v.Walker()
	require.NoError(t, err)
	list, err := v.Threads()
	require.NoError(t, err)
	list = slices.Clone(list)
	for i := range list {
		if name, _ := list[i].Name(); name == "deadlock one" {
			list[i].OS, list[i].Index = nil, -1
		}
	}
	got, err := locks.New(d.Target(), b, h, w, list, nil).Waits(t.Context(), locks.Options{})
	require.NoError(t, err)
	text := ""
	for _, v := range got.Verdicts {
		text += v.Text + "\n"
	}
	assert.Regexp(t, `thread managed \d+ "deadlock one" has ended and still holds the monitor of a System.Object`, text)
	assert.NotContains(t, text, "deadlock: ")
}
