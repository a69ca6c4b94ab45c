package sosgo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestMergedWalk stitches the relay of two CLRs on one thread, whose order the
// program's own manifest states.
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
		method, err := code.Of(f.Runtime).MethodName(md, code.MethodQualified)
		require.NoError(t, err)
		if strings.HasPrefix(method, "Sxs.Relay.") {
			method, _, _ = strings.Cut(method, "(")
			got = append(got, f.Runtime.Instance().Version()[:2]+" "+method)
		}
	}
	require.Equal(t, []string{"8. Sxs.Relay.Park", "8. Sxs.Relay.Enter", "10 Sxs.Relay.Enter", "8. Sxs.Relay.Enter",
		"10 Sxs.Relay.Enter", "8. Sxs.Relay.Enter"}, got)
}
