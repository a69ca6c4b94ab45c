package ondumps_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestSharedHandles checks that two threads that wait for one Mutex are a finding. One thread, or two that wait for an
// event, are not. Each handle in the dump has one waiter; the test changes stack words to make it two.
func TestSharedHandles(t *testing.T) {
	clean, names := openKinds(t)
	shared := func(d *sosgo.Dump) (out []answer.Verdict, waits map[string]answer.ThreadWait) {
		got, err := reader(t, d).Waits(context.Background(), locks.Options{})
		require.NoError(t, err)
		waits = map[string]answer.ThreadWait{}
		for i := range got.Threads {
			waits[names[got.Threads[i].Thread.ManagedID]] = got.Threads[i]
		}
		for _, v := range got.Verdicts {
			if strings.Contains(v.Text, "wait for the same") {
				out = append(out, v)
			}
		}
		return out, waits
	}
	none, was := shared(clean)
	assert.Empty(t, none)
	event, mutex := was["kernel"], was["mutex waiter"]

	objs, err := view(t, clean).Objects()
	require.NoError(t, err)
	handle := func(a target.Addr) uint64 { // the SafeWaitHandle
		o, err := objs.Object(a)
		require.NoError(t, err)
		h, err := o.Field("_waitHandle").Addr()
		require.NoError(t, err)
		return uint64(h)
	}
	// instead returns the changes that make the thread of from wait for the handle of to.
	instead := func(from, to *answer.ThreadWait) (damage []testdump.Damage) {
		words := map[uint64]uint64{uint64(from.Object): uint64(to.Object), handle(from.Object): handle(to.Object)}
		list, err := view(t, clean).Threads()
		require.NoError(t, err)
		for i := range list {
			if list[i].ID() != from.Thread.OSID {
				continue
			}
			sp, ok := list[i].OS.Registers.SP()
			require.True(t, ok)
			for a := sp; a < sp+16<<10; a += 8 {
				if word, err := target.Pointer(clean.Target(), a); err == nil && words[uint64(word)] != 0 {
					damage = append(damage, testdump.Words(a, words[uint64(word)]))
				}
			}
		}
		require.NotEmpty(t, damage)
		return damage
	}

	d, over := overlaidKinds(t)
	over.Set(instead(&event, &mutex)...)
	found, waits := shared(d)
	require.Equal(t, mutex.Object, waits["kernel"].Object)
	require.Len(t, found, 1)
	assert.Equal(t, answer.FindingWait, found[0].Kind)
	assert.Equal(t, answer.StrengthLikely, found[0].Strength)
	assert.Equal(t, 2, found[0].Count)
	assert.Regexp(t, `^2 threads wait for the same System\.Threading\.Mutex [0-9a-f]{16}.*: .*; thread \d+ "mutex owner" likely holds it; thread \d+ "mutex owner" itself waits for a ManualResetEventSlim `, found[0].Text)
	for _, name := range []string{"kernel", "mutex waiter"} {
		assert.Contains(t, found[0].Text, name)
	}
	assert.True(t, slices.ContainsFunc(found[0].Show, func(s string) bool { return strings.HasPrefix(s, "clrstack ") }))

	d, over = overlaidKinds(t)
	over.Set(instead(&mutex, &event)...)
	found, waits = shared(d)
	require.Equal(t, event.Object, waits["mutex waiter"].Object)
	assert.Empty(t, found, "threads without work wait for events")
}

// TestMutexOwner checks that the owner of a Mutex is found if the class library implements wait handles: the main
// thread owns it in the dump. Without the thread, the record or the handle the owner is unknown, and the wait remains.
func TestMutexOwner(t *testing.T) {
	d, over := testdump.Libraries(t)
	v := view(t, d)
	wait := func() *answer.ThreadWait {
		got, err := reader(t, d).Waits(context.Background(), locks.Options{})
		require.NoError(t, err)
		i := slices.IndexFunc(got.Threads, func(w answer.ThreadWait) bool { return w.Thread.Name == "mutex waiter" })
		require.NotEqual(t, -1, i)
		return &got.Threads[i]
	}
	w := wait()
	assert.Equal(t, "System.Threading.Mutex", w.Type.S)
	assert.Equal(t, "Fakes.Holder.Gate", w.Name)
	require.NotNil(t, w.Owner)
	assert.EqualValues(t, 1, w.Owner.ManagedID)
	assert.Empty(t, w.Note)

	objs, err := v.Objects()
	require.NoError(t, err)
	gate, err := objs.Object(w.Object)
	require.NoError(t, err)
	safe, err := gate.Field("_waitHandle").Object()
	require.NoError(t, err)
	handle := safe.Field("handle")
	at, err := handle.Addr()
	require.NoError(t, err)
	a, err := target.Pointer(d.Target(), at)
	require.NoError(t, err)
	state, err := objs.Object(a)
	require.NoError(t, err)
	info, err := state.Field("_ownershipInfo").Object()
	require.NoError(t, err)
	for name, damage := range map[string]testdump.Damage{
		"no owner":            testdump.Words(info.Field("_thread").Location(), 0),
		"no thread":           testdump.Words(info.Field("_thread").Location(), uint64(w.Object)),
		"no record":           testdump.Words(state.Field("_ownershipInfo").Location(), 0),
		"another's record":    testdump.Words(state.Field("_ownershipInfo").Location(), uint64(w.Object)),
		"no handle":           testdump.Words(handle.Location(), 0),
		"nothing at handle":   testdump.Words(handle.Location(), 8),
		"no state at handle":  testdump.Words(at, uint64(w.Object)),
		"no object at handle": testdump.Words(at, uint64(w.Object)+8),
	} {
		over.Set(damage)
		w := wait()
		assert.Nil(t, w.Owner, name)
		assert.Equal(t, "its owner is not known", w.Note, name)
	}
}
