package ondumps_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestDomainLocalModule compares a DomainLocalModule with the types that the debuggee printed: Statics, after
// its class constructor, and the instances of GenericStatics, which are in the dynamic class table before .NET
// 9. From 9 on the structure does not exist, and the same methods give the same results.
func TestDomainLocalModule(t *testing.T) {
	for name, structure := range map[string]bool{"net31-zoo": true, "win-net6-zoo": true, "net8-zoo": true,
		"net9-zoo": false, "net10-zoo": false, "win-net10-zoo": false} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			rt, err := d.Runtime()
			require.NoError(t, err)
			generic, plain := 0, 0
			for _, fact := range d.Manifest.Types() {
				if !strings.Contains(fact.Name, "Zoo.GenericStatics`1[") && !strings.HasSuffix(fact.Name, "Zoo.Statics") {
					continue
				}
				mt, err := rt.MethodTable(fact.Addr)
				require.NoError(t, err)
				l := checkStatics(t, rt, mt)
				assert.Equal(t, structure, l.Addr != 0)
				if mt.IsGeneric() {
					generic++
					assert.Equal(t, structure, inDynamicTable(t, l, mt, rt), "%s is in the dynamic class table", fact.Name)
					continue
				}
				plain++
				if structure {
					base, err := l.NonGCStaticsBase(mt)
					require.NoError(t, err)
					assert.Equal(t, l.Addr, base.Addr)
				}
			}
			assert.Equal(t, 4, generic)
			assert.Equal(t, 1, plain)
		})
	}
}

// checkStatics checks that the statics of mt are initialized, and that its fields are at their bases.
func checkStatics(t *testing.T, rt *dac.Runtime, mt *dac.MethodTable) *dac.DomainLocalModule {
	l, err := rt.StaticsOf(mt)
	require.NoError(t, err)
	initialized, err := l.IsClassInitialized(mt)
	require.NoError(t, err)
	assert.True(t, initialized)
	failed, err := l.IsClassInitError(mt)
	require.NoError(t, err)
	assert.False(t, failed)
	gc, err := l.GCStaticsBase(mt)
	require.NoError(t, err)
	plain, err := l.NonGCStaticsBase(mt)
	require.NoError(t, err)
	fields, err := rt.Fields(mt)
	require.NoError(t, err)
	for i := range fields {
		f := &fields[i]
		if !f.Static || f.Thread || f.RVA {
			continue
		}
		at, err := rt.StaticField(mt, f)
		require.NoError(t, err)
		base := plain
		if f.RefersToObject() {
			base = gc
		}
		assert.Equal(t, dac.StaticReady, at.State)
		assert.EqualValues(t, f.Offset, at.Addr-base.Addr)
	}
	return l
}

// inDynamicTable reports whether an entry of the dynamic class table holds the non-GC statics of mt.
func inDynamicTable(t *testing.T, l *dac.DomainLocalModule, mt *dac.MethodTable, rt *dac.Runtime) bool {
	base, err := l.NonGCStaticsBase(mt)
	require.NoError(t, err)
	var entries []dac.DynamicClass
	for c, err := range l.DynamicClasses() {
		require.NoError(t, err)
		entries = append(entries, c)
	}
	return slices.ContainsFunc(entries, func(c dac.DynamicClass) bool {
		return c.Entry == base.Addr && c.Flags&dac.ClassInitialized != 0 && c.ID < l.DynamicEntries
	})
}

// TestInitializerFailed turns an initialized class into one with a failed constructor, by its flags: the byte
// of the DomainLocalModule, or from .NET 9 on the auxiliary data and the bases of DynamicStaticsInfo.
func TestInitializerFailed(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net9-zoo", "net10-zoo"} {
		t.Run(name, func(t *testing.T) {
			rt, err := testdump.Open(t, name).Runtime()
			require.NoError(t, err)
			plain, generic := staticsOwner(t, rt, false), staticsOwner(t, rt, true)
			for _, mt := range []*dac.MethodTable{plain, generic} {
				rt, err := testdump.Patched(t, name, failedInitializer(t, rt, mt)).Runtime()
				require.NoError(t, err)
				failed, err := rt.InitializerFailed(mt)
				require.NoError(t, err)
				assert.True(t, failed)
				fields, err := rt.Fields(mt)
				require.NoError(t, err)
				states := 0
				for i := range fields {
					if f := &fields[i]; f.Static && !f.Thread && !f.RVA {
						at, err := rt.StaticField(mt, f)
						require.NoError(t, err)
						assert.Equal(t, dac.StaticFailed, at.State)
						states++
					}
				}
				assert.Positive(t, states)
			}
		})
	}
}

// failedInitializer returns patches that clear the flag of a finished class constructor and set the flag of a
// failed one.
func failedInitializer(t *testing.T, rt *dac.Runtime, mt *dac.MethodTable) map[target.Addr][]byte {
	t.Helper()
	offset := func(typ, field string) target.Addr {
		off, err := rt.Layout().Offset(typ, field)
		require.NoError(t, err)
		return target.Addr(off)
	}
	size := func(typ string) target.Addr {
		n, err := rt.Layout().Size(typ)
		require.NoError(t, err)
		return target.Addr(n)
	}
	l, err := rt.StaticsOf(mt)
	require.NoError(t, err)
	switch {
	case l.Addr != 0 && !mt.IsGeneric():
		return map[target.Addr][]byte{l.Addr + offset("DomainLocalModule", "DataBlob") + target.Addr(mt.Token.Row()-1): {6}}
	case l.Addr != 0:
		base, err := l.NonGCStaticsBase(mt)
		require.NoError(t, err)
		for c := range l.DynamicClasses() {
			if c.Entry == base.Addr {
				return map[target.Addr][]byte{
					l.DynamicClassTable + size("DynamicClassInfo")*target.Addr(c.ID) + offset("DynamicClassInfo", "Flags"): {6}}
			}
		}
		require.Fail(t, "the type has no entry")
	}
	out := map[target.Addr][]byte{}
	set := func(at target.Addr, clear, set uint64) {
		v, err := target.Uint64(rt.Memory(), at)
		require.NoError(t, err)
		out[at] = binary.LittleEndian.AppendUint64(nil, v&^clear|set)
	}
	set(mt.Auxiliary+offset("MethodTableAuxiliaryData", "Flags"), 1, 0x100)
	statics := mt.Auxiliary - size("DynamicStaticsInfo")
	set(statics+offset("DynamicStaticsInfo", "GCStatics"), 0, 1)
	set(statics+offset("DynamicStaticsInfo", "NonGCStatics"), 0, 1)
	return out
}
