package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// overlaid opens a canned dump and its runtime. Tests can overwrite the memory.
func overlaid(t *testing.T, name string) (*Runtime, *testcase.Overlay) {
	t.Helper()
	d, err := dump.Open(testcase.Canned(t, name).Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	rt, err := Find(d, d, nil)[0].Open()
	require.NoError(t, err)
	mem := &testcase.Overlay{Memory: rt.mem}
	mem.Set()
	rt.mem = mem
	return rt, mem
}

// TestDamagedPrimitive checks that a primitive type with a damaged EEClass, which makes it another kind of type,
// has no name in signatures.
func TestDamagedPrimitive(t *testing.T) {
	rt, mem := overlaid(t, "net10-zoo")
	tried := 0
	for mt, err := range rt.LoadedTypes() {
		if err != nil || mt.Category() != CategoryTruePrimitive {
			continue
		}
		class, err := rt.EEClass(mt)
		require.NoError(t, err)
		sound, err := rt.appendSigType(nil, mt.Addr, 0)
		require.NoError(t, err)
		require.NotEmpty(t, sound)
		for kind := range metadata.ElementType(0x50) {
			mem.Set(testcase.Damage{At: class.Addr + target.Addr(rt.off.EEClass.ElementType), Bytes: []byte{byte(kind)}})
			name, err := rt.appendSigType(nil, mt.Addr, 0)
			if kind != class.ElementType {
				require.ErrorIs(t, err, target.ErrCorrupt, "%v", kind)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, string(sound), string(name))
		}
		mem.Set()
		tried++
	}
	require.Positive(t, tried)
}

// TestEndlessElement checks that an array type whose elements are of the type itself has no name, and that this is a limit: arrays of arrays may be
// nested as deep in a sound process.
func TestEndlessElement(t *testing.T) {
	sound, _ := overlaid(t, "net10-zoo")
	for mt, err := range sound.LoadedTypes() {
		if err != nil || !mt.IsArray() {
			continue
		}
		rt, mem := overlaid(t, "net10-zoo")
		own := binary.LittleEndian.AppendUint64(nil, uint64(mt.Addr))
		mem.Set(testcase.Damage{At: mt.Addr + target.Addr(rt.off.MethodTable.PerInstInfo), Bytes: own})
		for _, style := range []NameStyle{NameNative, NameManaged} {
			_, err = rt.TypeName(mt.Addr, style)
			require.ErrorIs(t, err, target.ErrLimit)
			require.NotErrorIs(t, err, target.ErrCorrupt)
		}
		return
	}
	require.Fail(t, "no array type")
}
