package disguise_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/disguise"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestUnproved damages the proof of a member in the table for .NET 11. Only the member is lost,
// with the reason.
func TestUnproved(t *testing.T) {
	const name = "net10-zoo"
	open := func(t *testing.T, damage ...testcase.Damage) *dac.Runtime {
		c := testdump.Open(t, name)
		v, err := disguise.OpenWith(t, c.Path, c.Options(), disguise.Changes{Damage: damage}).View("")
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		return rt
	}
	whole := open(t)
	at := func(a target.Addr, typ, field string) target.Addr {
		off, err := whole.Layout().Offset(typ, field)
		require.NoError(t, err)
		return a + target.Addr(off)
	}
	threads, err := whole.Threads()
	require.NoError(t, err)
	text := whole.WellKnown().String
	mt, err := whole.MethodTable(text)
	require.NoError(t, err)
	list, err := whole.Interfaces(mt)
	require.NoError(t, err)
	require.NotEmpty(t, list)

	for _, c := range []struct {
		name   string
		damage testcase.Damage
		lost   func(rt *dac.Runtime) error
		kept   func(rt *dac.Runtime) error
	}{
		{"interface map", testcase.Words(at(text, "MethodTable", "InterfaceMap"), uint64(threads[0].Addr)),
			func(rt *dac.Runtime) error { _, err := rt.Layout().Offset("MethodTable", "InterfaceMap"); return err },
			func(rt *dac.Runtime) error { _, err := rt.Layout().Offset("Thread", "GCFrame"); return err }},
		{"end of Thread", testcase.Words(at(threads[1].Addr, "Thread", "GCFrame"), 0x1234),
			func(rt *dac.Runtime) error { _, err := rt.TailCallArguments(&threads[0]); return err },
			func(rt *dac.Runtime) error { _, err := rt.Interfaces(mt); return err }},
		{"end of Thread: its neighbour", testcase.Words(at(threads[1].Addr, "Thread", "GCFrame"), 0x1234),
			func(rt *dac.Runtime) error {
				for _, err := range rt.GCFrames(&threads[0]) {
					return err
				}
				return nil
			},
			func(rt *dac.Runtime) error { _, err := rt.Threads(); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, c.lost(whole))
			rt := open(t, c.damage)
			require.ErrorIs(t, c.lost(rt), target.ErrUnsupported)
			assert.NoError(t, c.kept(rt))
		})
	}
	_, err = open(t, testcase.Words(at(text, "MethodTable", "InterfaceMap"), 0)).Layout().Offset("MethodTable", "InterfaceMap")
	assert.ErrorContains(t, err, "its place is that of 10.0, and the process does not prove it")
}
