package acceptance_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A runtimeless is a process without modules, so without a runtime. It counts how often its threads are listed.
type runtimeless struct {
	target.Target
	lists int
}

func (r *runtimeless) Modules() []target.Module { return nil }

func (r *runtimeless) Threads() []target.Thread {
	r.lists++
	return slices.Repeat(r.Target.Threads(), 1000)
}

// TestWithoutRuntime checks that the Process without a runtime is kept, with what it has read, and that another choice
// of a runtime has its own reason.
func TestWithoutRuntime(t *testing.T) {
	at := &runtimeless{Target: testdump.Open(t, "net10-zoo").Target()}
	d, err := process.OpenTarget(at, process.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	first, err := d.Process("")
	require.ErrorIs(t, err, target.ErrUnsupported)
	list, err := first.Threads()
	require.ErrorContains(t, err, "no .NET runtime found")
	require.NotEmpty(t, list)
	read := at.lists
	for range 100 {
		again, err := d.Process("")
		require.Error(t, err)
		assert.True(t, first == again, "another Process")
		_, _ = again.Threads()
	}
	assert.Equal(t, read, at.lists, "the threads are listed once")
}
