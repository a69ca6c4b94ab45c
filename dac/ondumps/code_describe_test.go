package ondumps_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestDescribeMethods describes methods of the types that the program printed, by their MethodDescs and by
// their code.
func TestDescribeMethods(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		r, n := dac.CodeOf(rt), 0
		for _, fact := range d.Manifest.Types() {
			mt, err := rt.MethodTable(fact.Addr)
			if err != nil {
				continue
			}
			for m, err := range r.Methods(mt) {
				if err != nil || n == 100 {
					break
				}
				n++
				byDesc, err := r.DescribeMethod(m.Addr)
				require.NoError(t, err)
				assert.Equal(t, m.Addr, byDesc.MethodDesc)
				assert.Equal(t, byDesc.Jitted.Value, byDesc.Code.Value != 0)
				if byDesc.Jitted.Value {
					describeCode(t, r, byDesc)
				}
			}
		}
	})
}

func describeCode(t *testing.T, r *dac.CodeReader, m *answer.Method) {
	byCode, err := r.DescribeMethodAt(m.Code.Value)
	if err != nil {
		assert.True(t, errors.Is(err, dac.ErrNoCode) || errors.Is(err, target.ErrNotInDump), err)
		return // the runtime's own code, or a stub
	}
	assert.Equal(t, m.MethodDesc, byCode.MethodDesc)
	assert.Zero(t, *byCode.Offset)
	if h, err := r.DescribeHandlers(m.Code.Value); err == nil {
		assert.Equal(t, m.Code.Value, h.Start)
		require.NotNil(t, h.Details)
	} else {
		assert.ErrorIs(t, err, target.ErrNotInDump)
	}
	g, err := r.DescribeGCInfo(m.MethodDesc)
	if err != nil {
		assert.ErrorIs(t, err, target.ErrNotInDump)
		return
	}
	assert.Equal(t, m.Code.Value, g.Start)
	for _, s := range g.States {
		assert.LessOrEqual(t, s.Offset, g.CodeSize)
	}
}

// TestDescribeWrongMethods checks that other addresses than methods are errors.
func TestDescribeWrongMethods(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	r := dac.CodeOf(rt)
	_, err = r.DescribeMethod(rt.WellKnown().Object)
	require.ErrorAs(t, err, new(*target.AddressError))
	_, err = r.DescribeMethodAt(0)
	require.ErrorIs(t, err, dac.ErrNoCode)
	_, err = r.DescribeMethodAt(rt.WellKnown().Object)
	require.ErrorIs(t, err, dac.ErrNoCode)
	_, err = r.DescribeGCInfo(rt.WellKnown().Object)
	require.Error(t, err)
	_, err = r.DescribeHandlers(rt.WellKnown().Object)
	require.Error(t, err)
}
