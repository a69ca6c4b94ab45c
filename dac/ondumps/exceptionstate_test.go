package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestExceptionStates checks the threads of all runtimes that handle an exception: each state belongs to its
// thread and has an exception, and the unhandled one is the crash.
func TestExceptionStates(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		rt, err := d.Runtime()
		if err != nil {
			t.Skip("no runtime that is read")
		}
		if rt.Check(dac.FeatureThreadFacts) != nil {
			t.Skip("it has no exception trackers")
		}
		threads, err := rt.Threads()
		require.NoError(t, err)
		unhandled, nested, handling := 0, 0, 0
		for i := range threads {
			th := &threads[i]
			states, err := rt.ExceptionStates(th)
			require.NoError(t, err)
			for _, s := range states {
				handling++
				_, err := rt.Exception(s.Thrown)
				assert.NoError(t, err, "%v of thread %d", s.Thrown, th.ManagedID)
				assert.True(t, s.FlagsKnown)
				if s.Flags&dac.ExceptionUnhandled != 0 {
					unhandled++
				}
			}
			nested = max(nested, len(states)-1)
			other := *th
			for j := range threads {
				if threads[j].ExInfo != 0 && j != i && th.Stack.Size() > 0 {
					other.ExInfo = threads[j].ExInfo
					_, err := rt.ExceptionStates(&other)
					assert.ErrorIs(t, err, target.ErrCorrupt, "the state of another thread")
				}
			}
		}
		scenario := d.Manifest.Scenario
		switch {
		case strings.HasPrefix(scenario, "crash"):
			assert.Equal(t, 1, unhandled)
			if scenario == "crash nested" {
				assert.Equal(t, 1, nested)
			}
		case strings.HasPrefix(scenario, "stacks"):
			assert.Zero(t, unhandled)
			assert.Equal(t, 1, nested, "thread \"nested throw\"")
			assert.GreaterOrEqual(t, handling, 5)
		default:
			assert.Zero(t, unhandled)
		}
	})
}
