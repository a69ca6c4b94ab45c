package crash_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestDescribeReadsWhatTheProcessPrinted compares the answers with what processes wrote to standard error before they
// died. See the source of the scenario "crash".
func TestDescribeReadsWhatTheProcessPrinted(t *testing.T) {
	for name, want := range map[string]struct {
		types, messages []string
		top             string // the method that threw the innermost exception
		likely          string
	}{
		"net10-crash-nested": {
			[]string{"Debuggee.Crash.OrderException", "System.FormatException"},
			[]string{"order 1042 failed", "The input string 'not a number 1042' was not in a correct format."},
			"Debuggee.Crash.Scenario.Submit(Int32)", "Debuggee.Crash.Scenario.Validate(Int32)",
		},
		"nativeaot-crash": {
			[]string{"System.InvalidOperationException", "System.FormatException"},
			[]string{"order 994 can't be shipped", "bad address of customer 994"},
			"", "System.InvalidOperationException was not caught: order 994 can't be shipped; caused by System.FormatException: bad address of customer 994, in aot!Program.Ship(",
		},
	} {
		d := testdump.Open(t, name)
		v, err := d.View("")
		require.NoError(t, err)
		x, err := crash.Describe(context.Background(), v.Process, crash.Options{})
		require.NoError(t, err)
		var types, messages []string
		for i := range x.Exceptions {
			types = append(types, x.Exceptions[i].Type.String())
			messages = append(messages, x.Exceptions[i].Message.String())
		}
		assert.Equal(t, want.types, types, name)
		assert.Equal(t, want.messages, messages, name)
		assert.Contains(t, x.Likely, want.likely)
		assert.NotZero(t, x.Blames, "a conclusion names the cause")
		if want.top == "" {
			continue
		}
		methods := make([]string, len(x.Stack))
		for i := range x.Stack {
			methods[i] = x.Stack[i].Method.String()
		}
		assert.Contains(t, strings.Join(methods, "\n"), want.top)
	}
}

// TestDescribeLivingProcess checks that a waiting process shows no crash, although its heap holds exceptions.
func TestDescribeLivingProcess(t *testing.T) {
	v, err := testdump.Open(t, "win-net10-zoo").View("")
	require.NoError(t, err)
	x, err := crash.Describe(context.Background(), v.Process, crash.Options{})
	require.NoError(t, err)
	assert.True(t, x.Alive)
	assert.Empty(t, x.Exceptions)
	assert.Empty(t, x.Likely)
}

// TestDescribeWithoutARuntime checks that the crash record is described if no runtime can be read, with the reason.
func TestDescribeWithoutARuntime(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	p, err := d.Process("no such runtime")
	require.ErrorIs(t, err, target.ErrNoSuch)
	x, err := crash.Describe(context.Background(), p, crash.Options{})
	require.NoError(t, err)
	assert.Equal(t, "SIGABRT", strings.Split(x.Code, "/")[0])
	assert.NotZero(t, x.ThreadID)
	assert.Empty(t, x.Exceptions)
	assert.True(t, errors.Is(errors.Join(x.Noted()...), target.ErrNoSuch))
	brief := crash.DescribeBriefly(p, crash.Options{})
	require.NotNil(t, brief)
	assert.Equal(t, x.Reason, brief.Reason)
	assert.Empty(t, brief.Exceptions)
}

// TestDescribeEndsWithTheContext checks that a canceled answer keeps what needs no stack walk.
func TestDescribeEndsWithTheContext(t *testing.T) {
	v, err := testdump.Open(t, "net10-crash-nested").View("")
	require.NoError(t, err)
	_, err = crash.Describe(context.Background(), v.Process, crash.Options{})
	require.NoError(t, err)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var x *answer.Crash
	testcase.Soon(t, 50*time.Millisecond, func() {
		x, err = crash.Describe(ended, v.Process, crash.Options{})
		require.NoError(t, err)
	})
	assert.LessOrEqual(t, len(x.Stack), 1)
	assert.True(t, errors.Is(errors.Join(x.Noted()...), context.Canceled))
}

func TestWatsonBuckets(t *testing.T) {
	linux := crash.WatsonBuckets(testdump.Open(t, "net10-zoo").Target())
	windows := crash.WatsonBuckets(testdump.Open(t, "win-net10-zoo").Target())
	assert.ErrorIs(t, linux, target.ErrUnsupported)
	assert.ErrorIs(t, windows, target.ErrUnsupported)
	assert.NotEqual(t, linux.Error(), windows.Error(), "only one of them has buckets")
}

// TestUntracedCause checks that a thrown exception outranks a cause that was created but not thrown.
func TestUntracedCause(t *testing.T) {
	d, over := testdump.OpenOverlaid(t, "net10-crash-nested")
	v, err := d.View("")
	require.NoError(t, err)
	x, err := crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	require.Len(t, x.Exceptions, 2)
	outer, inner := x.Exceptions[0], x.Exceptions[1]
	require.NotEmpty(t, inner.Frames)
	assert.Contains(t, x.Likely, "Debuggee.Crash.OrderException was not caught: order 1042 failed; caused by System.FormatException: "+strings.TrimSuffix(inner.Message.S, "."))

	reader, err := v.Objects()
	require.NoError(t, err)
	o, err := reader.Object(inner.Address)
	require.NoError(t, err)
	over.Set(testdump.Words(o.Field("_stackTrace").Location(), 0))
	x, err = crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	want := fmt.Sprintf("Debuggee.Crash.OrderException was not caught: %s, in %s; with an inner exception that has no stack trace: System.FormatException: %s",
		strings.TrimSuffix(outer.Message.S, "."), outer.Frames[0].Function.S, strings.TrimSuffix(inner.Message.S, "."))
	assert.Equal(t, want, x.Likely)
	assert.Equal(t, want, x.Verdicts[len(x.Verdicts)-1].Text)

	// An unreadable trace may exist; a trace from elsewhere does exist.
	text := o.Field("_remoteStackTraceString").Location()
	message := uint64(0)
	if a, err := o.Field("_message").Addr(); assert.NoError(t, err) {
		message = uint64(a)
	}
	for name, damage := range map[string][]testdump.Damage{
		"unreadable": {testdump.Words(o.Field("_stackTrace").Location(), 0x10)},
		"elsewhere":  {testdump.Words(o.Field("_stackTrace").Location(), 0), testdump.Words(text, message)},
	} {
		over.Set(damage...)
		x, err = crash.Describe(t.Context(), v.Process, crash.Options{})
		require.NoError(t, err)
		assert.Contains(t, x.Likely, "; caused by System.FormatException: ", name)
	}
}
