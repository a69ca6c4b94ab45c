package dac_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/target"
)

// corpus calls f for the runtime of each case of the corpus.
func corpus(t *testing.T, f func(t *testing.T, dir string, rt *dac.Runtime)) {
	testdump.Corpus(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("compiled ahead of time")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		f(t, d.Dir, rt)
	})
}

func TestProbes(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		for _, p := range rt.Probes() {
			t.Logf("%s: %v: %s", p.Name, p.Result, p.Detail)
		}
		t.Log(rt.Layout().Sources(), rt.Instance().Version())
	})
}

func lines(t *testing.T, path string, f func(map[string]any)) { testdump.Lines(t, path, f) }

func hex(v any) target.Addr { return testdump.Address(v) }

// TestTypes holds every type of the oracle against ours.
func TestTypes(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		good, bad := 0, 0
		lines(t, filepath.Join(dir, "oracle", "types.jsonl"), func(m map[string]any) {
			name, _ := m["name"].(string)
			if m["mt"] == nil || name == "" || strings.Contains(name, "<T1>") { // of an argument that ClrMD can't name
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
	})
}
