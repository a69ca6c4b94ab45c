//go:build unix

package graph_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// A numbers yields numbers that the fuzzer chooses, then random ones, because rand does not end with only zeros.
type numbers struct {
	b    []byte
	more *rand.PCG
}

func (n *numbers) Uint64() uint64 {
	if len(n.b) == 0 {
		return n.more.Uint64()
	}
	var word [8]byte
	n.b = n.b[copy(word[:], n.b):]
	return binary.LittleEndian.Uint64(word[:])
}

// A smallHeap has an object of some types of a canned heap, and references among the objects. Its graph is built at
// once.
type smallHeap struct {
	*stopped
	picks *picks
}

// newSmallHeap copies objects and opens the heap that has only the copies.
func newSmallHeap(t testing.TB, name string) *smallHeap {
	d := testdump.Open(t, name)
	l := newLargeHeap(t, d)
	const most, largest = 48, 512
	seen := map[*dac.MethodTable]bool{}
	copies := map[target.Addr]target.Addr{} // of all objects of the heap
	var chosen, at []target.Addr
	var image []byte
	all := pick(l.heap)
	put := func(a target.Addr, size uint64) target.Addr {
		b, err := target.Bytes(d.Target(), a, int(size))
		if err != nil {
			return 0 // a slice does not have all parts of objects
		}
		to := largeStart + target.Addr(len(image))
		image = append(append(image, b...), make([]byte, -size&7)...)
		return to
	}
	for _, o := range all.objects {
		if seen[o.Type] || o.Size > largest || len(chosen) == most {
			continue
		}
		seen[o.Type] = true
		if to := put(o.Addr, o.Size); to != 0 {
			chosen, at = append(chosen, o.Addr), append(at, to)
			if len(chosen)%8 == 0 && len(all.frees) > 0 {
				free := make([]byte, 24)
				binary.LittleEndian.PutUint64(free, uint64(l.heap.Runtime().WellKnown().Free))
				image = append(image, free...)
			}
		}
	}
	require.Greater(t, len(chosen), most/2)
	for i, o := range all.objects {
		copies[o.Addr] = at[i%len(at)]
	}
	for i := 0; i+8 <= len(image); i += 8 {
		if to, ok := copies[target.Addr(binary.LittleEndian.Uint64(image[i:]))]; ok {
			binary.LittleEndian.PutUint64(image[i:], uint64(to))
		}
	}
	l.at = largeStart + target.Addr(len(image))
	l.objects = []testdump.Damage{{At: largeStart, Bytes: image}}
	l.point(t, d.Options())
	l.empty()
	s := newStopped(t, l.open(t, d.Options(), target.Range{Start: largeStart, End: l.at}))
	s.roots = &graph.Roots{}
	k := s.roots.Add(graph.Source{Kind: graph.SourceRuntime, Parent: graph.UnderRoot})
	for _, a := range at[:len(at)/4] {
		s.roots.Edges = append(s.roots.Edges, graph.RootEdge{Source: k, Object: a})
	}
	s.roots.Dependents = []graph.Dependent{{Primary: at[0], Secondary: at[len(at)-1]}}
	h := &smallHeap{s, pick(s.heap)}
	require.Equal(t, len(chosen), len(h.picks.objects))
	return h
}

// FuzzGraph overwrites words of a heap's objects, as TestDamagedHeaps does for whole heaps. Two ways to build a graph
// must give the same.
func FuzzGraph(f *testing.F) {
	h := newSmallHeap(f, "net10-zoo")
	memory := h.view.Dump().Target()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 5))
		var b []byte
		for range 12 {
			b = binary.LittleEndian.AppendUint64(b, r.Uint64())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<10 {
			return
		}
		for _, w := range h.picks.damaged(memory, rand.New(&numbers{b, rand.NewPCG(1, 1)})) {
			word, ok := memory.View(w.At, len(w.Bytes)) // lends the file
			require.True(t, ok)
			was := slices.Clone(word)
			defer copy(word, was)
			copy(word, w.Bytes)
		}
		other := narrow
		if len(b)%4 == 3 { // the rest of the bytes is used up: eight goroutines are slower for a small heap
			other = jobs(8)
		}
		testBuilds(t, h.heap, h.roots, 0, jobs(1), other)
	})
}

// FuzzKept overwrites words of the arrays in a file with right checksums. No content may cause a panic.
func FuzzKept(f *testing.F) {
	h := newSmallHeap(f, "net10-zoo")
	for i, kind := range []graph.SourceKind{graph.SourceHandles, graph.SourceFinalizer} {
		k := h.roots.Add(graph.Source{Kind: kind, Parent: graph.UnderRoot})
		for at, o := range h.picks.objects[:4+i] {
			h.roots.Edges = append(h.roots.Edges, graph.RootEdge{Source: k, Object: o.Addr, Slot: target.Addr(0x1000*(i+1) + 8*at)})
		}
	}
	dir, walks := f.TempDir(), 0
	build := func(t testing.TB) *graph.Graph {
		g, err := graph.Build(t.Context(), h.heap, h.roots, keepIn(dir, &walks))
		require.NoError(t, err)
		return g
	}
	g := build(f)
	f.Cleanup(g.Close)
	want := describe(f, g)
	sound := map[string][]byte{}
	for part := range keptParts {
		data, err := os.ReadFile(keptPath(dir, part))
		require.NoError(f, err)
		sound[part] = data
	}
	parts := slices.Sorted(maps.Keys(keptParts))
	unsound := parts // parts that the last input may have left damaged
	for i := range parts {
		f.Add(uint8(i), uint8(0), uint32(40), uint32(7))
		f.Add(uint8(i), uint8(1), uint32(4000), uint32(1<<31))
	}
	f.Fuzz(func(t *testing.T, part, section uint8, at, value uint32) {
		for _, part := range unsound {
			if now, err := os.ReadFile(keptPath(dir, part)); err != nil || !bytes.Equal(now, sound[part]) {
				require.NoError(t, os.WriteFile(keptPath(dir, part), sound[part], 0o600))
			}
		}
		unsound = parts
		p := parts[int(part)%len(parts)]
		names := keptParts[p]
		name := names[int(section)%len(names)]
		require.NoError(t, forge(t.Context(), keptPath(dir, p), keptParts[p], func(n string, data []byte) []byte {
			if n == name && len(data) >= 4 {
				copy(data[int(at)%(len(data)/4)*4:], []byte{byte(value), byte(value >> 8), byte(value >> 16), byte(value >> 24)})
			}
			return data
		}))
		again := build(t)
		defer again.Close()
		got := describe(t, again)
		if len(again.Notes()) > 0 {
			require.Equal(t, want, got, "what was refused says nothing")
			unsound = []string{p} // if it is not rewritten; no other part was made from it
		}
	})
}
