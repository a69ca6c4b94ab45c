package acceptance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestFoldedWalk: seen from one runtime, a stack has its own frames, and a count in place of the
// other's; together they are all frames of the stack.
func TestFoldedWalk(t *testing.T) {
	d := testdump.Open(t, "sxs")
	raw := slices.Clone(mustRaw(t, d))
	folds := 0
	for _, inst := range d.Runtimes() {
		v, err := d.View(fmt.Sprint(inst.Index))
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		list, err := v.Threads()
		require.NoError(t, err)
		for i := range list {
			if list[i].Managed == nil || list[i].OS == nil {
				continue
			}
			all, own, others, named := 0, 0, 0, 0
			for f := range d.MergedWalk(t.Context(), list[i].ID(), stackwalk.WalkOptions{}) {
				all++
				if f.Runtime == rt {
					named++
				}
			}
			for f := range v.FoldedWalk(t.Context(), list[i].ID(), stackwalk.WalkOptions{}) {
				if f.Kind != stackwalk.FrameOther {
					own++
					continue
				}
				folds++
				others += f.Count
				assert.NotSame(t, rt, f.Runtime)
				assert.Positive(t, f.Count)
			}
			assert.Equal(t, all, own+others)
			assert.LessOrEqual(t, named, own)
		}
		out := runLines(t.Context(), raw, 1, fmt.Sprintf("runtimes %d", inst.Index), "clrstack -all")
		assert.Contains(t, out.stdout, fmt.Sprintf("frames of the runtime #%d: use -runtime %d]", 1-inst.Index, 1-inst.Index))
		for _, line := range []string{"pstacks", "stacks", "eestack"} {
			out := runLines(t.Context(), raw, 1, fmt.Sprintf("runtimes %d", inst.Index), line)
			assert.Contains(t, out.stderr, fmt.Sprintf("the frames of runtime #%d alone", inst.Index), line)
			assert.Contains(t, out.stderr, fmt.Sprintf("-runtime %d", 1-inst.Index), line)
		}
	}
	assert.NotZero(t, folds)
}
