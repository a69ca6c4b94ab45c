package heappprof_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/export/heappprof"
	"github.com/sosgo/sosgo/internal/export/pieces"
	"github.com/sosgo/sosgo/internal/test/exportread"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/test/testheap"
)

// TestPprof checks that pprof opens the profile: flat is the size of each type's objects, and cum their
// retained size.
func TestPprof(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		h := testheap.Of(t, d.Dump)
		g := h.Graph
		for _, least := range []uint64{1, 0, 5000} {
			p, err := heappprof.Read(t.Context(), h, heappprof.Options{Least: least, Garbage: true})
			require.NoError(t, err)
			var b bytes.Buffer
			require.NoError(t, p.Pprof(&b))
			got := exportread.ReadProfile(t, b.Bytes())
			assert.Equal(t, [][2]string{{"inuse_objects", "count"}, {"inuse_space", "bytes"}}, got.SampleTypes)
			assert.Equal(t, "inuse_space", got.Default)
			flat, cum := map[string]uint64{}, map[string]uint64{}
			objects := int64(0)
			for _, s := range got.Samples {
				objects += s.Values[0]
				met := map[string]bool{}
				for i, f := range s.Frames {
					name := f.Function
					require.Empty(t, f.SystemName, "pprof removes the type arguments of a name that is equal to its system name")
					if i == 0 {
						flat[name] += uint64(s.Values[1])
					}
					if !met[name] {
						met[name] = true
						cum[name] += uint64(s.Values[1])
					}
				}
			}
			assert.EqualValues(t, g.Objects(), objects)
			assert.EqualValues(t, g.Objects(), p.Objects)
			holdTo(t, h, flat, cum, least)
		}
	})
}

// holdTo holds sums of a profile to the graph.
func holdTo(t *testing.T, h *pieces.Heap, flat, cum map[string]uint64, least uint64) {
	g := h.Graph
	d, err := g.Dominators(t.Context())
	require.NoError(t, err)
	live, err := d.ByType(t.Context(), graph.PartLive)
	require.NoError(t, err)
	dead, err := d.ByType(t.Context(), graph.PartDead)
	require.NoError(t, err)
	sizes := make([]uint64, len(g.Types()))
	for n := range graph.Node(g.Objects()) {
		sizes[g.TypeIndex(n)] += g.Size(n)
	}
	p, err := heappprof.Read(t.Context(), h, heappprof.Options{})
	require.NoError(t, err)
	bySize, byRetained := map[string]uint64{}, map[string]uint64{}
	for i, typ := range h.Types(&p.Gaps) {
		bySize[typ.Name] += sizes[i]
		byRetained[typ.Name] += live[i] + dead[i]
	}
	for name, size := range bySize {
		assert.Equal(t, size, flat[name], name)
		switch {
		case least == 1 && unique(h, p, name):
			assert.Equal(t, byRetained[name], cum[name], name)
		case least > 1:
			assert.LessOrEqual(t, cum[name], byRetained[name], name)
		}
	}
}

// unique reports whether one type alone has a name.
func unique(h *pieces.Heap, p *heappprof.Profile, name string) bool {
	n := 0
	for _, t := range h.Types(&p.Gaps) {
		if t.Name == name {
			n++
		}
	}
	return n == 1
}

// TestForms checks that all formats have the same sums.
func TestForms(t *testing.T) {
	h := testheap.Of(t, testdump.Open(t, "net10-zoo").Dump)
	p, err := heappprof.Read(t.Context(), h, heappprof.Options{})
	require.NoError(t, err)
	d, err := h.Graph.Dominators(t.Context())
	require.NoError(t, err)
	assert.Equal(t, d.Retained(h.Graph.Root()), p.Size, "what lives")
	var b bytes.Buffer
	require.NoError(t, p.Folded(&b))
	total, lines := uint64(0), 0
	for line := range strings.Lines(b.String()) {
		var n uint64
		_, err := fmt.Sscan(line[strings.LastIndexByte(line, ' '):], &n)
		require.NoError(t, err)
		total += n
		lines++
	}
	assert.Equal(t, p.Size, total)
	assert.LessOrEqual(t, lines, p.Paths())
	b.Reset()
	require.NoError(t, p.Speedscope(&b, "a <title>"))
	var file struct {
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			EndValue uint64
			Samples  [][]int
			Weights  []uint64
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &file))
	require.Len(t, file.Profiles, 1)
	assert.Equal(t, p.Size, file.Profiles[0].EndValue)
	assert.Len(t, file.Profiles[0].Samples, p.Paths())
	for _, s := range file.Profiles[0].Samples {
		for _, f := range s {
			require.Less(t, f, len(file.Shared.Frames))
		}
	}
}

// Write the heap of a dump for "go tool pprof".
func ExampleRead() {
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
	p, err := heappprof.Read(context.Background(), &pieces.Heap{Graph: g, Objects: names}, heappprof.Options{})
	if err != nil {
		panic(err)
	}
	f, err := os.CreateTemp("", "heap*.pb.gz")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	fmt.Println(p.Pprof(f), p.Paths() > 10)
	// Output: <nil> true
}
