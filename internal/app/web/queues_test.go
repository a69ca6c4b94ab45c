package web_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/target"
)

// TestQueues counts waiting log events and messages. A sink has a full queue of 4 and dropped 17 events. A second sink
// has one event in its batch. A MassTransit endpoint has consumed 16 messages.
func TestQueues(t *testing.T) {
	v := libraries(t)
	out, err := web.Queues(t.Context(), v.Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Queues, 4)
	none := func(m answer.Maybe[int64]) { assert.ErrorIs(t, m.Err(), target.ErrUnsupported) }
	sink, batching, queue, endpoint := &out.Queues[0], &out.Queues[1], &out.Queues[2], &out.Queues[3]
	assert.Equal(t, "Serilog.Sinks.Async.FileSink", sink.Name.S)
	assert.Equal(t, []answer.Maybe[int64]{answer.Known[int64](4), answer.Known[int64](4), answer.Known[int64](17)}, []answer.Maybe[int64]{sink.Items, sink.Capacity, sink.Dropped})
	assert.Equal(t, answer.Known(false), sink.Blocks)
	assert.Equal(t, "Serilog.Core.Sinks.Batching.SeqSink", batching.Name.S)
	assert.Equal(t, answer.Known[int64](3+1), batching.Items)
	none(batching.Capacity)
	none(batching.Dropped)
	assert.Equal(t, "order-placed", queue.Name.S)
	assert.Equal(t, answer.Known[int64](2), queue.Items)
	assert.Equal(t, "order-placed", endpoint.Name.S)
	assert.Equal(t, []answer.Maybe[int64]{answer.Known[int64](16), answer.Known[int64](16), answer.Known[int64](90210)}, []answer.Maybe[int64]{endpoint.Active, endpoint.Most, endpoint.Begun})
	none(endpoint.Items)
}

// TestThrown checks that a request has the exception of its application, with the wrapped one.
func TestThrown(t *testing.T) {
	out, err := web.Requests(t.Context(), libraries(t).Process, web.RequestOptions{})
	require.NoError(t, err)
	var found *answer.Request
	for i := range out.Requests {
		if out.Requests[i].Path.S == "/orders" {
			found = &out.Requests[i]
		}
	}
	require.NotNil(t, found)
	require.Len(t, found.Causes, 2)
	assert.Equal(t, found.Exception, found.Causes[0].Object)
	assert.Equal(t, "System.InvalidOperationException", found.Causes[0].Type.S)
	assert.Equal(t, "order 4711 was not stored", found.Causes[0].Message.S)
	assert.Equal(t, "Npgsql.PostgresException", found.Causes[1].Type.S)
	pools, err := sqlpools.SQLPools(t.Context(), libraries(t).Process, sqlpools.Options{})
	require.NoError(t, err)
	assert.Equal(t, pools.Failures[6].Object, found.Causes[1].Object, "the failed command is the request's")
}
