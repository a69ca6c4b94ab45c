package ondumps_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// codeCorpus calls f for the methods of each case of the corpus. f returns the number of comparisons.
func codeCorpus(t *testing.T, f func(t *testing.T, d *testdump.Dump, methods *dac.CodeReader) int) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		return f(t, d, dac.CodeOf(rt))
	})
}

// TestILMaps compares IL maps with the oracle.
func TestILMaps(t *testing.T) {
	codeCorpus(t, func(t *testing.T, d *testdump.Dump, methods *dac.CodeReader) int {
		good, bad, none := 0, 0, 0
		d.Oracle(t, "methods", func(m map[string]any) {
			rows, _ := m["map"].([]any)
			start := testdump.Address(m["code"])
			if len(rows) == 0 || start == 0 || start == ^target.Addr(0) {
				return
			}
			// The map may belong to another body than the one that runs now. The oracle mixes the maps of
			// several bodies.
			if first := testdump.Address(rows[0].([]any)[1]); first < start || first-start > 1<<16 {
				start = first
			}
			info, err := methods.MethodAt(start)
			if err != nil || info.Start != start {
				return // covered by TestMethods
			}
			got, err := methods.ILMap(info)
			if errors.Is(err, target.ErrNotInDump) {
				none++
				return
			}
			want := map[[2]int64]bool{}
			for _, row := range rows {
				r := row.([]any)
				if at := uint64(testdump.Address(r[1]) - start); at <= info.Size {
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

// TestMethods compares the name of every method with the oracle, and looks up the start, middle and end of its
// code.
func TestMethods(t *testing.T) {
	codeCorpus(t, func(t *testing.T, d *testdump.Dump, methods *dac.CodeReader) int {
		testcase.NeedModules(t, d.Case)
		good, bad, sizes, wrongSizes := 0, 0, 0, 0
		d.Oracle(t, "methods", func(m map[string]any) {
			if m["method"] == nil {
				return
			}
			md, err := methods.MethodDesc(testdump.Address(m["method"]))
			if !assert.NoError(t, err, m["signature"]) {
				return
			}
			name, err := methods.MethodName(md, dac.MethodFull)
			if name != m["signature"] {
				if bad++; bad < 6 {
					t.Errorf("got %q %v, want %q", name, err, m["signature"])
				}
				return
			}
			assert.Equal(t, testdump.Address(m["token"]), target.Addr(md.Token), m["signature"])
			hot, _ := m["hot"].([]any)
			size, _ := hot[1].(float64)
			start := testdump.Address(hot[0])
			if size == 0 || start == ^target.Addr(0) || md.Kind == dac.MethodFCall { // no code, or in the runtime itself
				good++
				return
			}
			for _, off := range []uint64{0, uint64(size) / 2, uint64(size) - 1} {
				info, err := methods.MethodAt(start + target.Addr(off))
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
	codeCorpus(t, func(t *testing.T, d *testdump.Dump, methods *dac.CodeReader) int {
		good, bad, offsets, wrongOffsets := 0, 0, 0, 0
		d.Oracle(t, "stacks", func(m map[string]any) {
			if m["kind"] != "ManagedMethod" || m["method"] == nil {
				return
			}
			info, err := methods.MethodAt(testdump.Address(m["ip"]))
			if err != nil || info.Method == nil || info.Method.Addr != testdump.Address(m["method"]) {
				if bad++; bad < 6 {
					t.Errorf("%v %v: %v, got %+v", m["ip"], m["signature"], err, info)
				}
				return
			}
			good++
			want, ok := m["il"].(float64)
			// The oracle has the call's offset, or no mapping where ours is an earlier one. For the first frame
			// it is the offset of the address itself.
			call := info
			call.Offset--
			before, _, err := methods.ILOffset(call)
			il, _, _ := methods.ILOffset(info)
			if ok && err == nil && want > 0 {
				if offsets++; before != int(want) && il != int(want) {
					if wrongOffsets++; wrongOffsets < 4 {
						list, _ := methods.ILMap(info)
						t.Errorf("%v %v+%x: IL offset %d, want %v %v", m["signature"], info.Kind, info.Offset, before, want, list)
					}
				}
			}
		})
		t.Logf("%d frames right, %d wrong; %d IL offsets, %d wrong", good, bad, offsets, wrongOffsets)
		return good
	})
}

// TestSourceLines finds the source line of every frame in the debuggee.
func TestSourceLines(t *testing.T) {
	codeCorpus(t, func(t *testing.T, d *testdump.Dump, methods *dac.CodeReader) int {
		testcase.NeedModules(t, d.Case)
		found, missing := 0, 0
		d.Oracle(t, "stacks", func(m map[string]any) {
			if m["kind"] != "ManagedMethod" || m["module"] != "Debuggee.dll" {
				return
			}
			info, err := methods.MethodAt(testdump.Address(m["ip"]))
			if err != nil || info.Method == nil || info.Method.Token.IsNil() {
				return
			}
			info.Offset--
			line, err := methods.SourceLine(info)
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
