package threads_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// stackActivities has the activities of the threads of the scenario "stacks" by name, from its source.
var stackActivities = map[string]threads.Activity{
	"deep":                   threads.ActivitySleep,
	"generic":                threads.ActivitySleep,
	"spinning":               threads.ActivityRunning,
	"unmanaged":              threads.ActivityNative,
	"async":                  threads.ActivityTask,
	"monitor wait":           threads.ActivityMonitorWait,
	"deadlock one":           threads.ActivityLock,
	"deadlock two":           threads.ActivityLock,
	"waits for a Lock":       threads.ActivityLock,
	"static constructor":     threads.ActivitySleep,
	"dead":                   threads.ActivityUnknown,
	"unstarted":              threads.ActivityUnknown,
	"unmanaged callers only": threads.ActivitySleep,
}

// TestActivities compares with what the threads of the dumped programs were made to do.
func TestActivities(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Manifest.Scenario != "stacks" {
			t.Skip("another scenario")
		}
		walker, err := d.Walker()
		require.NoError(t, err)
		list, err := d.Threads()
		require.NoError(t, err)
		seen := 0
		for i := range list {
			th := &list[i]
			if th.Managed == nil {
				continue
			}
			var regs target.Registers
			if th.OS != nil {
				regs = th.OS.Registers
			}
			a := threads.ActivityOf(th, walker.Walk(context.Background(), th.Managed, regs, stackwalk.WalkOptions{}))
			require.NotEmpty(t, a.Text)
			name, _ := th.Name()
			if want, ok := stackActivities[name]; ok {
				seen++
				assert.Equal(t, want.String(), a.Activity.String(), "%s: %s", name, a.Text)
			}
			if th.Managed.Finalizer && th.OS != nil {
				assert.Equal(t, threads.ActivityIdle, a.Activity)
			}
		}
		if d.HasHeap() { // otherwise there are no names
			assert.Greater(t, seen, 8)
		}
	})
}

// TestActivityOfCrash: a thread that dies of an exception handles it, even if a waiting method threw it.
func TestActivityOfCrash(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		crash, err := crash.Read(d.Default(), crash.Options{})
		if crash == nil || crash.Thread == nil || crash.Thread.Managed == nil || crash.Thrown == 0 {
			t.Skip("no crash by a managed exception", err)
		}
		walker, err := d.Walker()
		require.NoError(t, err)
		th := crash.Thread
		a := threads.ActivityOf(th, walker.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}))
		assert.Equal(t, "handles an exception", a.Text)
		assert.NotNil(t, a.Caller)
	})
}

// TestActivityOfNothing: threads without a stack also have an activity.
func TestActivityOfNothing(t *testing.T) {
	none := slices.Values([]stackwalk.Frame{})
	native := &stackwalk.Thread{OS: &target.Thread{ID: 7}}
	assert.Equal(t, threads.ActivityNative, threads.ActivityOf(native, none).Activity)
	dead := &stackwalk.Thread{Index: -1, Managed: &dac.Thread{}}
	assert.Equal(t, "has ended or has not started", threads.ActivityOf(dead, none).Text)
	collecting := &stackwalk.Thread{OS: native.OS, Managed: &dac.Thread{GC: true}}
	assert.Equal(t, threads.ActivityCollecting, threads.ActivityOf(collecting, none).Activity)
	finalizer := &stackwalk.Thread{OS: native.OS, Managed: &dac.Thread{Finalizer: true}}
	assert.Equal(t, "idle (finalizer)", threads.ActivityOf(finalizer, none).Text)
	odd := slices.Values([]stackwalk.Frame{{}}) // managed without a method
	assert.Equal(t, threads.ActivityRunning, threads.ActivityOf(&stackwalk.Thread{OS: native.OS, Managed: &dac.Thread{}}, odd).Activity)
	broken := slices.Values([]stackwalk.Frame{{Kind: stackwalk.FrameNative, Err: target.ErrNotInDump}})
	compiled := func(yield func(stackwalk.Frame) bool) { yield(stackwalk.Frame{Kind: stackwalk.FrameNative}) } // as NativeAOT's methods are
	managed := &stackwalk.Thread{OS: native.OS, Managed: &dac.Thread{}}
	assert.Equal(t, "has only native frames", threads.ActivityOf(managed, compiled).Text)
	assert.Equal(t, "has no managed frames", threads.ActivityOf(managed, none).Text)
	a := threads.ActivityOf(&stackwalk.Thread{OS: native.OS, Managed: &dac.Thread{}}, broken)
	assert.ErrorIs(t, a.Err, target.ErrNotInDump)
	assert.Equal(t, threads.ActivityUnknown, a.Activity)
	assert.Equal(t, "not known: its stack can't be read", a.Text)
	idle := threads.ActivityOf(&stackwalk.Thread{OS: native.OS, Managed: &dac.Thread{Finalizer: true}}, broken)
	assert.Equal(t, "not known: its stack can't be read", idle.Text, "a finalizer whose frames are missing may run")
}
