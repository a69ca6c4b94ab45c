package crash_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk/crash"
)

// TestUnusual: the type of an exception has no usual meaning where the program's own code throws it, and no lack of memory is
// claimed where the GC has recorded none.
func TestUnusual(t *testing.T) {
	d := testdump.Open(t, "net10-crash-nested")
	rt, err := d.Runtime()
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	x, err := v.Crash(context.Background())
	require.NoError(t, err)
	require.Len(t, x.Exceptions, 2)
	frames := x.Exceptions[0].Frames
	p := &crash.Process{Target: d.Target()}
	ask := func(name string, frame answer.TraceFrame) (bool, string) {
		return crash.Unusual(p, rt, crash.Fault{Type: name}, &answer.Exception{Frames: []answer.TraceFrame{frame}})
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
	unusual, evidence = crash.Unusual(&crash.Process{Target: zoo.Target()}, all, crash.Fault{Type: memory}, &answer.Exception{})
	assert.True(t, unusual)
	assert.Contains(t, evidence, "the GC records no failed allocation")
	unusual, _ = ask("Shop.OrderException", frames[0])
	assert.False(t, unusual, "there is none")

	root := crash.Fault{Type: memory, Message: "thrown by hand", Unusual: true}
	assert.Equal(t, "System.OutOfMemoryException was not caught: thrown by hand", crash.LikelyCause([]crash.Fault{root}))
}
