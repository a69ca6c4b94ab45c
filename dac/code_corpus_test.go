package dac_test

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/testcase"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestILMaps holds the maps of the oracle against ours.
func TestILMaps(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		good, bad, none := 0, 0, 0
		d.Oracle(t, "methods", func(m map[string]any) {
			rows, _ := m["map"].([]any)
			start := hex(m["code"])
			if len(rows) == 0 || start == 0 || start == ^target.Addr(0) {
				return
			}
			// The map can be that of another body than the one that runs now; with
			// several, the oracle mixes them.
			if first := hex(rows[0].([]any)[1]); first < start || first-start > 1<<16 {
				start = first
			}
			info, err := rt.MethodAt(start)
			if err != nil || info.Start != start {
				return // TestMethods looks at those
			}
			got, err := rt.ILMap(info)
			if errors.Is(err, target.ErrNotInDump) {
				none++
				return
			}
			want := map[[2]int64]bool{}
			for _, row := range rows {
				r := row.([]any)
				if at := uint64(hex(r[1]) - start); at <= info.Size {
					want[[2]int64{int64(r[0].(float64)), int64(at)}] = true
				}
			}
			have := map[[2]int64]bool{}
			for _, g := range got {
				have[[2]int64{int64(g.IL), int64(g.Native)}] = true
			}
			if !assert.ObjectsAreEqual(want, have) {
				if bad++; bad < 3 {
					t.Errorf("%v %v: %v got %v, want %v", m["signature"], info.Kind, err, have, want)
				}
				return
			}
			good++
		})
		t.Logf("%d maps right, %d wrong, %d not in the dump", good, bad, none)
		if good+bad == 0 {
			t.Skip("the oracle has no maps, or the dump lacks them")
		}
		return good
	})
}

// TestMethods holds every method of the oracle against ours: its name, and the
// code that belongs to it at its start, middle and end.
func TestMethods(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		good, bad, sizes, wrongSizes := 0, 0, 0, 0
		d.Oracle(t, "methods", func(m map[string]any) {
			if m["method"] == nil {
				return
			}
			md, err := rt.MethodDesc(hex(m["method"]))
			if !assert.NoError(t, err, m["signature"]) {
				return
			}
			name, err := rt.MethodName(md, dac.MethodFull)
			if name != m["signature"] {
				if bad++; bad < 6 {
					t.Errorf("got %q %v, want %q", name, err, m["signature"])
				}
				return
			}
			assert.Equal(t, hex(m["token"]), target.Addr(md.Token), m["signature"])
			hot, _ := m["hot"].([]any)
			size, _ := hot[1].(float64)
			start := hex(hot[0])
			if size == 0 || start == ^target.Addr(0) || md.Kind == dac.MethodFCall { // none, or in the runtime itself
				good++
				return
			}
			for _, off := range []uint64{0, uint64(size) / 2, uint64(size) - 1} {
				info, err := rt.MethodAt(start + target.Addr(off))
				if err != nil || info.Method != md || info.Start != start || uint64(info.Offset) != off {
					if bad++; bad < 6 {
						t.Errorf("%v %x+%x: %v, got %+v", m["signature"], uint64(start), off, err, info)
					}
					return
				}
				sizes++
				if info.Size != uint64(size) {
					if wrongSizes++; wrongSizes < 4 {
						t.Errorf("%v: %v size %d, want %v", m["signature"], info.Kind, info.Size, size)
					}
				}
			}
			good++
		})
		t.Logf("%d methods right, %d wrong; %d sizes, %d wrong", good, bad, sizes, wrongSizes)
		return good
	})
}

// TestStackMethods looks up every instruction pointer of the oracle's stacks.
func TestStackMethods(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		good, bad, offsets, wrongOffsets := 0, 0, 0, 0
		d.Oracle(t, "stacks", func(m map[string]any) {
			if m["kind"] != "ManagedMethod" || m["method"] == nil {
				return
			}
			info, err := rt.MethodAt(hex(m["ip"]))
			if err != nil || info.Method == nil || info.Method.Addr != hex(m["method"]) {
				if bad++; bad < 6 {
					t.Errorf("%v %v: %v, got %+v", m["ip"], m["signature"], err, info)
				}
				return
			}
			good++
			want, ok := m["il"].(float64)
			// The oracle gives that of the call, and no mapping where we go back to
			// one; on the first frame it is that of the address itself.
			call := info
			call.Offset--
			before, _, err := rt.ILOffset(call)
			il, _, _ := rt.ILOffset(info)
			if ok && err == nil && want > 0 {
				if offsets++; before != int(want) && il != int(want) {
					if wrongOffsets++; wrongOffsets < 4 {
						list, _ := rt.ILMap(info)
						t.Errorf("%v %v+%x: IL offset %d, want %v %v", m["signature"], info.Kind, info.Offset, before, want, list)
					}
				}
			}
		})
		t.Logf("%d frames right, %d wrong; %d IL offsets, %d wrong", good, bad, offsets, wrongOffsets)
		return good
	})
}

// TestSourceLines finds the source of every frame that is in the debuggee.
func TestSourceLines(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
		found, missing := 0, 0
		d.Oracle(t, "stacks", func(m map[string]any) {
			if m["kind"] != "ManagedMethod" || m["module"] != "Debuggee.dll" {
				return
			}
			info, err := rt.MethodAt(hex(m["ip"]))
			if err != nil || info.Method == nil || info.Method.Token.IsNil() {
				return
			}
			info.Offset--
			line, err := rt.SourceLine(info)
			if err != nil {
				missing++ // without map: an optimized wrapper, or not in the dump
				return
			}
			found++
			assert.Regexp(t, `^/src/\w+\.cs$`, line.File)
			assert.Positive(t, line.Line)
		})
		t.Logf("%d lines, %d frames without", found, missing)
		if found+missing > 0 {
			assert.Greater(t, found, missing, "frames with a line")
		}
		if found == 0 {
			t.Skip("no frame is in the debuggee")
		}
		return found
	})
}

// TestOtherPDB: the PDB of another build is refused.
func TestOtherPDB(t *testing.T) {
	c := testcase.Open(t, "net10-zoo-withheap")
	d, err := sosgo.Open(c.Path, sosgo.Options{Modules: []string{testcase.ModuleSet(t, "net8-linux")}, NoLocalFiles: true})
	require.NoError(t, err)
	defer d.Close()
	rt, err := d.Runtime()
	require.NoError(t, err)
	mods, err := rt.Modules()
	require.NoError(t, err)
	for _, m := range mods {
		if p, _ := m.Path(); dac.BaseName(p) == "Debuggee.dll" {
			_, err := m.PDB()
			assert.ErrorIs(t, err, os.ErrNotExist)
			assert.ErrorContains(t, err, "the module names")
			return
		}
	}
	t.Error("no Debuggee.dll")
}
