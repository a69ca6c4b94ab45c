package crash_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestDescribe: the dumps of the scenarios "crash …" are of processes that died
// of an exception, the others of living ones. On Windows they were written without
// an exception record, and say nothing of it.
func TestDescribe(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		x, err := v.DescribeCrash(context.Background())
		require.NoError(t, err)
		brief := v.DescribeCrashBriefly()
		if _, recorded := d.Target().Exception(); !recorded {
			if d.Target().Platform().OS != target.OSWindows {
				assert.False(t, strings.HasPrefix(d.Manifest.Scenario, "crash"))
			}
			assert.True(t, x.Alive)
			assert.Nil(t, brief)
			return
		}
		if arch := d.Target().Platform().Arch; arch != target.ArchAMD64 {
			t.Skip("no CLR is read on", arch)
		}
		assert.False(t, x.Alive)
		assert.NotZero(t, x.ThreadID)
		assert.NotEmpty(t, x.Likely)
		require.NotNil(t, brief)
		assert.Equal(t, x.Reason, brief.Reason)
		require.NotEmpty(t, x.Exceptions)
		require.NotEmpty(t, brief.Exceptions)
		assert.Equal(t, x.Exceptions[0].Message, brief.Exceptions[0].Message)
		if x.Record != nil {
			assert.Equal(t, "NativeAOT", x.Record.RuntimeType)
			assert.Equal(t, x.Exceptions[0].Address, x.Record.Exception.Address)
			return
		}
		assert.NotEmpty(t, x.Stack)
		assert.NotEmpty(t, x.Exceptions[0].Frames)
		for i := range x.Exceptions[1:] {
			assert.Equal(t, x.Exceptions[i].Inner, x.Exceptions[i+1].Address, "each is the cause of the one before")
		}
	})
}
