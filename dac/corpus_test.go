package dac_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/target"
)

// corpus calls f for every unpacked case of the corpus that SOSGO_CORPUS names.
func corpus(t *testing.T, f func(t *testing.T, dir string, rt *dac.Runtime)) {
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS names no corpus")
	}
	dirs, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	require.NoError(t, err)
	for _, m := range dirs {
		dir := filepath.Dir(m)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			d, err := dump.Open(filepath.Join(dir, filepath.Base(dir)+".dmp"), dump.Options{})
			require.NoError(t, err)
			defer d.Close()
			for _, i := range dac.Find(d, d, nil) {
				if i.Flavor == dac.FlavorNativeAOT {
					continue
				}
				rt, err := i.Open()
				if err != nil {
					t.Errorf("open %s: %v", i.Module.Path, err)
					continue
				}
				f(t, dir, rt)
				break
			}
		})
	}
}

func TestProbes(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		for _, p := range rt.Probes() {
			t.Logf("%s: %v: %s", p.Name, p.Result, p.Detail)
		}
		t.Log(rt.Layout().Sources(), rt.Instance().Version())
	})
}

func lines(t *testing.T, path string, f func(map[string]any)) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	sc := bufio.NewScanner(file)
	sc.Buffer(nil, 1<<26)
	for sc.Scan() {
		var m map[string]any
		require.NoError(t, json.Unmarshal(sc.Bytes(), &m))
		f(m)
	}
}

func hex(v any) target.Addr {
	s, _ := v.(string)
	n, _ := strconv.ParseUint(s, 0, 64)
	return target.Addr(n)
}

// TestTypes holds every type of the oracle against ours.
func TestTypes(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		good, bad := 0, 0
		lines(t, filepath.Join(dir, "oracle", "types.jsonl"), func(m map[string]any) {
			name, _ := m["name"].(string)
			if m["mt"] == nil || name == "" {
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
