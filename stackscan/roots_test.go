package stackscan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/target"
)

// TestRootsAgainstOracle: every reference that the runtime finds in a managed
// activation is found. There may be more: see Roots.
func TestRootsAgainstOracle(t *testing.T) {
	testdump.Corpus(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no runtime with managed frames")
		}
		want := map[string]bool{}
		d.Oracle(t, "stackroots", func(line map[string]any) {
			if line["register"] == nil {
				return // of an explicit frame
			}
			id, at := uint32(line["osId"].(float64)), testdump.Address(line["address"])
			if at == 0 {
				frame := line["frame"].(map[string]any)
				want[fmt.Sprintf("%x %v of %x", id, line["register"], testdump.Address(frame["sp"]))] = true
				return
			}
			want[fmt.Sprintf("%x %x", id, at)] = true
		})
		got, count, failed := map[string]bool{}, 0, 0
		eachStack(t, d.Dump, func(w *stackscan.Walker, th *sosgo.Thread) {
			for r, err := range w.Roots(th.Managed, th.OS.Registers) {
				if err != nil {
					failed++
					continue
				}
				count++
				if r.Addr == 0 {
					got[fmt.Sprintf("%x %s of %x", th.OS.ID, target.RegName(target.ArchAMD64, r.Register), r.Frame.SP)] = true
					continue
				}
				got[fmt.Sprintf("%x %x", th.OS.ID, r.Addr)] = true
			}
		})
		missing := 0
		for w := range want {
			if !got[w] {
				missing++
			}
		}
		if failed == 0 {
			assert.Zero(t, missing)
		}
		t.Logf("%d roots, %d expected, %d missing, %d errors", count, len(want), missing, failed)
	})
}
