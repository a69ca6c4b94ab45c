package heap

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

const edgesAt = target.Addr(0x20000)

// edgesOver returns an Edges over a type with two references at 8 and the keeper 0x30000, and an object with
// the given words of memory.
func edgesOver(o EdgeOptions, desc []uint64, words ...uint64) (*Edges, *Object) {
	m := &fakeMemory{lends: true, pieces: []fakePiece{
		{gcMT - target.Addr(8*len(desc)), gcDescMemory(desc...).b}, {edgesAt, gcDescMemory(words...).b},
	}}
	types := &edgeTypes{mem: m, keeper: func(*dac.MethodTable) (target.Addr, error) { return 0x30000, nil }}
	mt := &dac.MethodTable{Addr: gcMT, Flags: flagContainsGC}
	return &Edges{mem: m, win: target.NewWindow(m), types: types, options: o}, &Object{Addr: edgesAt, Type: mt, Size: 32}
}

func TestEdges(t *testing.T) {
	two := []uint64{minus(16), 8, 1}
	all := func(e *Edges, o *Object) (refs []Reference, errs []error) {
		for ref, err := range e.Of(o) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			refs = append(refs, ref)
		}
		return refs, errs
	}
	t.Run("stored", func(t *testing.T) {
		e, o := edgesOver(EdgeOptions{}, two, gcMT, 0x111000, 0)
		refs, errs := all(e, o)
		require.Empty(t, errs)
		require.Equal(t, []Reference{{Slot: edgesAt + 8, Target: 0x111000}}, refs, "null is none")
	})
	t.Run("keeper", func(t *testing.T) {
		e, o := edgesOver(EdgeOptions{LoaderAllocators: true}, two, gcMT, 0x111000, 0x222000)
		refs, errs := all(e, o)
		require.Empty(t, errs)
		require.Equal(t, []Reference{{Slot: edgesAt + 8, Target: 0x111000}, {Slot: edgesAt + 16, Target: 0x222000}, {Target: 0x30000}}, refs)
		for range e.Of(o) {
			break // must not be called again
		}
	})
	t.Run("size", func(t *testing.T) {
		e, o := edgesOver(EdgeOptions{}, []uint64{0, 8, 1}, gcMT, 0x111000, 0x222000, 0x333000)
		o.Size = 24
		refs, errs := all(e, o)
		require.Empty(t, errs)
		require.Equal(t, []Reference{{Slot: edgesAt + 8, Target: 0x111000}}, refs, "nothing behind the object")
	})
	t.Run("missing", func(t *testing.T) {
		e, o := edgesOver(EdgeOptions{LoaderAllocators: true}, two, gcMT, 0x111000)
		refs, errs := all(e, o)
		require.Equal(t, []Reference{{Slot: edgesAt + 8, Target: 0x111000}, {Target: 0x30000}}, refs, "the rest goes on")
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], target.ErrNotInDump)
	})
	t.Run("a hole is one error", func(t *testing.T) {
		e, o := edgesOver(EdgeOptions{}, two, gcMT, 0x111000)
		o.Size = 64 << 10
		refs, errs := all(e, o)
		require.Equal(t, []Reference{{Slot: edgesAt + 8, Target: 0x111000}}, refs)
		require.NotEmpty(t, errs)
		missing := uint64(0)
		for ref := range e.Of(o) {
			missing += ref.Missing
		}
		require.EqualValues(t, 64<<10/8-3, missing, "all but the MethodTable, the one that is there, and the next object's header")
		require.LessOrEqual(t, len(errs), 17, "one a page, as this memory does not know its holes")
	})
	t.Run("corrupt", func(t *testing.T) {
		e, o := edgesOver(EdgeOptions{LoaderAllocators: true}, []uint64{0}, gcMT, 0x111000)
		for range 2 { // read once, reported each time
			refs, errs := all(e, o)
			require.Empty(t, refs)
			require.Len(t, errs, 1)
			var desc *GCDescError
			require.True(t, errors.As(errs[0], &desc))
			require.EqualValues(t, gcMT, desc.MethodTable)
			require.ErrorIs(t, errs[0], target.ErrCorrupt)
		}
	})
}

// TestEdgesWhole checks that Whole returns the references of Of for a complete object with a known type, and
// false for others.
func TestEdgesWhole(t *testing.T) {
	two := []uint64{minus(16), 8, 1}
	for _, o := range []EdgeOptions{{}, {LoaderAllocators: true}} {
		e, object := edgesOver(o, two, gcMT, 0x111000, 0x222000, 0)
		var want []target.Addr
		for ref, err := range e.Of(object) {
			require.NoError(t, err)
			want = append(want, ref.Target)
		}
		got, ok := e.Whole(nil, object)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	before := []target.Addr{1}
	e, object := edgesOver(EdgeOptions{}, two, gcMT, 0x111000)
	got, ok := e.Whole(before, object)
	require.False(t, ok, "half of it is there")
	require.Equal(t, before, got)
	e, object = edgesOver(EdgeOptions{}, []uint64{0}, gcMT, 0x111000, 0, 0)
	got, ok = e.Whole(before, object)
	require.False(t, ok, "nobody knows where")
	require.Equal(t, before, got)
}

// TestEdgesAllocate: an object of a known type costs no allocation.
func TestEdgesAllocate(t *testing.T) {
	e, o := edgesOver(EdgeOptions{LoaderAllocators: true}, []uint64{minus(16), 8, 1}, gcMT, 0x111000, 0x222000)
	n := 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range e.Of(o) {
			n++
		}
	}))
	require.Equal(t, 3*101, n)
}
