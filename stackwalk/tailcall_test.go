package stackwalk

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestTailCallHelpers: the methods that make explicit tail calls are recognized by their names.
func TestTailCallHelpers(t *testing.T) {
	for name, want := range map[string]bool{
		"ILStubClass.IL_STUB_StoreTailCallArgs(System.String)":                                         true,
		"ILStubClass.IL_STUB_CallTailCallTarget(IntPtr, IntPtr, Byte ByRef)":                           true,
		"System.Runtime.CompilerServices.RuntimeHelpers.DispatchTailCalls(IntPtr, Void (IntPtr), Int)": true,
		"ILStubClass.IL_STUB_PInvoke()":                                                                false,
		"Mine.DispatchTailCalls()":                                                                     false,
		"":                                                                                             false,
	} {
		assert.Equal(t, want, isTailCallHelper(name), name)
	}
}

// TestUnknownTailCalls: if the layout does not have the place of a tail call's arguments, that is an error only for
// threads that may be making one.
func TestUnknownTailCalls(t *testing.T) {
	for name, known := range map[string]bool{"net8-zoo": false, "win-net10-zoo": false, "net10-zoo": true} {
		d, err := dump.Open(testcase.Canned(t, name).Path, dump.Options{})
		require.NoError(t, err)
		defer d.Close()
		rt, err := dac.Find(d, d, nil)[0].Open()
		require.NoError(t, err)
		w := NewWalker(rt)
		list, err := rt.Threads()
		require.NoError(t, err)
		errs := func(making bool) (out []error) {
			w.yieldTailCall(&list[0], making, func(_ Root, err error) bool {
				out = append(out, err)
				return true
			})
			return out
		}
		assert.Empty(t, errs(false), name)
		if known {
			assert.Empty(t, errs(true), name)
			continue
		}
		require.Len(t, errs(true), 1, name)
		assert.ErrorIs(t, errs(true)[0], target.ErrUnsupported, name)
	}
}
