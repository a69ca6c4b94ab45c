package sqlpools_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/sqlpools"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestChannelPool reads the second pool of SqlClient 7, with connections in slots and idle ones in a
// channel. Of three connections one is idle and one runs a command; two calls wait. The null beside
// the idle connection wakes readers.
func TestChannelPool(t *testing.T) {
	d, _ := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.SQLPoolReader()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	out, err := r.Pools(t.Context(), sqlpools.Process{Heap: h}, sqlpools.Options{})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Pools, 1)
	p := out.Pools[0]
	assert.Equal(t, "Running", p.State.S)
	assert.Equal(t, answer.Known[int64](3), p.Open)
	assert.Equal(t, answer.Known[int64](3), p.Max)
	assert.Equal(t, answer.Known[int64](1), p.Idle)
	assert.Equal(t, answer.Known[int64](2), p.Busy)
	assert.Equal(t, answer.Known[int64](2), p.Waiting)
	require.Len(t, p.Connections, 2)
	require.NotNil(t, p.Connections[0].Command.Value)
	assert.True(t, p.Connections[0].Command.Value.Running)
	assert.Equal(t, "SELECT 1", p.Connections[0].Command.Value.Text.S)
	assert.NoError(t, p.Connections[1].Command.Err)
	assert.Nil(t, p.Connections[1].Command.Value)
}
