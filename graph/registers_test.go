package graph_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestUndecodedRegisters: a frame without GC info also keeps what it had in registers, which the methods that it called have saved in their frames.
func TestUndecodedRegisters(t *testing.T) {
	for _, name := range []string{"net10-stacks", "net10-async"} {
		d := testdump.Open(t, name)
		r, h := reader(t, d)
		code := dac.CodeOf(h.Runtime())
		tried := map[target.Addr]bool{}
		for root, err := range r.All(t.Context(), graph.RootOptions{}) {
			if err != nil || root.Kind != graph.RootStack || root.Address != 0 || root.Frame == nil || root.Frame.Index == 0 || root.Conservative {
				continue
			}
			info, err := code.DescribeGCInfo(root.Frame.IP)
			require.NoError(t, err)
			if tried[info.GCInfo] {
				continue
			}
			tried[info.GCInfo] = true
			changed := (&testdump.Altered{Target: d.Target(), Holes: []target.Range{{Start: info.GCInfo, End: info.GCInfo + 8}}}).Open(t, d.Options())
			v, err := changed.View("")
			require.NoError(t, err)
			without, err := v.RootReader()
			require.NoError(t, err)
			lost, kept := false, false
			for other, err := range without.All(t.Context(), graph.RootOptions{}) {
				lost = lost || err != nil
				kept = kept || other.Kind == graph.RootStack && other.Conservative && other.Object == root.Object && other.Frame != nil && other.Frame.SP == root.Frame.SP
			}
			assert.True(t, lost, "%s: %#x", name, uint64(root.Frame.IP))
			assert.True(t, kept, "%s: %#x in a register of %#x", name, uint64(root.Object), uint64(root.Frame.IP))
		}
		t.Log(name, len(tried))
		require.NotEmpty(t, tried, name)
	}
}
