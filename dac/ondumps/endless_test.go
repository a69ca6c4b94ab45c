package ondumps_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// coreLib opens the runtime of a canned dump with a damaged CoreLib. damage returns the address and the value
// to write, for the sound module.
func coreLib(t *testing.T, damage func(rt *dac.Runtime, m *dac.Module) (at target.Addr, value uint64)) *dac.Module {
	t.Helper()
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	sound, err := rt.CoreLib()
	require.NoError(t, err)
	at, value := damage(rt, sound)
	rt, err = testdump.Patched(t, "net10-zoo", map[target.Addr][]byte{at: binary.LittleEndian.AppendUint64(nil, value)}).Runtime()
	require.NoError(t, err)
	m, err := rt.CoreLib()
	require.NoError(t, err)
	return m
}

// TestEndlessLookupMap checks that a lookup map that leads back into itself is corrupt, and that no row
// repeats.
func TestEndlessLookupMap(t *testing.T) {
	var table uint32
	m := coreLib(t, func(rt *dac.Runtime, m *dac.Module) (target.Addr, uint64) {
		at, err := m.MapAddr(dac.MapTypeDef)
		require.NoError(t, err)
		next, err := rt.Layout().Offset("ModuleLookupMap", "Next")
		require.NoError(t, err)
		md, err := m.Metadata()
		require.NoError(t, err)
		table = md.RowCount(0x02)
		return at + target.Addr(next), uint64(at)
	})
	seen := map[uint32]bool{}
	var last error
	for e, err := range m.Entries(dac.MapTypeDef) {
		if last = err; err == nil {
			require.False(t, seen[e.Row], "row %d again", e.Row)
			require.LessOrEqual(t, e.Row, table)
			seen[e.Row] = true
		}
	}
	require.ErrorIs(t, last, target.ErrCorrupt)
	require.NotEmpty(t, seen)
	_, err := m.Lookup(dac.MapTypeDef, 1<<24-1)
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// TestLookupMapBeyondMetadata checks that an entry for a row beyond the metadata ends the map as corrupt.
func TestLookupMapBeyondMetadata(t *testing.T) {
	m := coreLib(t, func(rt *dac.Runtime, m *dac.Module) (target.Addr, uint64) {
		at, err := m.MapAddr(dac.MapAssemblyRef)
		require.NoError(t, err)
		types, err := m.MapTable(dac.MapTypeDef)
		require.NoError(t, err)
		table, err := rt.Layout().Offset("ModuleLookupMap", "TableData")
		require.NoError(t, err)
		return at + target.Addr(table), uint64(types)
	})
	n := 0
	for _, err := range m.Entries(dac.MapAssemblyRef) {
		require.ErrorIs(t, err, target.ErrCorrupt)
		n++
	}
	require.LessOrEqual(t, n, 1)
}

// TestEndlessTypeHash checks that a chain of constructed types that leads back into itself is corrupt, and that
// the other chains are read.
func TestEndlessTypeHash(t *testing.T) {
	count := func(m *dac.Module) (types, corrupt int) {
		for _, err := range m.ConstructedTypes() {
			if err != nil {
				require.ErrorIs(t, err, target.ErrCorrupt)
				corrupt++
				continue
			}
			types++
		}
		return types, corrupt
	}
	var sound int
	m := coreLib(t, func(rt *dac.Runtime, m *dac.Module) (target.Addr, uint64) {
		sound, _ = count(m)
		return entryOf(t, rt, m)
	})
	types, corrupt := count(m)
	require.Equal(t, 1, corrupt)
	require.InDelta(t, sound, types, 64)
}

// entryOf finds the link of an entry of the table of constructed types, and the entry's address.
func entryOf(t *testing.T, rt *dac.Runtime, m *dac.Module) (link target.Addr, entry uint64) {
	t.Helper()
	offset := func(typ, field string) target.Addr {
		n, err := rt.Layout().Offset(typ, field)
		require.NoError(t, err)
		return target.Addr(n)
	}
	word := func(a target.Addr) target.Addr {
		v, err := target.Pointer(rt.Memory(), a)
		require.NoError(t, err)
		return v
	}
	table := word(m.Addr + offset("Module", "AvailableTypeParams"))
	buckets := word(table + offset("EETypeHashTable", "Buckets"))
	for i := range word(buckets) {
		if e := word(buckets + 16 + 8*i); e != 0 && e&1 == 0 {
			return e + offset("EETypeHashTable", "VolatileEntryNextEntry"), uint64(e)
		}
	}
	t.Fatal("no entry")
	return 0, 0
}
