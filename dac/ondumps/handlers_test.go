package ondumps_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestCodeInStub checks that a MethodDesc with code that begins in a stub is corrupt: code of a method always
// has a method.
func TestCodeInStub(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	r := dac.CodeOf(rt)
	sections, err := r.RangeSections()
	require.NoError(t, err)
	var stub target.Addr
	for _, s := range sections {
		if info, err := r.MethodAt(s.Range.Start); err == nil && info.Method == nil {
			stub = s.Range.Start
		}
	}
	require.NotZero(t, stub, "no section of stubs")
	m, slot := methodWithSlot(t, d, r)
	mended, err := testdump.Patched(t, "net10-zoo", map[target.Addr][]byte{slot: binary.LittleEndian.AppendUint64(nil, uint64(stub))}).Runtime()
	require.NoError(t, err)
	damaged := dac.CodeOf(mended)
	_, err = damaged.CodeOf(m.Addr)
	require.ErrorIs(t, err, target.ErrCorrupt)
	require.ErrorContains(t, err, "begins in the stub at")
	_, err = damaged.DescribeHandlers(m.Addr)
	require.ErrorIs(t, err, target.ErrCorrupt)
	_, err = damaged.DescribeGCInfo(m.Addr)
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// TestCodeOfTheRuntime checks that a method that is a function of the runtime has neither GC info nor handlers,
// and is not corrupt.
func TestCodeOfTheRuntime(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo"} {
		d := testdump.Open(t, name)
		rt, err := d.Runtime()
		require.NoError(t, err)
		r := dac.CodeOf(rt)
		found := 0
		for _, a := range []target.Addr{rt.WellKnown().Object, rt.WellKnown().String, rt.WellKnown().Exception} {
			mt, err := rt.MethodTable(a)
			require.NoError(t, err)
			for m, err := range r.Methods(mt) {
				if err != nil || m.Kind != dac.MethodFCall {
					continue
				}
				if start, err := r.NativeCode(m); err != nil || start == 0 {
					continue
				}
				found++
				_, err = r.DescribeGCInfo(m.Addr)
				require.ErrorIs(t, err, target.ErrUnsupported)
				require.ErrorContains(t, err, "a function of the runtime itself")
				_, err = r.DescribeHandlers(m.Addr)
				require.ErrorIs(t, err, target.ErrUnsupported)
			}
		}
		require.NotZero(t, found, name)
	}
}

// methodWithSlot finds a compiled method, and the word of its MethodDesc with the address of its code.
func methodWithSlot(t *testing.T, d *testdump.Dump, r *dac.CodeReader) (*dac.MethodDesc, target.Addr) {
	t.Helper()
	for _, fact := range d.Manifest.Types() {
		mt, err := r.Runtime().MethodTable(fact.Addr)
		require.NoError(t, err)
		for m, err := range r.Methods(mt) {
			if err != nil {
				break
			}
			start, err := r.NativeCode(m)
			if err != nil || start == 0 {
				continue
			}
			for at := m.Addr; at < m.Addr+target.Addr(m.Size); at += 8 {
				if word, err := target.Pointer(d.Memory(), at); err == nil && word == start {
					return m, at
				}
			}
		}
	}
	t.Fatal("no compiled method")
	return nil, 0
}
