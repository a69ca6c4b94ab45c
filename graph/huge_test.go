package graph_test

import (
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// A stretched is a file followed by zeros, with some bytes in them.
type stretched struct {
	pieces []testdump.Damage // at offsets
	size   int64
}

func (s *stretched) ReadAt(p []byte, off int64) (int, error) {
	n := int(max(0, min(int64(len(p)), s.size-off)))
	clear(p[:n])
	for _, d := range s.pieces {
		at := int64(d.At)
		if from, to := max(at, off), min(at+int64(len(d.Bytes)), off+int64(n)); from < to {
			copy(p[from-off:to-off], d.Bytes[from-at:])
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// A largeHeap replaces the large objects by one segment of zeros with objects in it. The dump holds only parts of the
// segment.
type largeHeap struct {
	raw     []byte
	heap    *heap.Heap
	segment heap.Segment
	objects []testdump.Damage // heads of objects, and references
	at      target.Addr       // address of the next object
}

const largeStart = target.Addr(0x600000000000)

// add adds an object with a length after the earlier ones.
func (l *largeHeap) add(mt target.Addr, length uint32, size uint64) target.Addr {
	a := l.at
	l.objects = append(l.objects, testdump.Words(a, uint64(mt), uint64(length)))
	l.at += target.Addr(size+7) &^ 7
	return a
}

// open opens the dump with the segment. The dump holds the ranges stored.
func (l *largeHeap) open(t testing.TB, o sosgo.Options, stored ...target.Range) *sosgo.Dump {
	raw := slices.Clone(l.raw)
	s := &stretched{}
	le := binary.LittleEndian
	table, count := le.Uint64(raw[32:]), le.Uint16(raw[56:])
	headers := slices.Clone(raw[table:][:int(count)*56])
	end := (uint64(len(raw)) + 4095) &^ 4095
	le.PutUint64(raw[32:], end)
	le.PutUint16(raw[56:], count+uint16(len(stored)))
	data := end + 1<<16
	for i, r := range stored {
		behind := (l.at + 4095) &^ 4095 // the process has memory up to there
		if i+1 < len(stored) {
			behind = stored[i+1].Start
		}
		load := le.AppendUint32(nil, 1)
		load = le.AppendUint32(load, 6)
		for _, v := range []uint64{data, uint64(r.Start), 0, r.Size(), uint64(behind - r.Start), 4096} {
			load = le.AppendUint64(load, v)
		}
		headers = append(headers, load...)
		for _, d := range l.objects {
			if r.Contains(d.At) {
				s.pieces = append(s.pieces, testdump.Damage{At: target.Addr(data) + d.At - r.Start, Bytes: d.Bytes})
			}
		}
		data += r.Size()
	}
	s.pieces = append(s.pieces, testdump.Damage{Bytes: raw}, testdump.Damage{At: target.Addr(end), Bytes: headers})
	s.size = int64(data)
	var source io.ReaderAt = s
	if s.size < 1<<28 { // memory without copies is walked faster
		whole := make([]byte, s.size)
		_, err := s.ReadAt(whole, 0)
		require.NoError(t, err)
		source = target.BytesSource(whole)
	}
	d, err := sosgo.OpenReaderAt(source, s.size, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// newLargeHeap prepares the heap of a canned core.
func newLargeHeap(t testing.TB, d *testdump.Dump) *largeHeap {
	raw, err := d.Raw()
	require.NoError(t, err)
	h, err := d.Heap()
	require.NoError(t, err)
	l := &largeHeap{raw: slices.Clone(raw), heap: h, at: largeStart}
	i := slices.IndexFunc(h.Segments(), func(s heap.Segment) bool { return s.Kind == heap.KindLarge && s.Objects.Size() > 0 })
	require.GreaterOrEqual(t, i, 0)
	l.segment = h.Segments()[i]
	return l
}

// point changes the members of the segment with the bounds of its objects to the new objects.
func (l *largeHeap) point(t testing.TB, o sosgo.Options) {
	d, err := sosgo.OpenReaderAt(target.BytesSource(l.raw), int64(len(l.raw)), o)
	require.NoError(t, err)
	words, ok := d.Target().View(l.segment.Addr, 0x60) // without a copy: memory of raw
	require.True(t, ok)
	to := map[target.Addr]target.Addr{l.segment.Objects.Start: largeStart, l.segment.Objects.End: l.at,
		l.segment.Committed.End: l.at, l.segment.Reserved.End: l.at}
	found := 0
	for i := 0; i+8 <= len(words); i += 8 {
		if a, ok := to[target.Addr(binary.LittleEndian.Uint64(words[i:]))]; ok {
			binary.LittleEndian.PutUint64(words[i:], uint64(a))
			found++
		}
	}
	require.GreaterOrEqual(t, found, 3)
}

// empty makes all other segments empty, in all structures of the runtime that have their ends.
func (l *largeHeap) empty() {
	ends := map[uint64]target.Addr{}
	for _, s := range l.heap.Segments() {
		if s.Addr != l.segment.Addr {
			ends[uint64(s.Objects.End)] = s.Objects.Start
		}
	}
	for i := 0; i+8 <= len(l.raw); i += 8 {
		if start, ok := ends[binary.LittleEndian.Uint64(l.raw[i:])]; ok {
			binary.LittleEndian.PutUint64(l.raw[i:], uint64(start))
		}
	}
}

// types returns an object[], and an array of bytes, of the heap.
func (l *largeHeap) types(t testing.TB) (objects, bytes, small target.Addr) {
	rt := l.heap.Runtime()
	for o, err := range l.heap.Objects() {
		if err != nil || o.Free {
			continue
		}
		switch name, _ := rt.TypeName(o.Type.Addr, 0); name {
		case "System.Object[]":
			objects = o.Type.Addr
		case "System.Byte[]":
			bytes = o.Type.Addr
		case "System.Object":
			small = o.Addr
		}
	}
	require.NotZero(t, objects)
	require.NotZero(t, bytes)
	require.NotZero(t, small)
	return objects, bytes, small
}

// TestHugeObjects: the dump has the start and the end of an array of a billion references, objects of more than 4 GB,
// and a heap of more than 32 GB, with granule numbers of more than 32 bits. Build uses neither time nor memory for
// missing memory. Sizes, edges and retained sizes are exact.
func TestHugeObjects(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	l := newLargeHeap(t, d)
	arrays, bytes, small := l.types(t)
	const billion = 1_000_000_000
	first := l.add(arrays, billion, 24+8*billion) // 8 GB
	half := l.add(arrays, billion/2, 24+4*billion)
	var blocks []target.Addr
	for range 16 {
		blocks = append(blocks, l.add(bytes, 1<<31-1, 24+1<<31-1))
	}
	refer := func(a target.Addr, index uint64, to target.Addr) {
		l.objects = append(l.objects, testdump.Words(a+16+target.Addr(8*index), uint64(to)))
	}
	refer(first, 0, half)
	refer(first, 5, small)
	refer(first, billion-1, blocks[15])
	refer(first, billion-2, first)
	for i := range uint64(15) {
		refer(half, i, blocks[i])
	}
	l.point(t, d.Options())

	page := func(a target.Addr) target.Range { return target.Range{Start: a &^ 0xffff, End: (a + 1<<17) &^ 0xffff} }
	var heads []target.Range
	for _, b := range append([]target.Addr{first, half - 8, half}, blocks...) {
		if r := page(b); len(heads) == 0 || r.Start >= heads[len(heads)-1].End {
			heads = append(heads, r)
		} else {
			heads[len(heads)-1].End = r.End
		}
	}
	all := target.Range{Start: largeStart, End: l.at}
	heads[len(heads)-1].End = min(heads[len(heads)-1].End, l.at)
	arraysEnd := (half + 16 + 8*(billion/2) + 4096) &^ 4095
	for name, stored := range map[string][]target.Range{"heads": heads, "all but the arrays": {page(first), {Start: (half - 8) &^ 0xffff, End: half + 1<<16}, {Start: arraysEnd &^ 0xffff, End: all.End}},
		"all": {all}} {
		t.Run(name, func(t *testing.T) {
			if name == "all" && os.Getenv("SOSGO_HUGE") == "" {
				t.Skip("12 GB of references are read if SOSGO_HUGE is set")
			}
			big := l.open(t, d.Options(), stored...)
			v, err := big.View("")
			require.NoError(t, err)
			reader, err := v.RootReader()
			require.NoError(t, err)
			h, err := v.Heap()
			require.NoError(t, err)
			r, err := graph.RootsOf(t.Context(), h, reader)
			require.NoError(t, err)
			k := r.Add(graph.Source{Kind: graph.SourceRuntime, Parent: graph.UnderRoot})
			r.Edges = append(r.Edges, graph.RootEdge{Source: k, Object: first})
			require.Empty(t, h.Warnings())
			var one string
			for _, jobs := range []int{1, 3} {
				g, err := graph.Build(offheap.WithBudget(t.Context(), offheap.NewBudget(2<<30)), h, r, graph.Options{Jobs: jobs})
				if strconv.IntSize == 32 && name != "heads" {
					require.ErrorIs(t, err, target.ErrLimit, "32 bits address no array of 1.4 billion references")
					continue
				}
				require.NoError(t, err)
				checkHuge(t, g, first, half, small, blocks)
				_, peak := g.Memory()
				t.Log(peak>>20, "MB", g.Stats().MissingSlots, "words missing")
				if got := print(t, g); one == "" {
					one = got
				} else {
					require.Equal(t, one, got)
				}
				g.Close()
			}
		})
	}
}

func checkHuge(t testing.TB, g *graph.Graph, first, half, small target.Addr, blocks []target.Addr) {
	t.Helper()
	n, ok := g.Node(first)
	require.True(t, ok)
	m, ok := g.Node(half)
	require.True(t, ok)
	require.EqualValues(t, uint64(24+8_000_000_000), g.Size(n))
	require.EqualValues(t, uint64(24+4_000_000_000), g.Size(m))
	last, _ := g.Node(blocks[15])
	object, ok := g.Node(small)
	require.True(t, ok)
	require.Equal(t, []graph.Node{m, object, n, last}, g.Referents(n))
	dominators, err := g.Dominators(t.Context())
	require.NoError(t, err)
	want := g.Size(m)
	for i, b := range blocks {
		node, ok := g.Node(b)
		require.True(t, ok, "block %d", i)
		require.EqualValues(t, uint64(24+1<<31-1), g.Size(node))
		if i < 15 {
			require.Contains(t, g.Referents(m), node)
			require.Equal(t, m, dominators.Idom(node))
			want += g.Size(node)
		}
	}
	require.Equal(t, want, dominators.Retained(m))
	require.Equal(t, n, dominators.Idom(m))
	starts, err := g.LiveStarts(t.Context())
	require.NoError(t, err)
	require.True(t, starts(blocks[3]))
}

// TestManyRoots: a million handles and a million dependent handles, some of them to one object, are edges with their
// slots.
func TestManyRoots(t *testing.T) {
	many := testcase.Part(t, 1_000_000, 10)
	d := testdump.Open(t, "net10-zoo")
	plain, r := built(t, d, graph.Options{})
	objects := graph.Node(plain.Objects())
	k := r.Add(graph.Source{Kind: graph.SourceHandles, Parent: graph.UnderRoot, Handle: heap.HandlePinned})
	for i := range many {
		to := plain.Address(graph.Node(i) % objects)
		r.Edges = append(r.Edges, graph.RootEdge{Source: k, Object: to, Slot: target.Addr(8 * (i + 1))})
		primary := plain.Address(0)
		if i%2 == 0 {
			primary = plain.Address(graph.Node(i*7) % objects)
		}
		r.Dependents = append(r.Dependents, graph.Dependent{Handle: target.Addr(8 * (i + 1)), Primary: primary, Secondary: to})
	}
	var want string
	for _, jobs := range []int{1, 4} {
		g, err := graph.Build(t.Context(), plain.Heap(), r, graph.Options{Jobs: jobs})
		require.NoError(t, err)
		n := 0
		for ref := range g.RootRefs(g.SourceNode(k)) {
			root, ok := g.RootOf(g.SourceNode(k), ref)
			if !ok || !root.Pinned || root.Kind != graph.RootHandle || root.Address != target.Addr(8*(n+1)) || ref.Object != graph.Node(n)%objects {
				t.Fatalf("handle %d: %+v %+v", n, root, ref)
			}
			n++
		}
		require.Equal(t, many, n)
		require.EqualValues(t, plain.Edges()+2*many+1, g.Edges())
		live, err := g.Live(t.Context())
		require.NoError(t, err)
		all, _ := live.Count()
		require.EqualValues(t, objects, all)
		if got := print(t, g); want == "" {
			want = got
		} else {
			require.Equal(t, want, got)
		}
		g.Close()
	}
}
