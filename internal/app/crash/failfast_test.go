package crash_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestFailFast checks that FailFast is found from the frames of the call, with the message and the exception of the
// scenario "crash failfast".
func TestFailFast(t *testing.T) {
	const path = "../../../testdata/dumps/failfast/net10-failfast/net10-failfast.dmp.zst"
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, _ := testdump.OverlaidFile(t, path, sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	x, err := crash.Describe(context.Background(), v.Process, crash.Options{})
	require.NoError(t, err)
	require.NotNil(t, x.FailFast)
	assert.Equal(t, "fail fast message", x.FailFast.Message.String())
	assert.Equal(t, answer.StrengthProved, x.FailFast.Strength)
	require.NotEmpty(t, x.Exceptions)
	assert.Equal(t, "System.InvalidOperationException", x.Exceptions[0].Type.String())
	assert.Equal(t, "fail fast cause", x.Exceptions[0].Message.String())
	assert.Equal(t, "the program called Environment.FailFast: fail fast message, in Debuggee.Crash.Scenario.Run(System.String)"+
		"; its exception: System.InvalidOperationException: fail fast cause", x.Likely)
	assert.False(t, x.Alive)
}

// parked maps threads to the arguments of the method Park in the source.
var parked = map[string]string{"deep": "deep", "generic": "generic", "generic shared": "generic", "catch": "to catch"}

// TestMessageOfFailFast checks that the message is the first string that the call's frames refer to. Another method
// with a string argument takes the place of the call.
func TestMessageOfFailFast(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		rt, err := d.Runtime()
		if err != nil || d.Manifest.Scenario != "stacks" {
			t.Skip("another scenario")
		}
		w, err := d.Walker()
		require.NoError(t, err)
		list, err := d.Threads()
		require.NoError(t, err)
		p := crash.NewSubject(d.Default(), list...)
		found := 0
		for i := range list {
			th := &list[i]
			if th.OS == nil || th.Managed == nil {
				continue
			}
			for f := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
				assert.False(t, crash.IsFailFast(&f))
				md, err := f.Method()
				if err != nil || md == nil || f.Kind != stackwalk.FrameManaged {
					continue
				}
				if name, _ := md.Name(); name != "Park" {
					continue
				}
				x := crash.FailFastAt(p, rt, w, th, &f)
				if x.Strength != answer.StrengthProved {
					break
				}
				found++
				name, err := th.Name()
				if want, ok := parked[name]; ok && err == nil {
					assert.Equal(t, want, x.Message.String(), "the argument of Park")
				}
				break
			}
		}
		if d.HasHeap() {
			assert.NotZero(t, found)
		}
	})
}
