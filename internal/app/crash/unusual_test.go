package crash_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestUnusual checks that an exception thrown by the program's own code has no usual meaning, and that no lack of
// memory is concluded if the GC recorded none.
func TestUnusual(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	rt, err := d.Runtime()
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	x, err := crash.Describe(context.Background(), v.Process, crash.Options{})
	require.NoError(t, err)
	require.Len(t, x.Exceptions, 2)
	frames := x.Exceptions[0].Frames
	p := crash.NewSubject(d.Default())
	ask := func(name string, frame answer.TraceFrame) (bool, string) {
		root, evidence := crash.Meaning(p, rt, crash.Fault{Type: name}, &answer.Exception{Frames: []answer.TraceFrame{frame}})
		return root.Unusual, evidence
	}
	const null, memory = "System.NullReferenceException", "System.OutOfMemoryException"
	unusual, evidence := ask(null, frames[0])
	assert.True(t, unusual, "Submit throws")
	assert.Contains(t, evidence, "Scenario.Submit(Int32) stands at a throw statement")
	for _, f := range []answer.TraceFrame{frames[1], frames[2], {}} {
		unusual, evidence = ask(null, f)
		assert.False(t, unusual, f.Function)
		assert.Empty(t, evidence)
	}
	unusual, _ = ask(memory, frames[1])
	assert.False(t, unusual, "the GC's record is not in the dump")
	zoo := testdump.Open(t, "net10-zoo")
	all, err := zoo.Runtime()
	require.NoError(t, err)
	fault, evidence := crash.Meaning(crash.NewSubject(zoo.Default()), all, crash.Fault{Type: memory}, &answer.Exception{})
	assert.True(t, fault.Unusual)
	assert.Contains(t, evidence, "the GC records no failed allocation")
	start := answer.TraceFrame{Function: answer.Text{S: "System.Private.CoreLib.dll!System.Threading.Thread.StartCore()"}}
	fault, evidence = crash.Meaning(crash.NewSubject(zoo.Default()), all, crash.Fault{Type: memory}, &answer.Exception{Frames: []answer.TraceFrame{start}})
	assert.Contains(t, fault.Cause.Text, "the system started no further thread")
	assert.Contains(t, evidence, "Thread.StartCore() throws it")
	unusual, _ = ask("Shop.OrderException", frames[0])
	assert.False(t, unusual, "there is none")

	// A method at another statement than a throw did not throw; the runtime threw for its code.
	const index, cast = "System.IndexOutOfRangeException", "System.InvalidCastException"
	helper := answer.TraceFrame{Function: answer.Text{S: "System.Private.CoreLib.dll!Internal.Runtime.CompilerHelpers.ThrowHelpers.ThrowIndexOutOfRangeException()"}}
	for _, c := range []struct {
		name  string
		frame answer.TraceFrame
		cause string
	}{
		{index, helper, "an index was outside the bounds of an array, a span or a string"},
		{index, frames[1], "an index was outside the bounds of an array, a span or a string"},
		{cast, frames[1], "an object was cast to a type that it does not have"},
		{cast, helper, ""},
		{index, frames[0], ""},
	} {
		fault, evidence := crash.Meaning(p, rt, crash.Fault{Type: c.name}, &answer.Exception{Frames: []answer.TraceFrame{c.frame}})
		assert.Equal(t, c.cause, fault.Cause.Text, c)
		assert.Equal(t, c.cause != "", strings.HasPrefix(evidence, "the runtime throws it"), evidence)
	}

	root := crash.Fault{Type: memory, Message: "thrown by hand", Unusual: true}
	assert.Equal(t, "System.OutOfMemoryException was not caught: thrown by hand", crash.LikelyCause([]crash.Fault{root}).Text)
}
