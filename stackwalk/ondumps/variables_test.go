package ondumps_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestVariables checks the arguments of a recursive method that is called with one less each time: their names, types
// and values in every frame, on all runtimes.
func TestVariables(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-stacks-*"), func(t *testing.T, d *testdump.Dump) int {
		depth := int64(0)
		framesOf(t, d.Dump, "Recurse", func(f *stackwalk.Frame, r *objects.Reader) {
			args, locals, err := stackwalk.Variables(f, r)
			require.NoError(t, err)
			assert.Empty(t, locals)
			require.Len(t, args, 2)
			assert.Equal(t, []string{"depth", "tag"}, []string{args[0].Name, args[1].Name})
			name, err := args[1].TypeName(dac.NameManaged)
			require.NoError(t, err)
			assert.Equal(t, "System.String", name)
			v, err := args[0].Value()
			require.NoError(t, err)
			n, err := v.Int()
			require.NoError(t, err)
			assert.Equal(t, depth, n)
			w, err := args[0].Word()
			require.NoError(t, err)
			assert.EqualValues(t, depth, w)
			assert.Equal(t, 4, args[0].Size())
			depth++
		})
		return int(depth)
	})
}

// TestVariablesWithoutPlace: an argument that was optimised away has no value, as opposed to zero.
func TestVariablesWithoutPlace(t *testing.T) {
	d := testdump.OpenCase(t, "net10-stacks-withheap")
	seen := 0
	framesOf(t, d.Dump, "Sleep", func(f *stackwalk.Frame, r *objects.Reader) {
		args, _, err := stackwalk.Variables(f, r)
		require.NoError(t, err)
		require.Len(t, args, 1)
		assert.False(t, args[0].Located)
		assert.NoError(t, args[0].Err)
		_, err = args[0].Value()
		assert.ErrorIs(t, err, target.ErrUnsupported)
		_, err = args[0].Word()
		assert.ErrorIs(t, err, target.ErrUnsupported)
		seen++
	})
	assert.NotZero(t, seen)
}

func TestVariablesOfOtherFrames(t *testing.T) {
	_, _, err := stackwalk.Variables(&stackwalk.Frame{Kind: stackwalk.FrameNative}, nil)
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// framesOf calls f for the managed frames of all threads in methods with a name.
func framesOf(t *testing.T, d *sosgo.Dump, name string, f func(*stackwalk.Frame, *objects.Reader)) {
	w, err := d.Walker()
	require.NoError(t, err)
	r, err := d.Objects()
	require.NoError(t, err)
	threads, err := d.Threads()
	require.NoError(t, err)
	for i := range threads {
		th := &threads[i]
		if th.OS == nil || th.Managed == nil {
			continue
		}
		for frame := range w.Walk(context.Background(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{}) {
			if frame.Kind != stackwalk.FrameManaged {
				continue
			}
			if got, err := frame.Code.Method.Name(); err == nil && got == name {
				f(&frame, r)
			}
		}
	}
}
