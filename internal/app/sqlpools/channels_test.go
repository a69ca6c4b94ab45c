package sqlpools_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestChannelPool reads the second pool of SqlClient 7, with connections in slots and idle ones in a channel. Of three
// connections one is idle and one runs a command; two calls wait. The null beside the idle connection wakes readers.
func TestChannelPool(t *testing.T) {
	d, _ := testdump.Libraries(t)
	v, err := d.View("")
	require.NoError(t, err)
	out, err := sqlpools.SQLPools(t.Context(), v.Process, sqlpools.Options{Brief: true})
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Pools, 3)
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
	assert.NoError(t, p.Connections[1].Command.Err())
	assert.Nil(t, p.Connections[1].Command.Value)
}

// TestSQLite lists a connection without a pool and a Microsoft.Data.Sqlite pool with three connections: one idle, one
// reading, one in the transaction of a DbContext. These pools have no limit, so no call may count as waiting.
func TestSQLite(t *testing.T) {
	d, _ := testdump.Libraries(t)
	out := read(t, d, sqlpools.Options{})
	require.Len(t, out.Pools, 3)
	p, alone := out.Pools[1], out.Pools[2]
	assert.Equal(t, "Data Source=shop.db;Password=***", p.Connection.S)
	assert.Equal(t, []answer.Maybe[int64]{answer.Known[int64](3), answer.Known[int64](1), answer.Known[int64](2)}, []answer.Maybe[int64]{p.Open, p.Idle, p.Busy})
	assert.ErrorIs(t, p.Max.Err(), target.ErrUnsupported)
	assert.ErrorIs(t, p.Waiting.Err(), target.ErrUnsupported)
	require.Len(t, p.Connections, 2)
	reads, changes := p.Connections[0], p.Connections[1]
	require.NotNil(t, reads.Command.Value)
	assert.Equal(t, "SELECT * FROM orders", reads.Command.Value.Text.S)
	assert.EqualValues(t, 30, *reads.Command.Value.Timeout.Value)
	assert.Equal(t, answer.Known(false), reads.Transaction)
	assert.Zero(t, reads.Context)
	assert.Nil(t, changes.Command.Value)
	assert.Equal(t, answer.Known(true), changes.Transaction)
	assert.Equal(t, "Fakes.ShopContext", changes.ContextType.S)
	assert.NotZero(t, changes.Context)
	assert.Zero(t, alone.Address)
	assert.Equal(t, "Data Source=:memory:", alone.Connection.S)
	assert.Len(t, alone.Connections, 1)
}
