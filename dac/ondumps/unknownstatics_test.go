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

// TestUnknownStatics makes types of runtimes before .NET 9 collectible, or types of Reflection.Emit. Their
// statics must not be read.
func TestUnknownStatics(t *testing.T) {
	for _, name := range []string{"net8-zoo", "net31-zoo", "win-net6-zoo"} {
		t.Run(name, func(t *testing.T) {
			rt, err := testdump.Open(t, name).Runtime()
			require.NoError(t, err)
			plain, generic := staticsOwner(t, rt, false), staticsOwner(t, rt, true)
			const emitted, kinds = 2, 6 // methodtable.h, enum_flag_StaticsMask
			collectible, err := rt.Layout().Uint("MTFlagCollectible")
			require.NoError(t, err)
			for _, c := range []struct {
				mt    *dac.MethodTable
				flags uint32
			}{
				{plain, plain.Flags&^kinds | emitted}, {plain, plain.Flags | uint32(collectible)},
				{generic, generic.Flags&^kinds | emitted}, {generic, generic.Flags | uint32(collectible)},
			} {
				checkUnknownStatics(t, name, c.mt, c.flags)
			}
		})
	}
}

// staticsOwner returns a type with an initialized static.
func staticsOwner(t *testing.T, rt *dac.Runtime, generic bool) *dac.MethodTable {
	for mt, err := range rt.LoadedTypes() {
		if err != nil || mt.IsArray() || mt.IsOpen() || mt.IsGeneric() != generic {
			continue
		}
		fields, err := rt.Fields(mt)
		if err != nil {
			continue
		}
		for i := range fields {
			if f := &fields[i]; f.Static && !f.Thread && !f.RVA {
				if s, err := rt.StaticField(mt, f); err == nil && s.State == dac.StaticReady {
					return mt
				}
			}
		}
	}
	require.Fail(t, "no type has statics", "generic: %t", generic)
	return nil
}

func checkUnknownStatics(t *testing.T, name string, mt *dac.MethodTable, flags uint32) {
	t.Helper()
	was, err := testdump.Open(t, name).Runtime()
	require.NoError(t, err)
	off, err := was.Layout().Offset("MethodTable", "MTFlags")
	require.NoError(t, err)
	rt, err := testdump.Patched(t, name, map[target.Addr][]byte{
		mt.Addr + target.Addr(off): binary.LittleEndian.AppendUint32(nil, flags)}).Runtime()
	require.NoError(t, err)
	made, err := rt.MethodTable(mt.Addr)
	require.NoError(t, err)
	fields, err := rt.Fields(made)
	require.NoError(t, err)
	threads, err := rt.Threads()
	require.NoError(t, err)
	require.NotEmpty(t, threads)
	asked := 0
	for i := range fields {
		f := &fields[i]
		if !f.Static || f.RVA {
			continue
		}
		asked++
		got, err := rt.StaticField(made, f)
		other, otherErr := rt.ThreadStaticField(made, f, &threads[0])
		if f.Thread {
			got, other, err, otherErr = other, got, otherErr, err
		}
		assert.ErrorIs(t, err, target.ErrUnsupported)
		assert.ErrorIs(t, otherErr, target.ErrArgument, "a field of the other kind")
		assert.Zero(t, got.Addr+other.Addr)
	}
	assert.Positive(t, asked)
}
