package graph_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestUndecodedFrames: if a method's GC info is not in the dump, there is an error, and the words of the frame that
// look like references are roots, marked as such. The oracle's roots of the frame, from the module's file, are among
// them.
func TestUndecodedFrames(t *testing.T) {
	testdump.Corpus(t, testcase.Named("win-net10-stacks-withheap", "win-net8-stacks-withheap", "win-net10-zoo-withheap"), func(t *testing.T, d *testdump.Dump) int {
		r, _ := reader(t, d)
		guessed, exact := map[target.Addr]map[target.Addr]bool{}, map[target.Addr]bool{}
		for root, err := range r.All(t.Context(), graph.RootOptions{}) {
			switch {
			case err != nil:
				assert.ErrorIs(t, err, target.ErrNotInDump)
			case root.Kind != graph.RootStack:
			case !root.Conservative:
				exact[root.Frame.SP] = true
			default:
				assert.True(t, root.Interior && root.Pinned)
				if guessed[root.Frame.SP] == nil {
					guessed[root.Frame.SP] = map[target.Addr]bool{}
				}
				guessed[root.Frame.SP][root.Object] = true
			}
		}
		assert.NotEmpty(t, guessed)
		for sp := range guessed {
			assert.False(t, exact[sp], "%#x", uint64(sp))
		}
		return len(guessed)
	})
}

// TestConservative: the environment of a process reports whether its collector treats every word as a reference. Roots
// that are exact otherwise are then among the roots, and marked.
func TestConservative(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	r, _ := reader(t, d)
	on, err := r.Conservative()
	require.NoError(t, err)
	assert.False(t, on)
	unknown, _ := reader(t, testdump.Open(t, "win-net10-zoo"))
	_, err = unknown.Conservative()
	assert.ErrorIs(t, err, target.ErrNotInDump, "a minidump has no environment")
	held := map[target.Addr]bool{}
	for root, err := range r.All(t.Context(), graph.RootOptions{}) {
		require.NoError(t, err)
		if root.Kind == graph.RootStack && root.Address != 0 && root.Frame.Explicit == "" && !root.Thread.Managed.Cooperative {
			held[root.Object] = true
		}
	}
	require.NotEmpty(t, held)

	at, length := environment(t, d)
	text := "DOTNET_gcConservative=1\x00X="
	require.GreaterOrEqual(t, length, len(text))
	text += strings.Repeat("y", length-len(text))
	changed := d.Damaged(t, testdump.Damage{At: at, Bytes: []byte(text)})
	t.Cleanup(func() { assert.NoError(t, changed.Close()) })
	v, err := changed.View("")
	require.NoError(t, err)
	r, err = v.RootReader()
	require.NoError(t, err)
	on, err = r.Conservative()
	require.NoError(t, err)
	require.True(t, on)
	count := 0
	for root, err := range r.All(t.Context(), graph.RootOptions{}) {
		require.NoError(t, err)
		if root.Kind == graph.RootStack && (root.Frame == nil || root.Frame.Explicit == "") {
			count++
			assert.True(t, root.Conservative && root.Interior && root.Pinned)
			delete(held, root.Object)
		}
	}
	assert.Empty(t, held)
	assert.NotZero(t, count)
}

// environment returns the address of the environment variables on the first stack, and their length.
func environment(t *testing.T, d *testdump.Dump) (target.Addr, int) {
	t.Helper()
	file, ok := d.Target().(interface{ Environment() []string })
	require.True(t, ok)
	all := strings.Join(file.Environment(), "\x00")
	require.Contains(t, all, "LANG=C.UTF-8")
	for region := range d.Target().Regions() {
		if region.Size > 1<<24 {
			continue
		}
		b, err := target.Bytes(d.Target(), region.Start, int(region.Stored))
		if i := bytes.Index(b, []byte(all)); err == nil && i >= 0 {
			return region.Start + target.Addr(i), len(all)
		}
	}
	t.Fatal("the environment is nowhere")
	return 0, 0
}
