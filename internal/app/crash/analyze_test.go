package crash_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestAnalyze checks that the crashed thread has only managed frames, the exception with its cause, and the exception
// that it was handling. A native thread has nothing. An unreadable exception is a gap, not "none". "none".
func TestAnalyze(t *testing.T) {
	const name = "net10-crash-nested"
	d := testdump.Open(t, name)
	w, err := d.Walker()
	require.NoError(t, err)
	list, err := d.Threads()
	require.NoError(t, err)
	id, ok := crash.ThreadID(d.Target())
	require.True(t, ok)
	died := stackwalk.ThreadByID(list, id)
	a := crash.Analyze(context.Background(), w, died, threads.StackOptions{})
	var methods []string
	for f, err := range a.Frames {
		require.NoError(t, err)
		assert.Equal(t, answer.FrameManaged, f.Kind)
		methods = append(methods, f.Method.String())
	}
	require.NotEmpty(t, methods)
	assert.Equal(t, "Debuggee.Crash.Scenario.Submit(Int32)", methods[0])
	require.Len(t, a.Exceptions, 2)
	assert.Equal(t, [][]int{{1}, nil}, a.Causes)
	assert.Equal(t, a.Thrown, a.Exceptions[0].Address)
	assert.Equal(t, "Debuggee.Crash.OrderException", a.Exceptions[0].Type.S)
	require.Len(t, a.Nested, 1)
	assert.Equal(t, a.Exceptions[1].Address, a.Nested[0].Address)
	assert.Equal(t, "System.FormatException", a.Nested[0].Exceptions[0].Type.S)

	alone := *died
	alone.Managed = nil
	a = crash.Analyze(context.Background(), w, &alone, threads.StackOptions{})
	for range a.Frames {
		t.Error("a frame of a thread without managed code")
	}
	assert.Empty(t, a.Exceptions)
	unread := *died.Managed
	unread.LastThrown, unread.LastThrownError = 0, target.ErrNotInDump
	alone.Managed = &unread
	a = crash.Analyze(context.Background(), w, &alone, threads.StackOptions{})
	assert.ErrorIs(t, a.Unread, target.ErrNotInDump)
	require.NotEmpty(t, a.Noted())
	assert.ErrorIs(t, a.Noted()[0], target.ErrNotInDump)
}
