package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// patched replaces one byte of a memory.
type patched struct {
	target.Memory
	at target.Addr
	b  byte
}

func (p patched) ReadMemory(b []byte, a target.Addr) (int, error) {
	n, err := p.Memory.ReadMemory(b, a)
	if off := p.at - a; off < target.Addr(n) {
		b[off] = p.b
	}
	return n, err
}

func (p patched) View(target.Addr, int) ([]byte, bool) { return nil, false }

func (p patched) Span(target.Addr) []byte { return nil }

// reopened returns the runtime of a dump with one byte changed.
func reopened(t *testing.T, d *testdump.Dump, at target.Addr, b byte) *dac.Runtime {
	raw, err := dump.Open(d.Case.Path, dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { raw.Close() })
	rt, err := dac.Find(raw, patched{raw, at, b}, nil)[0].Open()
	require.NoError(t, err)
	return rt
}

// TestEditableModule checks that the IL of an editable module is reported as the original one.
func TestEditableModule(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	mt, err := rt.MethodTable(d.Manifest.Types()[0].Addr)
	require.NoError(t, err)
	off, err := rt.Layout().Offset("Module", "Flags")
	require.NoError(t, err)
	flags, err := target.Uint8(rt.Memory(), mt.Module+target.Addr(off))
	require.NoError(t, err)
	for _, edited := range []bool{false, true} {
		b := flags &^ 8
		if edited {
			b |= 8
		}
		rt := reopened(t, d, mt.Module+target.Addr(off), b)
		mt, err := rt.MethodTable(mt.Addr)
		require.NoError(t, err)
		for m, err := range dac.CodeOf(rt).Methods(mt) {
			require.NoError(t, err)
			err = dac.CodeOf(rt).ILReplaced(m)
			if edited {
				assert.ErrorIs(t, err, target.ErrUnsupported)
				assert.ErrorContains(t, err, "hot reload")
			} else {
				assert.NoError(t, err)
			}
		}
	}
}

// TestReplacedIL checks that the metadata's IL is not returned for code compiled from a profiler's IL.
func TestReplacedIL(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	off, err := rt.Layout().Offset("NativeCodeVersionNode", "ILVersionId")
	require.NoError(t, err)
	r, tried := dac.CodeOf(rt), 0
	for info, err := range r.JITCode() {
		if err != nil || info.Method == nil || tried > 0 {
			continue
		}
		versions, err := r.CodeVersions(info.Method)
		require.NoError(t, err)
		for _, v := range versions {
			if v.Node == 0 || !v.Active {
				continue
			}
			tried++
			const id = 7
			other := dac.CodeOf(reopened(t, d, v.Node+target.Addr(off), id))
			m, err := other.DescribeMethod(info.Method.Addr)
			require.NoError(t, err)
			assert.Equal(t, uint64(id), m.ReJIT.Value)
			assert.ErrorIs(t, m.IL.Err(), target.ErrUnsupported)
			desc, err := other.MethodDesc(info.Method.Addr)
			require.NoError(t, err)
			assert.ErrorContains(t, other.ILReplaced(desc), "ReJIT 7")
			assert.NoError(t, r.ILReplaced(info.Method))
			tiers, err := other.DescribeTiers(t.Context())
			require.NoError(t, err)
			require.Len(t, tiers.Replaced, 1)
			assert.Equal(t, answer.ReplacedMethod{Method: info.Method.Addr, Name: answer.Text{S: m.Name.Value}, ReJIT: id, Code: v.Code, Active: true}, tiers.Replaced[0])
		}
	}
	assert.Positive(t, tried, "no method has a second version")
}
