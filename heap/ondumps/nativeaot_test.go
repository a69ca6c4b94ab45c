package ondumps_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// nativeHeap returns the heap of the canned NativeAOT process. It has a thousand orders, each with the text
// "customer N" and the previous order.
func nativeHeap(t *testing.T) *heap.Heap {
	v, err := testdump.Open(t, "nativeaot-crash").View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	require.Empty(t, h.Warnings())
	return h
}

// TestNativeAOT walks the heap of a process without a CLR by its debug header.
func TestNativeAOT(t *testing.T) {
	h := nativeHeap(t)
	assert.True(t, h.Regions())
	assert.False(t, h.Server())
	assert.Len(t, h.SubHeaps(), 1)
	assert.NotEmpty(t, h.AllocContexts())
	s, err := h.Stats(context.Background(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	assert.Zero(t, s.Corrupt)
	var orders *dac.MethodTable
	for _, typ := range s.Types {
		name, err := h.Runtime().TypeName(typ.Type.Addr, dac.NameManaged)
		require.NoError(t, err, "every type has a name")
		if name == "Order" {
			orders = typ.Type
			assert.EqualValues(t, 1000, typ.Count)
			assert.EqualValues(t, 56_000, typ.Size)
		}
	}
	require.NotNil(t, orders)
	verified, err := h.Verify(context.Background(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	assert.Empty(t, verified.Faults)
	assert.EqualValues(t, s.Count, verified.Objects)

	customers, before := map[string]bool{}, map[target.Addr]bool{}
	for o, err := range h.Walk(context.Background(), &heap.Filter{Type: heap.TypeIs(orders.Addr)}) {
		require.NoError(t, err)
		for ref, err := range h.References(o) {
			require.NoError(t, err)
			to, err := h.ObjectAt(ref.Target)
			require.NoError(t, err)
			if to.Type.Addr == orders.Addr {
				before[to.Addr] = true
				continue
			}
			require.Equal(t, h.Runtime().WellKnown().String, to.Type.Addr)
			text, err := target.UTF16String(h.Runtime().Memory(), to.Addr+12, 64)
			require.NoError(t, err)
			customers[text] = true
		}
	}
	assert.Len(t, before, 999)
	for i := range 1000 {
		assert.True(t, customers[fmt.Sprintf("customer %d", i)], i)
	}
}

// TestNativeAOTUnknown checks that unsupported parts of a NativeAOT process are errors.
func TestNativeAOTUnknown(t *testing.T) {
	h := nativeHeap(t)
	_, _, err := h.ThinLocks(context.Background(), nil, heap.ScanOptions{})
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = h.Runtime().ThreadCounts()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = h.Runtime().AppDomain()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = h.Runtime().Modules()
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = h.Runtime().SyncBlock(1)
	assert.ErrorIs(t, err, target.ErrUnsupported)
}

// TestNativeAOTDebugHeader checks that an invalid header is refused with the reason.
func TestNativeAOTDebugHeader(t *testing.T) {
	d := testdump.Open(t, "nativeaot-crash")
	inst := d.Runtimes()[0]
	rva, _, err := inst.Image.Symbol("DotNetRuntimeDebugHeader")
	require.NoError(t, err)
	at := inst.Module.Base + target.Addr(rva)
	types, err := target.Pointer(d.Memory(), at+16)
	require.NoError(t, err)
	open := func(damage ...testdump.Damage) error {
		return heapOf(d.Damaged(t, damage...))
	}
	for name, c := range map[string]struct {
		damage testdump.Damage
		want   error
	}{
		"no cookie":         {testdump.Damage{At: at, Bytes: []byte("DNDX")}, target.ErrCorrupt},
		"another version":   {testdump.Damage{At: at + 4, Bytes: []byte{6, 0}}, target.ErrUnsupported},
		"32 bits":           {testdump.Damage{At: at + 8, Bytes: []byte{0}}, target.ErrUnsupported},
		"not filled in":     {testdump.Words(at+16, 0, 0), target.ErrUnsupported},
		"no members":        {testdump.Words(types, 0), target.ErrUnsupported},
		"a wild pointer":    {testdump.Words(types, 0x10), target.ErrCorrupt},
		"an offset too far": {testdump.Words(types+24*3+16, 1<<31), target.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) { assert.ErrorIs(t, open(c.damage), c.want) })
	}
}

func heapOf(d *sosgo.Dump) error {
	_, err := d.Heap()
	return err
}
