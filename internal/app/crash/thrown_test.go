package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/words"
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

	// For an access violation, the runtime sets an exception that it made in advance in place of the one that it handles.
	assert.Empty(t, x.Others)
	const engine = 0x7f2fd9800178
	managed, fatal := *thread.Managed, *thread
	fatal.Managed, managed.LastThrown = &managed, engine
	set, err := crash.Exception(t.Context(), p, &fatal, crash.ExceptionOptions{})
	require.NoError(t, err)
	assert.Equal(t, "System.ExecutionEngineException", set.Exception.Type.S)
	require.NotEmpty(t, set.Others)
	assert.Equal(t, x.Exception.Address, set.Others[0].Exception)
}

// TestExceptionOfLostThread: if the list of threads is cut, nobody is said to have no exception, and what ended the process is unknown.
func TestExceptionOfLostThread(t *testing.T) {
	canned := testdump.Open(t, "net10-crash-nested")
	id, ok := crash.Died(canned.Default())
	require.True(t, ok)
	rt, err := canned.Default().Runtime()
	require.NoError(t, err)
	managed, err := rt.Threads()
	require.NoError(t, err)
	first, second := managed[0].Addr, managed[1].Addr
	link := target.Addr(0) // from the first Thread to the same member of the second
	for off := target.Addr(0); off < 0x1000 && link == 0; off += 8 {
		if next, err := target.Uint64(canned.Target(), first+off); err == nil && target.Addr(next) == second+off {
			link = first + off
		}
	}
	require.NotZero(t, link)
	p := canned.Damaged(t, testdump.Words(link, 0)).Default()
	list, err := p.Threads()
	require.ErrorIs(t, err, target.ErrCorrupt)
	thread := stackwalk.ThreadByID(list, id)
	require.NotNil(t, thread)
	require.Nil(t, thread.Managed)
	for _, o := range []crash.ExceptionOptions{{}, {All: true}} {
		_, err = crash.Exception(t.Context(), p, thread, o)
		require.ErrorIs(t, err, target.ErrCorrupt)
	}
	x, err := crash.Exception(t.Context(), p, &list[0], crash.ExceptionOptions{})
	require.NoError(t, err, "the record of this thread is there")
	assert.NoError(t, x.Unread)
	page, err := crash.Describe(t.Context(), p, crash.Options{})
	require.NoError(t, err)
	last := page.Verdicts[len(page.Verdicts)-1]
	assert.Equal(t, words.CauseUnknown.Kind(), last.Says)
}
