package gcdump_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/export/gcdump"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/test/testheap"
)

// TestPerfView: PerfView's own files are read to the last byte by the decoder that sosgo's are read with.
func TestPerfView(t *testing.T) {
	root, err := testcase.ModuleRoot()
	require.NoError(t, err)
	for name, nodes := range map[string]int{"perfview-test1.gcdump.zst": 6482, "perfview-test2.gcdump.zst": 140391} {
		packed, err := os.ReadFile(filepath.Join(root, "..", "shared", "formats", name))
		if err != nil {
			t.Skip("PerfView's files are not here")
		}
		z, err := zstd.NewReader(nil)
		require.NoError(t, err)
		b, err := z.DecodeAll(packed, nil)
		require.NoError(t, err)
		d, err := decode(b)
		require.NoError(t, err, name)
		assert.Equal(t, nodes, len(d.nodes))
		sum := int64(0)
		for i := range d.nodes {
			sum += int64(d.nodes[i].size)
		}
		assert.Equal(t, d.total, sum, name)
		assert.Equal(t, decodedType{name: "UNDEFINED"}, d.types[0])
	}
}

// TestWrite checks that a file has the objects of the graph with sizes, types, addresses and references, all
// reachable from its root, and the same bytes for any number of workers.
func TestWrite(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		h := testheap.Of(t, d.Dump)
		g := h.Graph
		var b bytes.Buffer
		summary, err := gcdump.Write(t.Context(), &b, h, gcdump.Options{Process: "p", ID: 7, Garbage: true})
		require.NoError(t, err)
		one := *h
		one.Jobs = 1
		var again bytes.Buffer
		_, err = gcdump.Write(t.Context(), &again, &one, gcdump.Options{Process: "p", ID: 7, Garbage: true})
		require.NoError(t, err)
		require.True(t, bytes.Equal(b.Bytes(), again.Bytes()))
		f, err := decode(b.Bytes())
		require.NoError(t, err)
		assert.Equal(t, summary.Nodes, len(f.nodes))
		assert.Equal(t, summary.Types, len(f.types))
		assert.Equal(t, "p", f.process)
		assert.EqualValues(t, 7, f.id)
		assert.Equal(t, "sosgo", f.tool)
		types := h.Types(&summary.Gaps)
		total, edges := int64(0), uint64(0)
		for n := range graph.Node(g.Objects()) {
			o := &f.nodes[n]
			require.EqualValues(t, g.Address(n), o.address)
			require.EqualValues(t, g.Size(n), o.size)
			name, _, _ := strings.Cut(f.types[o.typ].name, " (Bytes > ")
			require.Equal(t, types[g.TypeIndex(n)].Name, name)
			require.Equal(t, types[g.TypeIndex(n)].Path, f.types[o.typ].module)
			require.Len(t, o.children, len(g.Referents(n)))
			for i, to := range g.Referents(n) {
				if g.IsObject(to) {
					require.EqualValues(t, to, o.children[i])
				} else {
					require.Contains(t, f.types[f.nodes[o.children[i]].typ].name, "static var")
				}
			}
			total += int64(o.size)
			edges += uint64(len(o.children))
			want := g.Generation(n)
			if want == heap.GenerationFrozen {
				want = heap.Generation2
			}
			require.Equal(t, want, generationOf(f, o.address))
		}
		assert.Equal(t, total, f.total)
		assert.EqualValues(t, total, summary.Size)
		assert.Equal(t, edges, summary.Edges)
		assert.Equal(t, "[.NET Roots]", f.types[f.nodes[f.root].typ].name)
		assert.Equal(t, len(f.nodes), reached(f), "the root reaches all")
		live, err := g.Live(t.Context())
		require.NoError(t, err)
		f.nodes[len(f.nodes)-1].children = nil // the unreachable objects
		count, size := live.Count()
		assert.Equal(t, int(count), reachedObjects(f))
		assert.EqualValues(t, uint64(g.Objects())-count, summary.Garbage)

		b.Reset()
		summary, err = gcdump.Write(t.Context(), &b, h, gcdump.Options{Machine: "m", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
		require.NoError(t, err)
		again.Reset()
		_, err = gcdump.Write(t.Context(), &again, &one, gcdump.Options{Machine: "m", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
		require.NoError(t, err)
		require.True(t, bytes.Equal(b.Bytes(), again.Bytes()))
		all := f
		f, err = decode(b.Bytes())
		require.NoError(t, err)
		assert.Equal(t, count, summary.Objects)
		assert.Equal(t, size, summary.Size)
		assert.EqualValues(t, size, f.total)
		assert.Equal(t, uint64(g.Objects())-count, summary.Garbage)
		assert.Equal(t, "m", f.machine)
		assert.EqualValues(t, int64(639029198450000000), f.time, "the ticks of 2026-01-02T03:04:05")
		assert.Equal(t, len(f.nodes), reached(f), "the root reaches all")
		assert.LessOrEqual(t, len(f.nodes), len(all.nodes)-1-int(summary.Garbage), "neither garbage nor what it stands below")
		whole := map[uint64]*decodedNode{}
		for i := range all.nodes {
			whole[all.nodes[i].address] = &all.nodes[i]
		}
		for i := range f.nodes {
			o := &f.nodes[i]
			if o.address == 0 {
				continue
			}
			want := whole[o.address]
			require.Equal(t, all.types[want.typ].name, f.types[o.typ].name)
			require.Equal(t, want.size, o.size)
			require.Len(t, o.children, len(want.children))
			for j, c := range o.children {
				require.Equal(t, all.nodes[want.children[j]].address, f.nodes[c].address)
			}
		}
	})
}

// generationOf returns the generation as PerfView finds it.
func generationOf(f *decoded, a uint64) heap.Generation {
	for _, s := range f.segments {
		if a < uint64(s[0]) || a >= uint64(s[1]) {
			continue
		}
		for g := 4; g >= 0; g-- {
			if a < uint64(s[2+g]) {
				return heap.Generation(g)
			}
		}
	}
	return heap.GenerationUnknown
}

func reached(f *decoded) int {
	n, _ := reach(f)
	return n
}

func reachedObjects(f *decoded) int {
	_, n := reach(f)
	return n
}

func reach(f *decoded) (nodes, objects int) {
	seen := make([]bool, len(f.nodes))
	seen[f.root] = true
	for list := []int32{f.root}; len(list) > 0; {
		n := list[len(list)-1]
		list = list[:len(list)-1]
		nodes++
		if f.nodes[n].address != 0 {
			objects++
		}
		for _, c := range f.nodes[n].children {
			if !seen[c] {
				seen[c] = true
				list = append(list, c)
			}
		}
	}
	return nodes, objects
}

// TestWriterFails: the error of the writer is the answer, wherever it comes.
func TestWriterFails(t *testing.T) {
	h := testheap.Of(t, testdump.Open(t, "net8-zoo").Dump)
	var whole bytes.Buffer
	_, err := gcdump.Write(t.Context(), &whole, h, gcdump.Options{})
	require.NoError(t, err)
	full := errors.New("no space left")
	for _, room := range []int{0, 10, whole.Len() / 2, whole.Len() - 1} {
		_, err := gcdump.Write(t.Context(), writer(func(b []byte) (int, error) {
			if room -= len(b); room < 0 {
				return 0, full
			}
			return len(b), nil
		}), h, gcdump.Options{})
		assert.ErrorIs(t, err, full)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
