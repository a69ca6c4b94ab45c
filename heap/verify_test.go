package heap

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestVerifyReference checks the kinds of faulty references.
func TestVerifyReference(t *testing.T) {
	b := &builder{}
	from, to, free := b.small(), b.small(), b.free(8)
	b.put(from+8, uint64(to))
	hole := b.bytes(64)
	h := b.heap(false, nil, target.Range{Start: hole, End: hole + 16})
	s := &h.segments[0]
	o, err := h.ObjectAt(from)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		to     target.Addr
		faults []FaultKind
		lacks  int
	}{
		"an object":          {to, nil, 0},
		"itself":             {from, nil, 0},
		"not aligned":        {to + 1, []FaultKind{FaultReferenceAlignment}, 0},
		"no heap":            {synthCode, []FaultKind{FaultReference}, 0},
		"behind the segment": {b.at(), []FaultKind{FaultReference}, 0},
		"inside an object":   {to + 8, []FaultKind{FaultReference}, 0},
		"a free block":       {free, []FaultKind{FaultReferenceToFree}, 0},
		"not in the dump":    {hole, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			v := &verifier{h: h, edges: h.Edges(EdgeOptions{})}
			v.reference(s, &o, 8, test.to)
			var kinds []FaultKind
			for _, f := range v.out.Faults {
				kinds = append(kinds, f.Kind)
				require.Equal(t, test.to, f.Value)
				require.EqualValues(t, 8, f.Offset)
				require.NotEmpty(t, f.String())
			}
			require.Equal(t, test.faults, kinds)
			require.Equal(t, test.lacks, v.out.Missing)
		})
	}
}

// TestVerifyHead: an address that is no object's.
func TestVerifyHead(t *testing.T) {
	b := &builder{}
	at := b.small()
	b.put(at+8, 0x3ff)
	large := b.bytes(16)
	b.put(large+8, 1<<30)
	h := b.heap(false, nil)
	for _, test := range []struct {
		a     target.Addr
		kind  FaultKind
		value target.Addr
	}{
		{at + 8, FaultMethodTable, 0x3ff},
		{at + 4, FaultNotAligned, 0},
		{synthCode, FaultNotOnHeap, 0},
		{large, FaultTooLarge, 24 + 1<<30},
	} {
		v := &verifier{h: h, edges: h.Edges(EdgeOptions{})}
		got := v.verify(test.a)
		require.Equal(t, 1, got.Faulty, "%x", test.a)
		require.Equal(t, test.kind, got.Faults[0].Kind)
		require.Equal(t, test.value, got.Faults[0].Value)
	}
}

// TestVerificationAdd checks that results of runs are merged. Kept faults are bounded, counted ones are not.
func TestVerificationAdd(t *testing.T) {
	var total, part Verification
	for range MaxCorruptions {
		part.fault(Fault{})
	}
	part.Objects = 5
	part.addMissing(target.ErrNotInDump)
	part.addMissing(target.ErrNotInDump)
	total.add(&part)
	total.add(&part)
	require.Len(t, total.Faults, MaxCorruptions)
	require.Equal(t, 2*MaxCorruptions, total.Faulty)
	require.EqualValues(t, 10, total.Objects)
	require.Equal(t, 4, total.Missing)
	require.ErrorIs(t, total.MissingErr, target.ErrNotInDump)
}
