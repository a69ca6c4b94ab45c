package crash_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/crash"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/stackwalk"
)

// parked are the arguments of the method Park by threads, as the source has them.
var parked = map[string]string{"deep": "deep", "generic": "generic", "generic shared": "generic", "catch": "to catch"}

// TestMessageOfFailFast: the message is the first string that the frames of the call
// refer to. Here another method with a string for an argument stands for the call.
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
		p := &crash.Process{Target: d.Target(), Memory: d.Memory(), Threads: d.Threads, Runtime: d.Runtime, Walker: d.Walker}
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
