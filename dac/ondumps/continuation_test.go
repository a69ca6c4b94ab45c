package ondumps_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestContinuation turns two types that derive from a type into what runtime-async makes: MethodTables without
// a token, one with the EEClass of the other, below a type named Continuation. They must be MethodTables with a
// name and without fields. Below another type, or with another's class, they must be corrupt.
func TestContinuation(t *testing.T) {
	const name = "net10-zoo"
	rt, err := testdump.Open(t, name).Runtime()
	require.NoError(t, err)
	base := rt.WellKnown().Exception
	var heirs []*dac.MethodTable
	var stranger *dac.MethodTable
	for mt, err := range rt.LoadedTypes() {
		switch {
		case err != nil || mt.IsGeneric() || mt.IsArray() || mt.Canonical != mt.Addr || mt.EEClass == 0:
		case mt.Parent == base:
			heirs = append(heirs, mt)
		case mt.Parent == rt.WellKnown().Object:
			stranger = mt
		}
	}
	require.GreaterOrEqual(t, len(heirs), 2)
	require.NotNil(t, stranger)
	parent, err := rt.MethodTable(base)
	require.NoError(t, err)
	m, err := rt.TrustedModule(parent.Module)
	require.NoError(t, err)
	found, err := m.FindName("System.Runtime.CompilerServices.Continuation")
	require.NoError(t, err)
	require.Len(t, found, 1)

	flags2, err := rt.Layout().Offset("MethodTable", "MTFlags2")
	require.NoError(t, err)
	class, err := rt.Layout().Offset("MethodTable", "EEClassOrCanonMT")
	require.NoError(t, err)
	token := func(mt *dac.MethodTable, row uint32) (target.Addr, []byte) {
		return mt.Addr + target.Addr(flags2), binary.LittleEndian.AppendUint32(nil, mt.Flags2&0xff|row<<8)
	}
	made, first := heirs[0], heirs[1]
	open := func(named bool, owner *dac.MethodTable) *dac.Runtime {
		patches := map[target.Addr][]byte{made.Addr + target.Addr(class): binary.LittleEndian.AppendUint64(nil, uint64(owner.EEClass))}
		for _, mt := range []*dac.MethodTable{made, first} {
			at, b := token(mt, 0)
			patches[at] = b
		}
		if named {
			at, b := token(parent, found[0].Type.Row())
			patches[at] = b
		}
		rt, err := testdump.Patched(t, name, patches).Runtime()
		require.NoError(t, err)
		return rt
	}

	rt = open(true, first)
	for _, a := range []target.Addr{made.Addr, first.Addr} {
		mt, err := rt.MethodTable(a)
		require.NoError(t, err)
		for _, style := range []dac.NameStyle{dac.NameNative, dac.NameManaged} {
			got, err := rt.TypeName(a, style)
			require.NoError(t, err)
			assert.Equal(t, "System.Runtime.CompilerServices.Continuation (subtype without metadata)", got)
		}
		fields, err := rt.Fields(mt)
		require.NoError(t, err)
		assert.Empty(t, fields)
	}
	_, err = open(false, first).MethodTable(made.Addr)
	require.ErrorIs(t, err, target.ErrCorrupt, "below a type of another name")
	_, err = open(true, stranger).MethodTable(made.Addr)
	require.ErrorIs(t, err, target.ErrCorrupt, "with the class of a type that is no continuation")
}
