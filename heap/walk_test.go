package heap

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// walked returns the results of a walk.
func walked(h *Heap) (objects []target.Addr, bad []*Corruption) {
	for o, err := range h.Objects() {
		if err != nil {
			bad = append(bad, err.(*Corruption))
			continue
		}
		objects = append(objects, o.Addr)
	}
	return objects, bad
}

// both runs f over memory that is lent and over memory that is copied.
func both(t *testing.T, f func(t *testing.T, lends bool)) {
	t.Run("lent", func(t *testing.T) { f(t, true) })
	t.Run("copied", func(t *testing.T) { f(t, false) })
}

func without(all []target.Addr, from, to target.Addr) []target.Addr {
	var kept []target.Addr
	for _, a := range all {
		if a < from || a >= to {
			kept = append(kept, a)
		}
	}
	return kept
}

func TestWalk(t *testing.T) {
	both(t, func(t *testing.T, lends bool) {
		var b builder
		for range 1000 { // more than a batch
			b.small()
			b.large()
			b.bytes(13)
			b.free(40)
		}
		objects, bad := walked(b.heap(lends, nil))
		assert.Equal(t, b.objs, objects)
		assert.Empty(t, bad)
	})
}

func TestWalkSizes(t *testing.T) {
	var b builder
	s := b.add(mtString, 22, 2, 5)
	b.free(100)
	b.add(mtSmall|1, 24, 0, 0) // marked by the GC
	var got []Object
	for o, err := range b.heap(true, nil).Objects() {
		require.NoError(t, err)
		got = append(got, o)
	}
	require.Len(t, got, 3)
	assert.Equal(t, Object{Addr: s, Type: got[0].Type, Size: 32, Length: 5, typeID: got[0].typeID}, got[0])
	assert.True(t, got[1].Free)
	assert.EqualValues(t, 124, got[1].Size)
	assert.Equal(t, mtSmall, got[2].Type.Addr)
}

func TestAllocationContext(t *testing.T) {
	both(t, func(t *testing.T, lends bool) {
		var b builder
		b.small()
		c := dac.AllocContext{Pointer: b.at(), Limit: b.at() + 4096}
		b.gap(4096 + minObjectSize)
		b.large()
		objects, bad := walked(b.heap(lends, []dac.AllocContext{c}))
		assert.Equal(t, b.objs, objects)
		assert.Empty(t, bad)
	})
}

// TestObjectBeingMade: the last object before a context may have no MethodTable yet. Any other object has one, and
// so has an object with content.
func TestObjectBeingMade(t *testing.T) {
	both(t, func(t *testing.T, lends bool) {
		for name, damaged := range map[string]bool{"being made": false, "written to": true, "not the last": true} {
			var b builder
			b.small()
			made := b.large()
			if name == "not the last" {
				b.small()
			}
			c := dac.AllocContext{Pointer: b.at(), Limit: b.at() + 4096}
			b.gap(4096 + minObjectSize)
			b.small()
			b.put(made, 0)
			if name == "written to" {
				b.put(made+16, 1)
			}
			h := b.heap(lends, []dac.AllocContext{c})
			h.segments[0].Kind = KindGeneration0
			objects, bad := walked(h)
			assert.Equal(t, slices.DeleteFunc(b.objs, func(a target.Addr) bool { return a == made }), objects, name)
			assert.Equal(t, damaged, len(bad) == 1, name)
		}
	})
}

// TestEmptyContext: an empty context where an object begins hides nothing; a collection leaves one at the start of generation 0.
func TestEmptyContext(t *testing.T) {
	var b builder
	first := b.small()
	b.large()
	objects, bad := walked(b.heap(true, []dac.AllocContext{{Pointer: first, Limit: first}}))
	assert.Equal(t, b.objs, objects)
	assert.Empty(t, bad)
}

func TestLyingContexts(t *testing.T) {
	var b builder
	for range 10 {
		b.small()
	}
	for name, c := range map[string]dac.AllocContext{
		"behind the segment": {Pointer: b.objs[3], Limit: b.at() + 8},
		"wraps around":       {Pointer: b.objs[3], Limit: ^target.Addr(0)},
	} {
		t.Run(name, func(t *testing.T) {
			h := b.heap(true, []dac.AllocContext{c})
			objects, bad := walked(h)
			assert.Equal(t, b.objs, objects)
			assert.Empty(t, bad)
			require.Len(t, h.Warnings(), 1)
			assert.ErrorIs(t, h.Warnings()[0], target.ErrCorrupt)
		})
	}
}

func TestCorruption(t *testing.T) {
	both(t, func(t *testing.T, lends bool) {
		tests := []struct {
			name   string
			damage func(b *builder, victim target.Addr)
		}{
			{"no MethodTable", func(b *builder, a target.Addr) { b.put(a, 0x1234567890) }},
			{"pointer to an object", func(b *builder, a target.Addr) { b.put(a, uint64(b.objs[7])) }},
			{"zero", func(b *builder, a target.Addr) { b.put(a, 0) }},
			{"length behind the segment", func(b *builder, a target.Addr) { b.put(a+8, 0xfffffff0) }},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				var b builder
				for range 20 {
					b.small()
				}
				victim := b.bytes(200)
				next := b.at()
				for range 20 {
					b.large()
				}
				tt.damage(&b, victim)
				objects, bad := walked(b.heap(lends, nil))
				require.Len(t, bad, 1)
				assert.ErrorIs(t, bad[0], target.ErrCorrupt)
				assert.Equal(t, victim, bad[0].Addr)
				assert.Equal(t, next, bad[0].Next)
				assert.Equal(t, without(b.objs, victim, next), objects)
			})
		}
	})
}

func TestCorruptToTheEnd(t *testing.T) {
	var b builder
	b.small()
	at := b.at()
	b.gap(1000)
	objects, bad := walked(b.heap(true, nil))
	assert.Equal(t, b.objs, objects)
	require.Len(t, bad, 1)
	assert.Equal(t, at, bad[0].Addr)
	assert.Equal(t, b.at(), bad[0].Next)
}

func TestResyncAtContext(t *testing.T) {
	var b builder
	b.small()
	victim := b.small()
	c := dac.AllocContext{Pointer: b.at(), Limit: b.at() + 64}
	b.gap(64 + minObjectSize)
	last := b.small()
	b.put(victim, 8)
	objects, bad := walked(b.heap(true, []dac.AllocContext{c}))
	require.Len(t, bad, 1)
	assert.Equal(t, c.Pointer, bad[0].Next)
	assert.Equal(t, []target.Addr{b.objs[0], last}, objects)
}

func TestHole(t *testing.T) {
	both(t, func(t *testing.T, lends bool) {
		var b builder
		for range 2000 {
			b.large()
		}
		hole := target.Range{Start: b.objs[500] + 8, End: b.objs[900] + 16}
		objects, bad := walked(b.heap(lends, nil, hole))
		require.Len(t, bad, 1)
		assert.ErrorIs(t, bad[0], target.ErrNotInDump)
		assert.Equal(t, b.objs[500], bad[0].Addr)
		assert.Equal(t, b.objs[901], bad[0].Next)
		assert.Equal(t, without(b.objs, b.objs[500], b.objs[901]), objects)
	})
}

// A dump without the heap has pages of it by chance: they are no heap.
func TestSparseSegment(t *testing.T) {
	var b builder
	for range 2000 {
		b.large()
	}
	objects, bad := walked(b.heap(true, nil, target.Range{Start: b.objs[10], End: b.objs[1900]}))
	assert.Equal(t, b.objs[:10], objects)
	require.Len(t, bad, 1)
	assert.Equal(t, b.at(), bad[0].Next)
}

func TestObjectsIn(t *testing.T) {
	var b builder
	for range 100 {
		b.small()
	}
	h := b.heap(true, nil)
	var got []target.Addr
	for o, err := range h.ObjectsIn(&h.segments[0], target.Range{Start: b.objs[10] + 1, End: b.objs[20]}) {
		require.NoError(t, err)
		got = append(got, o.Addr)
		if len(got) == 5 {
			break
		}
	}
	assert.Equal(t, b.objs[11:16], got)
}

func TestNear(t *testing.T) {
	var b builder
	for range 3 {
		b.large()
	}
	h := b.heap(true, nil)
	n := h.Near(b.objs[1])
	assert.Equal(t, b.objs[:3], []target.Addr{n.Before.Addr, n.Current.Addr, n.Next.Addr})
	n = h.Near(b.objs[1] + 8)
	assert.Nil(t, n.Current)
	assert.Equal(t, []target.Addr{b.objs[1], b.objs[2]}, []target.Addr{n.Before.Addr, n.Next.Addr})
	assert.Nil(t, h.Near(b.at()))
}

// randomHeap returns a segment of several runs with every kind of trouble.
func randomHeap(seed uint64, size int, lends bool) *Heap {
	r := rand.New(rand.NewPCG(seed, 1))
	var b builder
	var contexts []dac.AllocContext
	for len(b.b) < size {
		switch n := r.IntN(1000); {
		case n < 600:
			b.small()
		case n < 900:
			b.large()
		case n < 980:
			b.bytes(r.IntN(300))
		case n < 990:
			b.free(r.IntN(300))
		case n == 990:
			c := dac.AllocContext{Pointer: b.at(), Limit: b.at() + target.Addr(8*r.IntN(1000))}
			contexts = append(contexts, c)
			b.gap(int(c.Limit-c.Pointer) + minObjectSize)
		case n == 991 && r.IntN(20) == 0:
			b.bytes(r.IntN(2 * defaultRun))
		}
	}
	for range 20 { // garbage, also at where runs begin
		at := r.IntN(len(b.b)/8) * 8
		if r.IntN(2) == 0 {
			at = (1+r.IntN(max(1, len(b.b)/defaultRun-1)))*defaultRun - 64
		}
		for i := range min(r.IntN(200)*8, len(b.b)-at-8) / 8 {
			binary.LittleEndian.PutUint64(b.b[at+8*i:], []uint64{0, uint64(mtSmall), uint64(mtBytes), r.Uint64(), uint64(b.objs[r.IntN(len(b.objs))])}[r.IntN(5)])
		}
	}
	page := synthHeap + target.Addr(r.IntN(len(b.b)/2)&^4095)
	return b.heap(lends, contexts, target.Range{Start: page, End: page + 8192})
}

// recorder is a Collector that remembers everything.
type recorder struct {
	objects []Object
	bad     []Corruption
}

func (r *recorder) Objects(_ *Segment, batch []Object) { r.objects = append(r.objects, batch...) }
func (r *recorder) Corrupt(c *Corruption)              { r.bad = append(r.bad, *c) }
func (r *recorder) Reset()                             { *r = recorder{} }

func scanned(t *testing.T, h *Heap, f *Filter, jobs int) recorder {
	var all recorder
	err := Scan(t.Context(), h, f, ScanOptions{Jobs: jobs}, func() *recorder { return &recorder{} }, func(r *recorder) error {
		all.objects = append(all.objects, r.objects...)
		all.bad = append(all.bad, r.bad...)
		return nil
	})
	require.NoError(t, err)
	for i := range all.bad {
		all.bad[i].Err = nil
	}
	for i := range all.objects {
		all.objects[i].typeID = 0 // which walk came first decides them
	}
	return all
}

// TestScanIsSequential compares parallel scans with the sequential walk: the same objects and corruptions in
// the same order, for any number of workers.
func TestScanIsSequential(t *testing.T) {
	both(t, func(t *testing.T, lends bool) {
		for seed := range uint64(2) {
			h := randomHeap(seed, 3*defaultRun, lends)
			want, bad := walked(h)
			require.NotEmpty(t, bad)
			first := scanned(t, h, &Filter{}, 1)
			require.Equal(t, want, addrs(first.objects))
			require.Len(t, first.bad, len(bad))
			for _, jobs := range []int{2, 7} {
				require.Equal(t, first, scanned(t, randomHeap(seed, 3*defaultRun, lends), &Filter{}, jobs))
			}
			r := target.Range{Start: want[len(want)/3], End: want[len(want)/2]}
			part := scanned(t, h, &Filter{Range: r}, 3)
			require.Equal(t, want[len(want)/3:len(want)/2], addrs(part.objects))
		}
	})
}

func addrs(objects []Object) []target.Addr {
	list := make([]target.Addr, len(objects))
	for i := range objects {
		list[i] = objects[i].Addr
	}
	return list
}

func TestScanCanceled(t *testing.T) {
	h := randomHeap(1, 4*defaultRun, true)
	ctx, cancel := context.WithCancel(t.Context())
	err := Scan(ctx, h, &Filter{}, ScanOptions{}, func() *recorder { return &recorder{} }, func(*recorder) error {
		cancel()
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	stop := errors.New("enough")
	err = Scan(t.Context(), h, &Filter{}, ScanOptions{}, func() *recorder { return &recorder{} }, func(*recorder) error { return stop })
	assert.ErrorIs(t, err, stop)
}

// TestScanPanics checks that a panic in a worker reaches the caller, who can recover from it, without a
// deadlock.
func TestScanPanics(t *testing.T) {
	h := randomHeap(1, 4*defaultRun, true)
	for _, jobs := range []int{1, 2, 5} {
		assert.PanicsWithError(t, "broken", func() {
			defer func() {
				panic(errors.Unwrap(recover().(error)))
			}()
			_ = Scan(t.Context(), h, &Filter{}, ScanOptions{Jobs: jobs}, func() *panicking { return &panicking{} },
				func(*panicking) error { return nil })
		})
	}
}

// panicking is a Collector that can't bear objects.
type panicking struct{ recorder }

func (*panicking) Objects(*Segment, []Object) { panic(errors.New("broken")) }

func TestStats(t *testing.T) {
	var b builder
	for range 3 {
		b.large()
		b.small()
		b.small()
	}
	b.free(FragmentSize)
	last := b.small()
	h := b.heap(true, nil)
	s, err := h.Stats(t.Context(), &Filter{}, ScanOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 11, s.Count)
	assert.EqualValues(t, 3*72+7*24+24+FragmentSize, s.Size)
	require.Len(t, s.Fragments, 1)
	assert.Equal(t, last, s.Fragments[0].Next.Addr)
	s.ByCount()
	require.Len(t, s.Types, 3)
	assert.Equal(t, []target.Addr{mtSmall, mtLarge, mtFree}, []target.Addr{s.Types[0].Type.Addr, s.Types[1].Type.Addr, s.Types[2].Type.Addr})
	s.BySize()
	assert.Equal(t, []target.Addr{mtFree, mtLarge, mtSmall}, []target.Addr{s.Types[0].Type.Addr, s.Types[1].Type.Addr, s.Types[2].Type.Addr})

	s, err = h.Stats(t.Context(), &Filter{MinSize: 25, MaxSize: 72}, ScanOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, s.Count)
	s, err = h.Stats(t.Context(), &Filter{Type: func(mt *dac.MethodTable) bool { return mt.Addr == mtSmall }}, ScanOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 7, s.Count)
	assert.Empty(t, s.Fragments, "its neighbour is not asked for")
	s, err = h.Stats(t.Context(), &Filter{Generations: []Generation{Generation0}}, ScanOptions{})
	require.NoError(t, err)
	assert.Zero(t, s.Count)
}

// TestNoAllocations: a walk costs the same number of allocations whatever the
// number of objects.
func TestNoAllocations(t *testing.T) {
	heapOf := func(n int) *Heap {
		var b builder
		for range n {
			b.small()
			b.bytes(20)
		}
		return b.heap(true, nil)
	}
	allocations := func(h *Heap) float64 {
		return testing.AllocsPerRun(3, func() {
			for _, err := range h.Objects() {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	assert.Equal(t, allocations(heapOf(10)), allocations(heapOf(20_000)))
}

// FuzzHeapWalk changes a heap at will: a walk ends, makes progress, stays in
// its segment, and is the same with several workers.
func FuzzHeapWalk(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint16(8), true)
	f.Add(binary.LittleEndian.AppendUint64(nil, uint64(mtBytes)), uint16(240), false)
	f.Fuzz(func(t *testing.T, change []byte, at uint16, lends bool) {
		var b builder
		var contexts []dac.AllocContext
		for i := range 400 {
			b.small()
			b.bytes(i)
			if i%100 == 50 {
				contexts = append(contexts, dac.AllocContext{Pointer: b.at(), Limit: b.at() + 200})
				b.gap(200 + minObjectSize)
			}
		}
		copy(b.b[int(at)%len(b.b):], change)
		h := b.heap(lends, contexts, target.Range{Start: synthHeap + 0x8000, End: synthHeap + 0x9000})
		last := target.Addr(0)
		for o, err := range h.Objects() {
			a, next := o.Addr, o.Next()
			var c *Corruption
			if errors.As(err, &c) {
				a, next = c.Addr, c.Next
			}
			if a < last || next <= a || next > b.at() {
				t.Fatalf("%x-%x after %x: %v", uint64(a), uint64(next), uint64(last), err)
			}
			last = next
		}
		if one, four := scanned(t, h, &Filter{}, 1), scanned(t, h, &Filter{}, 4); len(one.objects) != len(four.objects) || len(one.bad) != len(four.bad) {
			t.Fatalf("%d and %d objects", len(one.objects), len(four.objects))
		}
	})
}

func BenchmarkScan(b *testing.B) {
	var synth builder
	for range 1_000_000 {
		synth.small()
		synth.large()
		synth.bytes(30)
	}
	h := synth.heap(true, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Stats(context.Background(), &Filter{}, ScanOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(3_000_000*b.N)/b.Elapsed().Seconds()/1e6, "Mobjects/s")
}

// BenchmarkResync walks a segment that is garbage throughout.
func BenchmarkResync(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	synth := builder{b: make([]byte, 16<<20)}
	for i := 0; i < len(synth.b); i += 8 {
		word := []uint64{0, uint64(mtSmall), uint64(synthHeap) + r.Uint64N(1<<24), uint64(synthCode) + r.Uint64N(0x200)*8, r.Uint64()}[r.IntN(5)]
		binary.LittleEndian.PutUint64(synth.b[i:], word)
	}
	h := synth.heap(true, nil)
	b.SetBytes(int64(len(synth.b)))
	for b.Loop() {
		walked(h)
	}
}

// TestProvenWhateverWasMet checks that a type between two segments is accepted whether or not the walker has
// met it, and that a type inside a segment is not.
func TestProvenWhateverWasMet(t *testing.T) {
	b := &builder{}
	b.small()
	h := b.heap(true, nil)
	frozen := h.segments[0]
	frozen.Objects = target.Range{Start: synthCode - 0x1000, End: synthCode - 0x800}
	h.segments = append([]Segment{frozen}, h.segments...)
	inside := h.segments[0].Objects.Start + 0x100
	h.types.src.(fakeTypes)[inside] = &dac.MethodTable{Addr: inside, BaseSize: 24}
	h.mem.(*fakeMemory).pieces = append([]fakePiece{{at: frozen.Objects.Start, b: make([]byte, 0x800)}}, h.mem.(*fakeMemory).pieces...)
	met := newWalker(h)
	for _, a := range []target.Addr{mtSmall, inside} {
		_, err := met.loadType(a)
		require.NoError(t, err)
	}
	for _, w := range []*walker{met, newWalker(h)} {
		assert.NotNil(t, w.proven(mtSmall))
		assert.Nil(t, w.proven(inside))
	}
}
