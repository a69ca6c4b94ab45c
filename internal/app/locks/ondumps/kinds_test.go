package ondumps_test

import (
	"context"
	"os"
	"path/filepath"
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
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// kinds is the folder of a dump with threads that hold and wait for locks of all kinds. Its program is Locks.cs.
const kinds = "../../../../testdata/dumps/locks/net10-locks"

// openKinds opens the dump of kinds and returns the names of its threads by managed id.
func openKinds(t testing.TB) (*sosgo.Dump, map[uint32]string) {
	t.Helper()
	return openNamed(t, kinds)
}

// openNamed opens the dump of a folder and returns the names of its threads by managed id.
func openNamed(t testing.TB, folder string) (*sosgo.Dump, map[uint32]string) {
	t.Helper()
	facts, err := os.ReadFile(filepath.Join(folder, "facts.txt"))
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	names := map[uint32]string{}
	for line := range strings.Lines(string(facts)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(id)
		require.NoError(t, err)
		names[uint32(n)] = name
	}
	d, err := sosgo.Open(filepath.Join(folder, filepath.Base(folder)+".dmp.zst"), sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d, names
}

// TestKindsOfLocks checks the holder and the waiters of each lock against the program's source.
func TestKindsOfLocks(t *testing.T) {
	d, names := openKinds(t)
	got, err := reader(t, d).Describe(context.Background(), locks.Options{})
	require.NoError(t, err)
	assert.Empty(t, got.Noted())
	said := map[string]string{}
	for _, l := range got.Locks {
		var words []string
		if l.Owner != nil {
			words = append(words, "held by "+names[l.Owner.ManagedID])
		}
		for i := range l.Readers {
			words = append(words, "read by "+names[l.Readers[i].ManagedID])
		}
		for i := range l.Waiting {
			words = append(words, names[l.Waiting[i].Thread.ManagedID]+" waits")
		}
		for _, a := range l.Async {
			if a.Blocked {
				words = append(words, "blocked")
				continue
			}
			words = append(words, strings.Join(a.Stack, " < "))
		}
		key := string(l.Kind)
		for said[key] != "" {
			key += "'"
		}
		if l.Kind == answer.LockSpin {
			key = l.Type.S
		}
		said[key] = strings.Join(words, ", ")
	}
	assert.Equal(t, map[string]string{
		"monitor":               "held by only writer, only reader waits",
		"Lazy":                  "held by lazy maker, lazy waiter waits",
		"ReaderWriterLockSlim":  "read by reader one, read by reader two, writer waits",
		"ReaderWriterLockSlim'": "read by only reader, only writer waits",
		"CountdownEvent":        "countdown waits",
		"Barrier":               "at barrier waits",
		"SemaphoreSlim":         "Locks.Gated < Locks.Outer, Locks.Gated",
		"SemaphoreSlim'":        ", blocked",
		"ManualResetEventSlim":  "reader one waits, reader two waits, spin owner waits, lazy maker waits, joined waits, mutex owner waits",
		"Spins.Tracked":         "held by spin owner, spinner waits",
		"Spins.Untracked":       "",
	}, said)
	for _, l := range got.Locks {
		if l.Kind == answer.LockLazy {
			assert.Equal(t, "System.Lazy<Config>", l.Type.S)
		}
		if l.Kind == answer.LockSpin {
			assert.True(t, l.Held)
		}
	}
}

// TestKindsOfWaits checks what each thread waits for, including kernel objects and the ends of threads, and the
// deadlock through a lock held by a reader.
func TestKindsOfWaits(t *testing.T) {
	d, names := openKinds(t)
	got, err := reader(t, d).Waits(context.Background(), locks.Options{})
	require.NoError(t, err)
	assert.Empty(t, got.Noted())
	kind := map[string]answer.WaitKind{}
	for i := range got.Threads {
		w := &got.Threads[i]
		kind[names[w.Thread.ManagedID]] = w.Kind
		switch names[w.Thread.ManagedID] {
		case "joiner":
			require.NotNil(t, w.Owner)
			assert.Equal(t, "joined", names[w.Owner.ManagedID])
		case "only writer":
			require.NotNil(t, w.Owner)
			assert.Equal(t, "only reader", names[w.Owner.ManagedID])
		case "kernel":
			assert.Equal(t, "System.Threading.AutoResetEvent", w.Type.S)
		case "mutex waiter":
			assert.Equal(t, "System.Threading.Mutex", w.Type.S)
			assert.Equal(t, "waits for a System.Threading.Mutex", w.Text)
			assert.Equal(t, "its owner is not in managed memory", w.Note)
			assert.Nil(t, w.Owner)
		case "countdown":
			assert.Equal(t, "3 of 3 signals are missing", w.Note)
		case "at barrier":
			assert.Equal(t, "1 of 3 participants have arrived", w.Note)
		case "wait any":
			assert.Equal(t, "waits for 2 wait handles, the first a System.Threading.AutoResetEvent", w.Text)
		}
	}
	for name, want := range map[string]answer.WaitKind{"joiner": answer.WaitThread, "kernel": answer.WaitHandle, "mutex waiter": answer.WaitHandle, "wait any": answer.WaitHandle,
		"spinner": answer.LockSpin, "lazy waiter": answer.LockLazy, "writer": answer.LockReaderWriter, "blocked on slots": answer.WaitTask} {
		assert.Equal(t, want, kind[name], name)
	}
	circles := 0
	for _, v := range got.Verdicts {
		if strings.HasPrefix(v.Text, "deadlock: ") {
			circles++
			assert.Contains(t, v.Text, `"only reader" holds System.Threading.ReaderWriterLockSlim`)
			assert.Len(t, v.Evidence, 2)
		}
	}
	assert.Equal(t, 1, circles)
}

// TestJoins finds joins of an unknown thread and of the thread itself. In the second the stack refers to the own
// Thread.
func TestJoins(t *testing.T) {
	clean, names := openKinds(t)
	joiner := func(d *sosgo.Dump) (*answer.ThreadWait, *answer.Waits) {
		got, err := reader(t, d).Waits(context.Background(), locks.Options{})
		require.NoError(t, err)
		for i := range got.Threads {
			if w := &got.Threads[i]; names[w.Thread.ManagedID] == "joiner" {
				return w, got
			}
		}
		return nil, got
	}
	was, _ := joiner(clean)
	require.NotNil(t, was)
	list, err := view(t, clean).Threads()
	require.NoError(t, err)
	joins := slices.IndexFunc(list, func(w stackwalk.Thread) bool { return w.ID() == was.Thread.OSID })
	require.GreaterOrEqual(t, joins, 0)
	self, err := target.Pointer(clean.Memory(), list[joins].Managed.ExposedHandle)
	require.NoError(t, err)
	require.NotEqual(t, was.Object, self)
	d, over := overlaidKinds(t)
	refer := func(to target.Addr) (*answer.ThreadWait, *answer.Waits) {
		var damage []testdump.Damage
		sp, ok := list[joins].OS.Registers.SP()
		require.True(t, ok)
		for a := sp; len(damage) < 100; a += 8 {
			word, err := target.Pointer(clean.Target(), a)
			if err != nil {
				break
			}
			if word == was.Object {
				damage = append(damage, testdump.Words(a, uint64(to)))
			}
		}
		require.NotEmpty(t, damage)
		over.Set(damage...)
		return joiner(d)
	}
	got, _ := refer(0)
	require.NotNil(t, got)
	assert.Equal(t, "waits for the end of an unknown thread", got.Text)
	assert.Equal(t, answer.WaitThread, got.Kind)
	assert.Zero(t, got.Object)

	got, all := refer(self)
	require.NotNil(t, got)
	assert.Equal(t, "waits for its own end", got.Text)
	assert.Equal(t, self, got.Object)
	assert.True(t, slices.ContainsFunc(all.Verdicts, func(v answer.Verdict) bool {
		return v.Kind == answer.FindingDeadlock && strings.Contains(v.Text, `"joiner" has not ended and waits for its own end`)
	}), "%v", all.Verdicts)
}

// TestStaticConstructorUnread checks that an unreadable stack that may run a static constructor is reported.
func TestStaticConstructorUnread(t *testing.T) {
	const name = "net10-stacks"
	clean := testdump.Open(t, name)
	list, err := view(t, clean.Dump).Threads()
	require.NoError(t, err)
	var damage []testdump.Damage
	for i := range list {
		th := &list[i]
		if th.Managed == nil || th.OS == nil {
			continue
		}
		if fact, ok := clean.Case.Manifest.Fact("thread " + strconv.Itoa(int(th.Managed.ManagedID))); !ok || !strings.HasPrefix(fact, "static constructor") {
			continue
		}
		sp, ok := th.OS.Registers.SP()
		require.True(t, ok)
		damage = append(damage, testdump.Damage{At: sp, Bytes: make([]byte, 8<<10)})
	}
	require.Len(t, damage, 1)
	d, _ := testdump.OpenOverlaid(t, name, damage...)
	got, err := reader(t, d).Waits(context.Background(), locks.Options{})
	require.NoError(t, err)
	for i := range got.Threads {
		assert.NotEqual(t, answer.LockConstructor, got.Threads[i].Kind)
	}
	require.Error(t, got.Lost)
	said := false
	for _, err := range got.Noted() {
		assert.True(t, testdump.Typed(err), "%v", err)
		said = said || strings.Contains(err.Error(), "static constructor")
	}
	assert.True(t, said, "%v", got.Noted())
}

func view(t testing.TB, d *sosgo.Dump) *sosgo.View {
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

// overlaidKinds opens the dump of kinds with memory that can be overwritten.
func overlaidKinds(t testing.TB) (*sosgo.Dump, *testdump.Overlay) {
	t.Helper()
	return testdump.OverlaidFile(t, cannedKinds(t), sosgo.Options{Offline: true})
}

// cannedKinds returns the path of the dump of kinds. It skips the test if the dump is missing.
func cannedKinds(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat(kinds); err != nil {
		t.Skip("there are no canned dumps here")
	}
	return filepath.Join(kinds, "net10-locks.dmp.zst")
}

// addresses returns the addresses of a type's objects.
func addresses(t testing.TB, d *sosgo.Dump, name string) (out []target.Addr) {
	t.Helper()
	h, err := view(t, d).Heap()
	require.NoError(t, err)
	for o, err := range h.Walk(context.Background(), &heap.Filter{Type: h.TypeContains(name)}) {
		require.NoError(t, err)
		out = append(out, o.Addr)
	}
	return out
}

// TestRingsOfLocks checks that endless lists of waiters and of entered locks are reported as corrupt, beside the rest.
func TestRingsOfLocks(t *testing.T) {
	clean, _ := openKinds(t)
	for name, field := range map[string]string{"SemaphoreSlim+TaskNode": "Next", "ReaderWriterCount": "next"} {
		t.Run(name, func(t *testing.T) {
			d, over := overlaidKinds(t)
			objs, err := view(t, clean).Objects()
			require.NoError(t, err)
			var damage []testdump.Damage
			for _, a := range addresses(t, clean, name) {
				o, err := objs.Object(a)
				require.NoError(t, err)
				damage = append(damage, testdump.Words(o.Field(field).Location(), uint64(a)))
				if name == "ReaderWriterCount" { // so that no entry matches the lock
					damage = append(damage, testdump.Words(o.Field("lockID").Location(), ^uint64(0)))
				}
			}
			require.NotEmpty(t, damage)
			over.Set(damage...)
			got, err := reader(t, d).Describe(context.Background(), locks.Options{Scan: heap.ScanOptions{Jobs: 1}})
			require.NoError(t, err)
			require.Error(t, got.Lost)
			assert.ErrorIs(t, got.Lost, target.ErrCorrupt)
			assert.Greater(t, len(got.Locks), 5)
		})
	}
}

// FuzzKinds overwrites a word of a lock of any kind, or of the records of its holders and waiters.
func FuzzKinds(f *testing.F) {
	d, kept := testdump.Thin(f, cannedKinds(f), sosgo.Options{Offline: true}, testdump.FewOf(16, regexp.MustCompile(
		`ReaderWriter|Lazy|Spins|SemaphoreSlim|AutoResetEvent|Mutex|WaitHandle|CountdownEvent|Barrier|ManualResetEvent|SetOnInvokeMres|System\.Threading\.Thread$|Task|AsyncStateMachineBox`).MatchString))
	var at []target.Addr
	for i := range kept {
		at = append(at, kept[i].Addr)
	}
	require.Greater(f, len(at), 60)
	fuzzWaits(f, d, at, 16)
}
