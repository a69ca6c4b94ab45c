package scrub

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// TestSearchIsNoRead checks that little stays of the data of the runtime's library, which readers search for its version and its table of globals.
func TestSearchIsNoRead(t *testing.T) {
	for _, file := range []string{"net31-zoo/net31-zoo", "net10-single/net10-single", "bare/net10-zoo-kernel/net10-zoo-kernel"} {
		d, err := process.Open("../../../testdata/dumps/"+file+".dmp.zst", process.Options{Offline: true})
		require.NoError(t, err)
		j, _, err := prepare(t.Context(), d, Options{}, &answer.Scrubbed{})
		require.NoError(t, err)
		stays, all := 0, 0
		for r := range d.File().Regions() {
			if !d.Runtimes()[0].Module.Contains(r.Start) || j.areas.at(r.Start).kind != areaWords {
				continue
			}
			b, err := target.Bytes(d.File(), r.Start, int(r.Stored))
			require.NoError(t, err)
			for i := 0; i+wordSize <= len(b); i += wordSize {
				a := r.Start + target.Addr(i)
				if v := le.Uint64(b[i:]); v != 0 && !j.isPointer(v) {
					all++
					if j.marks.page(a).hasIn(a) {
						stays++
					}
				}
			}
		}
		t.Logf("%s: %d of %d words that are no pointers stay", file, stays, all)
		assert.Greater(t, all, 500, file)
		assert.Less(t, stays, all/3, file)
		require.NoError(t, d.Close())
	}
}
