package acceptance_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestMergedWalk merges the frames of two CLRs on one thread; the program's manifest states their
// order.
func TestMergedWalk(t *testing.T) {
	d := testdump.OpenCase(t, "sxs-full")
	threads, err := d.Threads()
	require.NoError(t, err)
	var got []string
	for f := range d.MergedWalk(context.Background(), threads[0].ID(), stackwalk.WalkOptions{}) {
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		md, err := f.Method()
		require.NoError(t, err)
		method, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		require.NoError(t, err)
		if strings.HasPrefix(method, "Sxs.Relay.") {
			method, _, _ = strings.Cut(method, "(")
			got = append(got, f.Runtime.Instance().Version()[:2]+" "+method)
		}
	}
	require.Equal(t, []string{"8. Sxs.Relay.Park", "8. Sxs.Relay.Enter", "10 Sxs.Relay.Enter", "8. Sxs.Relay.Enter",
		"10 Sxs.Relay.Enter", "8. Sxs.Relay.Enter"}, got)
}

// TestNativeWalk walks a process without a CLR: from the thread that waits for the writer of the
// dump to the function of the C library that started the program.
func TestNativeWalk(t *testing.T) {
	d := testdump.OpenCase(t, "nativeaot-crash-full")
	v, err := d.View("")
	require.NoError(t, err)
	symbols := d.Symbols()
	var names []string
	for f := range v.NativeWalker().Walk(context.Background(), nil, d.Target().Threads()[0].Registers, stackwalk.WalkOptions{}) {
		require.NoError(t, f.Err)
		require.Equal(t, stackwalk.FrameNative, f.Kind)
		if s, ok := symbols.At(f.IP); ok {
			names = append(names, s.Name)
		}
	}
	require.Greater(t, len(names), 10)
	require.Equal(t, "wait4", names[0])
	require.Contains(t, names, "__libc_start_main")
}
