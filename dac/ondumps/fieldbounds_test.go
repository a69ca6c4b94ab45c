package ondumps_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestFieldsOfBothKinds gives a type the largest numbers of instance and static fields. The only error must be
// missing memory.
func TestFieldsOfBothKinds(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	types := d.Manifest.Types()
	i := slices.IndexFunc(types, func(f testcase.TypeFact) bool { return f.Name == "Debuggee.Zoo.Dog" })
	require.GreaterOrEqual(t, i, 0)
	mt, err := rt.MethodTable(types[i].Addr)
	require.NoError(t, err)
	sound, err := rt.Fields(mt)
	require.NoError(t, err)
	require.NotEmpty(t, sound)
	var damage []testdump.Damage
	for _, member := range []string{"NumInstanceFields", "NumStaticFields"} {
		off, err := rt.Layout().Offset("EEClass", member)
		require.NoError(t, err)
		damage = append(damage, testdump.Damage{At: mt.EEClass + target.Addr(off), Bytes: []byte{0x40, 0x9c}}) // 40,000
	}
	rt, err = d.Damaged(t, damage...).Runtime()
	require.NoError(t, err)
	mt, err = rt.MethodTable(mt.Addr)
	require.NoError(t, err)
	_, err = rt.Fields(mt)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "instance and", "each number is one that there can be")
	assert.Contains(t, err.Error(), "read ", "the whole list is asked for")
}
