package heapsnapshot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/export/heapsnapshot"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/test/testheap"
)

type snapshot struct {
	Snapshot struct {
		NodeCount int `json:"node_count"`
		EdgeCount int `json:"edge_count"`
	}
	Nodes, Edges []int
	Strings      []string
}

func written(t *testing.T, h *pieces.Heap) (*snapshot, *heapsnapshot.Summary, []byte) {
	var b bytes.Buffer
	s, err := heapsnapshot.Write(t.Context(), &b, h, heapsnapshot.Options{})
	require.NoError(t, err)
	var f snapshot
	require.NoError(t, json.Unmarshal(b.Bytes(), &f))
	require.Equal(t, f.Snapshot.NodeCount*6, len(f.Nodes))
	require.Equal(t, f.Snapshot.EdgeCount*3, len(f.Edges))
	return &f, s, b.Bytes()
}

// TestWrite checks that a file has the objects with sizes and types, the references with names of fields, and
// the same bytes for any number of workers. Retained sizes computed by a reader must equal the graph's.
func TestWrite(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		h := testheap.Of(t, d.Dump)
		g := h.Graph
		f, summary, raw := written(t, h)
		one := *h
		one.Jobs = 1
		_, _, again := written(t, &one)
		require.True(t, bytes.Equal(raw, again))
		first := f.Snapshot.NodeCount - g.Objects()
		types := h.Types(&summary.Gaps)
		total := 0
		ids := map[int]bool{}
		starts := make([]int, f.Snapshot.NodeCount+1)
		for i := range f.Snapshot.NodeCount {
			n := f.Nodes[6*i:]
			require.False(t, ids[n[2]])
			ids[n[2]] = true
			starts[i+1] = starts[i] + n[4]
			if i < first {
				_, ok := heapsnapshot.Object(g, uint64(n[2]))
				require.False(t, ok, "of no object")
				continue
			}
			o := graph.Node(i - first)
			at, ok := heapsnapshot.Object(g, uint64(n[2]))
			require.True(t, ok)
			require.Equal(t, g.Address(o), at)
			require.EqualValues(t, g.Size(o), n[3])
			total += n[3]
			if n[0] == 3 {
				require.Equal(t, types[g.TypeIndex(o)].Name, f.Strings[n[1]])
			} else {
				text, _, err := g.Heap().StringText(g.Address(o), 1000)
				if err == nil {
					require.Equal(t, text, f.Strings[n[1]])
				}
			}
			for k, to := range g.Referents(o) {
				edge := f.Edges[3*(starts[i]+k):]
				if g.IsObject(to) {
					require.Equal(t, 6*(first+int(to)), edge[2])
				}
				if edge[0] != 1 {
					require.Less(t, edge[1], len(f.Strings))
				}
			}
		}
		require.Equal(t, f.Snapshot.EdgeCount, starts[f.Snapshot.NodeCount])
		assert.EqualValues(t, total, summary.Size)
		holdRetained(t, h, f, starts)
	})
}

// TestNames: edges have the names of fields, and of elements their indexes.
func TestNames(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h := testheap.Of(t, d.Dump)
	f, _, _ := written(t, h)
	first := f.Snapshot.NodeCount - h.Graph.Objects()
	x := h.Graph.Names(h.Objects)
	start := 0
	unknown, named := 0, 0
	for i := range f.Snapshot.NodeCount {
		count := f.Nodes[6*i+4]
		if i >= first && count > 0 {
			n := graph.Node(i - first)
			list, err := x.Edges(t.Context(), n, h.Graph.Referents(n)[0], 1)
			require.NoError(t, err)
			edge := f.Edges[3*start:]
			switch {
			case edge[0] == weak:
			case edge[0] == 1:
				require.Equal(t, fmt.Sprintf("[%d]", edge[1]), list[0].Name)
				named++
			case list[0].Name[0] == '[':
				require.Contains(t, f.Strings[edge[1]], "[].", list[0].Name)
			case list[0].Kind == graph.EdgeField:
				require.Equal(t, list[0].Name, f.Strings[edge[1]])
				named++
			default:
				unknown++
			}
		}
		start += count
	}
	assert.Greater(t, named, 500)
	assert.Less(t, unknown, named/50)
}

// weak is the type of edges that don't retain.
const weak = 6

// holdRetained computes dominators as readers do (Cooper, Harvey and Kennedy), and compares their sums with the
// graph's.
func holdRetained(t *testing.T, h *pieces.Heap, f *snapshot, starts []int) {
	n := f.Snapshot.NodeCount
	order, number := make([]int, 0, n), make([]int, n) // postorder
	type visit struct{ node, edge int }
	seen := make([]bool, n)
	seen[0] = true
	for stack := []visit{{}}; len(stack) > 0; {
		v := &stack[len(stack)-1]
		if e := starts[v.node] + v.edge; e < starts[v.node+1] {
			v.edge++
			if to := f.Edges[3*e+2] / 6; !seen[to] && f.Edges[3*e] != weak {
				seen[to] = true
				stack = append(stack, visit{node: to})
			}
			continue
		}
		number[v.node] = len(order)
		order = append(order, v.node)
		stack = stack[:len(stack)-1]
	}
	require.Len(t, order, n, "the root reaches all")
	preds := make([][]int, n)
	for i := range n {
		for e := starts[i]; e < starts[i+1]; e++ {
			if to := f.Edges[3*e+2] / 6; f.Edges[3*e] != weak {
				preds[to] = append(preds[to], i)
			}
		}
	}
	idom := make([]int, n)
	for i := range idom {
		idom[i] = -1
	}
	idom[0] = 0
	for changed := true; changed; {
		changed = false
		for k := n - 2; k >= 0; k-- {
			node, best := order[k], -1
			for _, p := range preds[node] {
				if idom[p] < 0 {
					continue
				}
				for best >= 0 && p != best {
					for number[p] < number[best] {
						p = idom[p]
					}
					for number[best] < number[p] {
						best = idom[best]
					}
				}
				best = p
			}
			if idom[node] != best {
				idom[node], changed = best, true
			}
		}
	}
	sums := make([]int, n)
	for _, node := range order {
		sums[node] += f.Nodes[6*node+3]
		if node != 0 {
			sums[idom[node]] += sums[node]
		}
	}
	d, err := h.Graph.Dominators(t.Context())
	require.NoError(t, err)
	first := n - h.Graph.Objects()
	for o := range h.Graph.Objects() {
		require.EqualValues(t, d.Retained(graph.Node(o)), sums[first+o], "node %d", o)
	}
}

// TestWriterFails: the error of the writer is the answer.
func TestWriterFails(t *testing.T) {
	h := testheap.Of(t, testdump.Open(t, "net8-zoo").Dump)
	_, _, raw := written(t, h)
	full := errors.New("no space left")
	for _, room := range []int{0, 10, len(raw) / 2, len(raw) - 1} {
		_, err := heapsnapshot.Write(t.Context(), writer(func(b []byte) (int, error) {
			if room -= len(b); room < 0 {
				return 0, full
			}
			return len(b), nil
		}), h, heapsnapshot.Options{})
		assert.ErrorIs(t, err, full)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// Write the heap of a dump for Chrome DevTools.
func ExampleWrite() {
	d, err := sosgo.Open("../../../testdata/dumps/net8-zoo/net8-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		panic(err)
	}
	g, err := v.Graph(context.Background(), graph.Options{})
	if err != nil {
		panic(err)
	}
	names, err := v.Objects()
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	s, err := heapsnapshot.Write(context.Background(), &file, &pieces.Heap{Graph: g, Objects: names}, heapsnapshot.Options{})
	fmt.Println(err, s.Objects > 1000, json.Valid(file.Bytes()))
	// Output: <nil> true true
}
