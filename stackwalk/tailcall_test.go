package stackwalk_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestTailCallHelpers: the methods that make explicit tail calls are known by their names.
func TestTailCallHelpers(t *testing.T) {
	for name, want := range map[string]bool{
		"ILStubClass.IL_STUB_StoreTailCallArgs(System.String)":                                         true,
		"ILStubClass.IL_STUB_CallTailCallTarget(IntPtr, IntPtr, Byte ByRef)":                           true,
		"System.Runtime.CompilerServices.RuntimeHelpers.DispatchTailCalls(IntPtr, Void (IntPtr), Int)": true,
		"ILStubClass.IL_STUB_PInvoke()":                                                                false,
		"Mine.DispatchTailCalls()":                                                                     false,
		"":                                                                                             false,
	} {
		assert.Equal(t, want, stackwalk.IsTailCallHelper(name), name)
	}
}

// TestUnknownTailCalls: where the layout does not tell where a thread keeps the arguments of a tail call, that is an error
// of the threads that may be making one, and of no other.
func TestUnknownTailCalls(t *testing.T) {
	for name, known := range map[string]bool{"net8-zoo": false, "win-net10-zoo": false, "net10-zoo": true} {
		d := testdump.Open(t, name)
		w, err := d.Walker()
		require.NoError(t, err)
		list, err := w.Runtime().Threads()
		require.NoError(t, err)
		errs := func(making bool) (out []error) {
			w.TailCall(&list[0], making, func(_ stackwalk.Root, err error) bool {
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
