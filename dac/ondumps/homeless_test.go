package ondumps_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// canonicalWord returns the address of the word with which a generic instance refers to its canonical
// MethodTable, and the word's tag.
func canonicalWord(t *testing.T, d *testdump.Dump, mt *dac.MethodTable) (at target.Addr, tag uint64) {
	for at = mt.Addr; at < mt.Addr+0x48; at += 8 {
		if w, err := target.Uint64(d.Memory(), at); err == nil && w&^3 == uint64(mt.Canonical) && w&3 != 0 {
			return at, w & 3
		}
	}
	t.Fatalf("MethodTable %v names no canonical one", mt.Addr)
	return 0, 0
}

// TestTypeWithoutCanonical checks generic instances before .NET 9, which refer to their module only through
// their canonical MethodTable. If that is not in the dump, the type is target.ErrNotInDump and not corrupt.
func TestTypeWithoutCanonical(t *testing.T) {
	for _, name := range []string{"net8-zoo", "net31-zoo", "win-net8-zoo"} {
		d := testdump.Open(t, name)
		rt, err := d.Runtime()
		require.NoError(t, err)
		var shared []*dac.MethodTable
		for mt, err := range rt.LoadedTypes() {
			if err == nil && mt.Canonical != mt.Addr && mt.IsGeneric() && !mt.IsArray() {
				shared = append(shared, mt)
			}
		}
		require.Greater(t, len(shared), 2, name)
		at, tag := canonicalWord(t, d, shared[0])
		over, memory := testdump.OpenOverlaid(t, name)
		again := func(words ...testdump.Damage) *dac.Runtime {
			memory.Set(words...)
			rt, err := over.Runtimes()[0].Open()
			require.NoError(t, err)
			return rt
		}
		missing := shared[0].Canonical
		for err = nil; !errors.Is(err, target.ErrNotInDump); missing += 0x1000 {
			_, err = target.Uint64(d.Memory(), missing+0x1000)
			err = target.ClaimsOf(rt.Target()).ExplainWritten(err)
		}
		damaged := again(testdump.Words(at, uint64(missing)|tag))
		_, _, err = damaged.MethodTableAt(shared[0].Addr)
		assert.ErrorIs(t, err, target.ErrNotInDump, name)
		assert.NotErrorIs(t, err, target.ErrCorrupt, name)
		mt, err := damaged.TrustedMethodTable(shared[0].Addr)
		require.NoError(t, err, name)
		_, err = damaged.ModuleOf(mt)
		assert.ErrorIs(t, err, target.ErrNotInDump, name)
		_, err = damaged.TypeName(mt.Addr, dac.NameManaged)
		assert.ErrorIs(t, err, target.ErrNotInDump, name)

		// Two types that refer to each other must not loop.
		other, _ := canonicalWord(t, d, shared[1])
		damaged = again(testdump.Words(at, uint64(shared[1].Addr)|tag), testdump.Words(other, uint64(shared[0].Addr)|tag))
		_, _, err = damaged.MethodTableAt(shared[0].Addr)
		assert.ErrorAs(t, err, new(*target.AddressError), name)
	}
}
