package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestWithoutUnwindData: an ARM64 process with a C library that is not in the dump has the same frames, found by the
// leaf's link register and the frame records, and no frames past the first function of a thread. Signatures do not
// matter.
func TestWithoutUnwindData(t *testing.T) {
	testdump.Corpus(t, testcase.Named("arm64-net10-*"), func(t *testing.T, d *testdump.Dump) (compared int) {
		var libc target.Range
		for _, m := range d.Target().Modules() {
			if strings.Contains(m.Path, "/libc.so") {
				libc = target.Range{Start: m.Base, End: m.Base + target.Addr(m.Size)}
			}
		}
		require.NotZero(t, libc.Size())
		whole, err := d.Walker()
		require.NoError(t, err)
		without, err := d.Without(t, libc).Walker()
		require.NoError(t, err)
		list, err := d.Threads()
		require.NoError(t, err)
		for i := range list {
			if list[i].OS == nil {
				continue
			}
			want := nativeIPs(t, whole, &list[i])
			assert.Equal(t, want, nativeIPs(t, without, &list[i]), "thread %d", i)
			compared += len(want)
		}
		return compared
	})
}

// nativeIPs returns the instruction pointers of a thread's activations.
func nativeIPs(t *testing.T, w *stackwalk.Walker, th *stackwalk.Thread) (out []target.Addr) {
	for f := range w.Walk(t.Context(), th.Managed, th.OS.Registers, stackwalk.WalkOptions{Native: true}) {
		assert.NoError(t, f.Err)
		if f.Kind != stackwalk.FrameExplicit {
			out = append(out, f.IP)
		}
	}
	return out
}

// TestSignedReturns: the return addresses of all native frames, signed or not, are among the return addresses of the
// stack. The leaf's return address is in a register.
func TestSignedReturns(t *testing.T) {
	testdump.Corpus(t, testcase.Named("arm64-net10-stacks-pac-withheap"), func(t *testing.T, d *testdump.Dump) (compared int) {
		w, err := d.Walker()
		require.NoError(t, err)
		list, err := d.Threads()
		require.NoError(t, err)
		for i := range list {
			if list[i].OS == nil {
				continue
			}
			stack, err := list[i].Stack(d.Target())
			require.NoError(t, err)
			found := map[target.Addr]bool{}
			for _, r := range stack.Ranges {
				for ret := range w.Returns(t.Context(), r) {
					found[ret.IP] = true
				}
			}
			n := 0
			for f := range w.Walk(t.Context(), list[i].Managed, list[i].OS.Registers, stackwalk.WalkOptions{Native: true}) {
				if n++; n <= 2 || !strings.Contains(f.Module.Path, "/libc.so") {
					continue
				}
				if _, err := target.Bytes(d.Memory(), f.IP-4, 4); err == nil {
					assert.True(t, found[f.IP], "thread %d: %v", i, f.IP)
					compared++
				}
			}
		}
		return compared
	})
}
