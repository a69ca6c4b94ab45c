package graph_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// interrupted is a dump of a process in which a fault interrupted a method with a local in an untracked slot. Its
// program is Interrupted.cs.
var interrupted = &testdump.Dump{Case: &testcase.Case{Path: "../testdata/dumps/roots/net10-interrupted/net10-interrupted.dmp.zst"}}

// interruptedObjects returns the object that the local refers to, and an object without a reference.
func interruptedObjects(t *testing.T) (held, dropped target.Addr) {
	t.Helper()
	facts, err := os.ReadFile(filepath.Join(filepath.Dir(interrupted.Path), "facts.txt"))
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	_, err = fmt.Sscanf(string(facts), "dropped 0x%x Dropped\nheld 0x%x Held", &dropped, &held)
	require.NoError(t, err)
	return held, dropped
}

// TestInterruptedFrame tests that a frame reports its untracked slots even if a fault interrupts it outside of safe
// points and interruptible ranges. An object is not called garbage if that frame's GC info is damaged or not in the
// dump.
func TestInterruptedFrame(t *testing.T) {
	held, dropped := interruptedObjects(t)
	d, _ := testdump.OverlaidFile(t, interrupted.Path, sosgo.Options{Offline: true})
	verdict := func(d *sosgo.Dump, object target.Addr) *answer.RootPaths {
		v, err := d.View("")
		require.NoError(t, err)
		r, err := memory.GCRoot(t.Context(), v.Process, object, graph.HoldOptions{})
		require.NoError(t, err)
		return r
	}
	r := verdict(d, held)
	require.Len(t, r.Paths, 1)
	assert.Equal(t, answer.Held, r.Verdict)
	assert.Equal(t, "Program.Interrupted(Int32)", r.Paths[0].Root.Frame.Method.S)
	garbage := verdict(d, dropped)
	assert.Equal(t, answer.Garbage, garbage.Verdict)
	assert.Empty(t, garbage.Noted())

	v, err := d.View("")
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	method, err := dac.CodeOf(rt).MethodAt(r.Paths[0].Root.Frame.IP)
	require.NoError(t, err)
	damaged, _ := testdump.OverlaidFile(t, interrupted.Path, sosgo.Options{Offline: true}, testdump.Damage{At: method.GCInfo, Bytes: bytes.Repeat([]byte{0xff}, 16)})
	for name, d := range map[string]*sosgo.Dump{
		"damaged": damaged,
		"missing": interrupted.Without(t, target.Range{Start: method.GCInfo, End: method.GCInfo + 1}),
	} {
		r := verdict(d, held)
		require.Len(t, r.Paths, 1, name)
		assert.True(t, r.Paths[0].Root.Conservative, "%s: a word of the frame that only looks like a reference", name)
		assert.NotEmpty(t, r.Noted(), name)
		r = verdict(d, dropped)
		assert.Equal(t, answer.NotKnown, r.Verdict, name)
		assert.NotEmpty(t, r.Noted(), name)
	}
}
