package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// corpus calls f for the runtime of each case of the corpus. f returns the number of comparisons.
func corpus(t *testing.T, f func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		return f(t, d, rt)
	})
}

// TestProbes checks that no probe of an opened runtime fails.
func TestProbes(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		for _, p := range rt.Probes() {
			assert.NotEqual(t, dac.ProbeFailed, p.Result, "%s: %s", p.Name, p.Detail)
		}
		t.Log(rt.Layout().Sources(), rt.Instance().Version())
		return len(rt.Probes())
	})
}

func hex(v any) target.Addr { return testdump.Address(v) }

// TestTypes compares every type with the oracle.
func TestTypes(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		good, bad := 0, 0
		d.Oracle(t, "types", func(m map[string]any) {
			name, _ := m["name"].(string)
			if m["mt"] == nil || name == "" || strings.Contains(name, "<T1>") { // ClrMD cannot name the argument
				return
			}
			mt, err := rt.TrustedMethodTable(hex(m["mt"]))
			var got string
			if err == nil {
				got, err = rt.TypeName(mt.Addr, dac.NameManaged)
			}
			if got != name {
				bad++
				if bad < 6 {
					t.Errorf("%v %s: got %q %v", m["mt"], name, got, err)
				}
				return
			}
			good++
		})
		t.Logf("%d names right, %d wrong", good, bad)
		return good
	})
}
