package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestException checks that a thread's exception needs no address, and that a thread without one has the exceptions of
// the others.
func TestException(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	p := d.Default()
	list, err := p.Threads()
	require.NoError(t, err)
	id, ok := crash.Died(p)
	require.True(t, ok)
	thread := stackwalk.ThreadByID(list, id)
	x, err := crash.Exception(t.Context(), p, thread, crash.ExceptionOptions{})
	require.NoError(t, err)
	assert.Equal(t, "Debuggee.Crash.OrderException", x.Exception.Type.S)
	same, err := crash.Exception(t.Context(), p, thread, crash.ExceptionOptions{Address: x.Exception.Address})
	require.NoError(t, err)
	assert.Equal(t, x.Exception, same.Exception)
	alone, err := crash.Exception(t.Context(), p, nil, crash.ExceptionOptions{Address: x.Exception.Address, Nested: true})
	require.NoError(t, err)
	assert.Equal(t, x.Exception, alone.Exception)
	assert.Nil(t, alone.Nested)

	all, err := crash.Exception(t.Context(), p, nil, crash.ExceptionOptions{All: true})
	require.NoError(t, err)
	var addresses []target.Addr
	for row, err := range all.All {
		require.NoError(t, err)
		addresses = append(addresses, row.Address)
	}
	assert.Contains(t, addresses, x.Exception.Address)
	others, err := crash.Exception(t.Context(), p, &stackwalk.Thread{Index: -1}, crash.ExceptionOptions{})
	require.NoError(t, err)
	assert.Nil(t, others.Exception)
	assert.Len(t, others.Others, len(addresses))

	o, err := d.Objects()
	require.NoError(t, err)
	object, err := o.Object(x.Exception.Address)
	require.NoError(t, err)
	message, err := object.Field("_message").Object()
	require.NoError(t, err)
	_, err = crash.Exception(t.Context(), p, thread, crash.ExceptionOptions{Address: message.Addr})
	assert.ErrorIs(t, err, dac.ErrNotException)
	_, err = crash.Exception(t.Context(), p, nil, crash.ExceptionOptions{})
	assert.Error(t, err, "no thread")
}
