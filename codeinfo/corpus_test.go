package codeinfo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// corpus calls f for every unpacked case of the corpus that SOSGO_CORPUS
// names, with the case's module files.
func corpus(t *testing.T, f func(t *testing.T, dir string, rt *dac.Runtime)) {
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS names no corpus")
	}
	cases, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	require.NoError(t, err)
	for _, c := range cases {
		dir := filepath.Dir(c)
		var manifest struct{ Modules string }
		b, err := os.ReadFile(c)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &manifest))
		t.Run(filepath.Base(dir), func(t *testing.T) {
			d, err := sosgo.Open(filepath.Join(dir, filepath.Base(dir)+".dmp"),
				sosgo.Options{Modules: []string{filepath.Join(dir, manifest.Modules)}})
			require.NoError(t, err)
			defer d.Close()
			rt, err := d.Runtime()
			if err != nil {
				t.Skip(err)
			}
			f(t, dir, rt)
		})
	}
}

// TestBodiesOfCorpus decodes all that is recorded beside every method of the
// oracle and holds it against what must be true of it.
func TestBodiesOfCorpus(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		b, err := os.ReadFile(filepath.Join(dir, "oracle", "methods.jsonl"))
		if err != nil {
			t.Skip(err)
		}
		var d codeinfo.GCDecoder
		methods, absent, slots, clauses := 0, 0, 0, 0
		for line := range bytes.Lines(b) {
			var m struct {
				Signature string
				Hot       [2]any
			}
			require.NoError(t, json.Unmarshal(line, &m))
			s, _ := m.Hot[0].(string)
			start, _ := strconv.ParseUint(s, 0, 64)
			size, _ := m.Hot[1].(float64)
			info, err := rt.MethodAt(target.Addr(start))
			if start == 0 || err != nil || info.Method == nil {
				continue
			}
			err = rt.DecodeGCInfo(&d, info)
			if err != nil {
				absent++
				assert.ErrorIs(t, err, target.ErrNotInDump, m.Signature)
				continue
			}
			methods++
			assert.GreaterOrEqual(t, d.CodeLength, uint32(size), m.Signature)
			slots += checkLiveSlots(t, &d, m.Signature)
			eh, err := rt.EHClauses(info)
			if err != nil {
				assert.ErrorIs(t, err, target.ErrNotInDump, m.Signature)
			}
			for _, c := range eh {
				clauses++
				assert.LessOrEqual(t, c.Try.End, d.CodeLength, m.Signature)
				assert.LessOrEqual(t, c.Handler.End, d.CodeLength, m.Signature)
			}
		}
		t.Logf("%d methods, %d not in the dump, %d live slots, %d clauses", methods, absent, slots, clauses)
	})
}

// checkLiveSlots asks for the slots wherever they can change.
func checkLiveSlots(t *testing.T, d *codeinfo.GCDecoder, name string) int {
	points, err := d.ChangeOffsets()
	require.NoError(t, err, name)
	var live []codeinfo.Slot
	n := 0
	for _, p := range slices.Clone(points) {
		live, err = d.LiveSlots(live[:0], codeinfo.Query{Offset: p, State: codeinfo.ActiveFrame})
		require.NoError(t, err, name)
		n += len(live)
	}
	return n
}

var goldenGCInfo = regexp.MustCompile(`(?m)^entry point ([0-9A-F]+)\n.*\nGC info ([0-9A-F]+)\n`)

// TestGCInfoAddresses holds the places of GC info against those of SOS.
func TestGCInfoAddresses(t *testing.T) {
	corpus(t, func(t *testing.T, dir string, rt *dac.Runtime) {
		files, err := filepath.Glob(filepath.Join(dir, "sos", "gcinfo-*.txt"))
		require.NoError(t, err)
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range goldenGCInfo.FindAllStringSubmatch(string(b), -1) {
				entry, _ := strconv.ParseUint(m[1], 16, 64)
				info, err := rt.MethodAt(target.Addr(entry))
				require.NoError(t, err)
				assert.Equal(t, strings.ToLower(m[2]), fmt.Sprintf("%016x", uint64(info.GCInfo)))
			}
		}
	})
}
