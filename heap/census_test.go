package heap

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// noted is a Collector that records its calls.
type noted struct {
	objects []Object
	corrupt []target.Addr
	before  []int // objects before each of corrupt
}

func (n *noted) Objects(_ *Segment, batch []Object) { n.objects = append(n.objects, batch...) }
func (n *noted) Corrupt(c *Corruption) {
	n.corrupt, n.before = append(n.corrupt, c.Addr), append(n.before, len(n.objects))
}
func (n *noted) Reset() { *n = noted{} }

// scattered makes a heap with many small objects, a byte array after each seventh, damage after each third of these, and free blocks.
func scattered() *Heap {
	var b builder
	var bad []target.Addr
	for i := range 20_000 {
		b.small()
		switch i % 7 {
		case 0:
			b.bytes(i % 100)
		case 3:
			b.free(i % 200)
		}
		if i%21 == 5 {
			bad = append(bad, b.large())
			b.small()
		}
	}
	for _, a := range bad {
		b.put(a, 1)
	}
	return b.heap(true, nil)
}

// TestSelect compares Select with a walk of all objects, for types in the census and types with too many
// objects.
func TestSelect(t *testing.T) {
	for _, most := range []int{censusType, 3000, 10} {
		for _, types := range [][]target.Addr{{mtBytes}, {mtSmall}, {mtSmall, mtBytes}, {mtString}, nil} {
			h := scattered()
			c := &Census{most: most}
			require.NoError(t, Scan(t.Context(), h, nil, ScanOptions{runSize: 1 << 12}, func() *counting { return newCounting(h) }, c.merge))
			_, err := h.census.Get(func() (*Census, error) { return c, nil })
			require.NoError(t, err)
			want := func(mt *dac.MethodTable) bool { return slices.Contains(types, mt.Addr) }
			var got, all noted
			sieve := NewSieve(&Filter{Type: want})
			gather := func(into *noted, pass func(*Object) bool) func(*noted) error {
				return func(n *noted) error {
					at, base := 0, len(into.objects)
					kept := 0
					for i := range n.objects {
						for ; at < len(n.corrupt) && n.before[at] <= i; at++ {
							into.corrupt, into.before = append(into.corrupt, n.corrupt[at]), append(into.before, base+kept)
						}
						if o := &n.objects[i]; pass(o) {
							into.objects = append(into.objects, *o)
							kept++
						}
					}
					for ; at < len(n.corrupt); at++ {
						into.corrupt, into.before = append(into.corrupt, n.corrupt[at]), append(into.before, base+kept)
					}
					return nil
				}
			}
			create := func() *noted { return &noted{} }
			require.NoError(t, Select(t.Context(), h, want, ScanOptions{Jobs: 3}, create, gather(&got, func(*Object) bool { return true }))) // gets no others
			require.NoError(t, Scan(t.Context(), h, nil, ScanOptions{Jobs: 3}, create, gather(&all, func(o *Object) bool { return !o.Free && sieve.Pass(o) })))
			require.Equal(t, all.objects, got.objects)
			require.Equal(t, all.corrupt, got.corrupt)
			require.Equal(t, all.before, got.before)
			require.NotEmpty(t, got.corrupt)
			_, known := c.objectsOf(h, want)
			require.Equal(t, most >= 20_000 || most >= 2858 && !slices.Contains(types, mtSmall) || !slices.Contains(types, mtSmall) && !slices.Contains(types, mtBytes), known, "%d %x", most, types)
		}
	}
}

// TestCensus compares the counts of a census with a walk.
func TestCensus(t *testing.T) {
	h := scattered()
	c, err := h.Census(t.Context(), ScanOptions{Jobs: 2})
	require.NoError(t, err)
	var objects, size uint64
	var free FreeSpace
	for o, err := range h.Objects() {
		switch room := uint64(o.Next() - o.Addr); {
		case err != nil:
		case o.Free:
			free.Blocks, free.Free, free.Largest = free.Blocks+1, free.Free+room, max(free.Largest, o.Size)
		default:
			objects, size = objects+1, size+room
		}
	}
	free.Objects = size
	assert.Equal(t, objects, c.Objects)
	assert.Equal(t, free, c.Free[Generation2])
	again, err := h.Census(t.Context(), ScanOptions{})
	require.NoError(t, err)
	assert.Same(t, c, again)
}

// TestScanWithCensus checks that another walk takes the same census, once, and no census if it fails.
func TestScanWithCensus(t *testing.T) {
	want, err := scattered().Census(t.Context(), ScanOptions{})
	require.NoError(t, err)
	h := scattered()
	full := errors.New("full")
	create := func() *counting { return newCounting(h) }
	require.ErrorIs(t, ScanWithCensus(t.Context(), h, ScanOptions{}, create, func(*counting) error { return full }), full)
	_, ok := h.census.Known()
	assert.False(t, ok)
	for range 2 {
		other := &Census{most: censusType}
		require.NoError(t, ScanWithCensus(t.Context(), h, ScanOptions{Jobs: 2}, create, other.merge))
		got, ok := h.census.Known()
		require.True(t, ok)
		for _, c := range []*Census{got, other} {
			assert.Equal(t, want.Objects, c.Objects)
			assert.Equal(t, want.Free, c.Free)
			assert.Equal(t, want.kept, c.kept)
			assert.Len(t, c.corrupt, len(want.corrupt))
		}
	}
}

// TestCensusIsBounded checks that types with most objects are forgotten when all together have too many.
func TestCensusIsBounded(t *testing.T) {
	c := &Census{most: censusType}
	run := &counting{}
	for n := range uint32(60) {
		some := make([]target.Addr, censusType-1000*int(n))
		run.types = append(run.types, typeObjects{count: uint64(len(some)), at: some})
		run.met = append(run.met, n)
	}
	require.NoError(t, c.merge(run))
	assert.LessOrEqual(t, c.kept, censusAll)
	kept := 0
	for i := range c.types {
		kept += len(c.types[i].at)
	}
	assert.Equal(t, kept, c.kept)
	assert.Nil(t, c.types[0].at)
	assert.NotNil(t, c.types[59].at)
}
