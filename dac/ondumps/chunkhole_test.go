package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestChunkWithHole checks that a method in the dump is found although another method of its chunk, before or
// after it, is missing. The list of the type's methods must contain those in the dump.
func TestChunkWithHole(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net31-zoo", "net10-arm64"} {
		t.Run(name, func(t *testing.T) {
			t.Attr("case", name)
			d := testdump.Open(t, name)
			first, second, third := threeMethods(t, d)
			for _, hole := range []*dac.MethodDesc{first, second, third} {
				dump := d.Without(t, target.Range{Start: hole.Addr, End: hole.Addr + 8})
				rt, err := dump.Runtime()
				require.NoError(t, err)
				r := dac.CodeOf(rt)
				_, err = r.MethodDesc(hole.Addr)
				assert.ErrorIs(t, err, target.ErrNotInDump)
				for _, m := range []*dac.MethodDesc{first, second, third} {
					if m == hole {
						continue
					}
					got, err := r.MethodDesc(m.Addr)
					require.NoError(t, err, "%#x without %#x", m.Addr, hole.Addr)
					assert.Equal(t, m.Token, got.Token)
					assert.Equal(t, m.MethodTable, got.MethodTable)
					_, err = r.MethodDesc(m.Addr + 8)
					assert.Error(t, err, "the middle of a method")
				}
				mt, err := rt.MethodTable(first.MethodTable)
				require.NoError(t, err)
				listed := 0
				for m, err := range r.Methods(mt) {
					if err != nil {
						assert.ErrorIs(t, err, target.ErrNotInDump)
					} else if m.Chunk == first.Chunk {
						listed++
					}
				}
				assert.Equal(t, map[*dac.MethodDesc]int{first: 0, second: 1, third: 2}[hole], listed)
			}
		})
	}
}

// threeMethods returns the first methods of a chunk.
func threeMethods(t *testing.T, d *testdump.Dump) (_, _, _ *dac.MethodDesc) {
	rt, err := d.Runtime()
	require.NoError(t, err)
	for _, fact := range d.Manifest.Types() {
		mt, err := rt.MethodTable(fact.Addr)
		if err != nil || mt.IsGeneric() || mt.IsArray() {
			continue
		}
		var list []*dac.MethodDesc
		for m, err := range dac.CodeOf(rt).Methods(mt) {
			if err != nil || len(list) > 0 && m.Chunk != list[0].Chunk {
				break
			}
			list = append(list, m)
		}
		if len(list) >= 3 {
			return list[0], list[1], list[2]
		}
	}
	t.Fatal("no chunk of three methods")
	return nil, nil, nil
}
