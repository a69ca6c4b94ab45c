package ondumps_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// methodsPerDump bounds the listed methods of a dump.
const methodsPerDump = 60

// eachMethod calls f with methods of the types in the program's manifest.
func eachMethod(t *testing.T, f func(t *testing.T, l *disasm.Lister, m *dac.MethodDesc)) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		r, err := d.Objects()
		require.NoError(t, err)
		l := disasm.NewLister(rt, r)
		n := 0
		for _, fact := range d.Manifest.Types() {
			mt, err := rt.MethodTable(fact.Addr)
			if err != nil {
				continue
			}
			for m, err := range dac.CodeOf(rt).Methods(mt) {
				if err != nil || n == methodsPerDump {
					break
				}
				n++
				f(t, l, m)
			}
		}
	})
}

// TestIL: instructions cover the body, branches lead to instructions, and tokens have names or errors.
func TestIL(t *testing.T) {
	eachMethod(t, func(t *testing.T, l *disasm.Lister, m *dac.MethodDesc) {
		il, err := l.IL(m.Addr)
		if err != nil {
			require.True(t, errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrUnsupported), err)
			return
		}
		if il.NoBody {
			for range il.Instructions {
				t.Error("an instruction of a method without IL")
			}
			return
		}
		starts, last := map[int]bool{}, -1
		var targets []int
		for in, err := range il.Instructions {
			require.NoError(t, err)
			assert.Greater(t, in.Offset, last)
			last, starts[in.Offset] = in.Offset, true
			targets = append(targets, in.Operand.Targets...)
			if in.Token != 0 {
				assert.Equal(t, in.Token, in.Operand.Token)
				assert.NotEmpty(t, in.Operand.String())
				if in.Operand.Kind == answer.ILLost {
					assert.NotEmpty(t, il.Noted())
				}
			}
		}
		require.NoError(t, il.Failure())
		assert.Less(t, last, il.CodeSize)
		for _, at := range targets {
			assert.True(t, starts[at], "a branch leads to %d, where no instruction is", at)
		}
		for _, c := range il.Clauses {
			assert.True(t, starts[int(c.Try[0])] && starts[int(c.Handler[0])])
		}
	})
}

// TestMethod: instructions cover the code without a gap, and the recorded places lie inside it.
func TestMethod(t *testing.T) {
	o := disasm.MethodOptions{GCInfo: true, Handlers: true, IL: true, Map: true}
	eachMethod(t, func(t *testing.T, l *disasm.Lister, m *dac.MethodDesc) {
		d, err := l.Method(context.Background(), m.Addr, o)
		if err != nil {
			require.True(t, errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrUnsupported) || errors.Is(err, dac.ErrNoCode), err)
			return
		}
		assert.Equal(t, m.Addr, d.Method)
		if d.Start == 0 {
			assert.Nil(t, d.Instructions)
			return
		}
		next := uint32(0)
		for in, err := range d.Instructions {
			require.NoError(t, err)
			require.Equal(t, next, in.Offset)
			next += uint32(len(in.Bytes) / 2)
			for _, il := range in.ILCode {
				assert.GreaterOrEqual(t, il.Offset, *in.IL)
			}
		}
		assert.EqualValues(t, d.Size, next)
		for _, h := range d.Handlers {
			assert.LessOrEqual(t, uint64(h.Handler.End), d.Size)
		}
		for _, r := range d.Map {
			assert.True(t, d.Start <= r.Start && r.Start <= r.End && r.End <= d.Start+target.Addr(d.Size))
		}
		if d.GC != nil {
			last := uint32(0)
			for _, c := range d.GC.Changes {
				assert.GreaterOrEqual(t, c.Offset, last)
				last = c.Offset
			}
		}
	})
}

// TestMap: if the map has a place in IL, the code has it too, with the instructions of the method's own listing there.
func TestMap(t *testing.T) {
	n := 0
	eachMethod(t, func(t *testing.T, l *disasm.Lister, m *dac.MethodDesc) {
		d, err := l.Method(context.Background(), m.Addr, disasm.MethodOptions{Map: true, IL: true})
		if err != nil || d.ILErr != nil || len(d.Map) == 0 {
			return
		}
		il, err := l.IL(m.Addr)
		require.NoError(t, err)
		listed := map[int]string{} // in words: a constant may be no number
		for in, err := range il.Instructions {
			require.NoError(t, err)
			listed[in.Offset] = in.Opcode + " " + in.Operand.String()
		}
		mapped := map[target.Addr][]answer.Hex{}
		for _, r := range d.Map {
			mapped[r.Start] = append(mapped[r.Start], r.IL)
		}
		for in, err := range d.Instructions {
			require.NoError(t, err)
			if in.IL == nil {
				assert.Empty(t, in.ILCode)
				continue
			}
			n++
			assert.Contains(t, mapped[d.Start+target.Addr(in.Offset)], answer.Hex(*in.IL))
			for i, one := range in.ILCode {
				assert.Equal(t, listed[one.Offset], one.Opcode+" "+one.Operand.String())
				assert.True(t, i > 0 || one.Offset == *in.IL)
			}
		}
	})
	assert.NotZero(t, n)
}

// TestMethodStops: the end of the context ends the list.
func TestMethodStops(t *testing.T) {
	eachMethod(t, func(t *testing.T, l *disasm.Lister, m *dac.MethodDesc) {
		ctx, cancel := context.WithCancel(context.Background())
		d, err := l.Method(ctx, m.Addr, disasm.MethodOptions{})
		cancel()
		if err != nil || d.Start == 0 {
			return
		}
		for _, err := range d.Instructions {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}

// TestNoMethod: an address without a method is an error.
func TestNoMethod(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	r, err := d.Objects()
	require.NoError(t, err)
	_, err = disasm.NewLister(rt, r).IL(rt.WellKnown().Object)
	var none *disasm.NoMethodError
	require.ErrorAs(t, err, &none)
	require.ErrorAs(t, err, new(*target.AddressError))
}
