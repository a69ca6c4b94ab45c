package resolve_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/testdump"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestFacts holds answers to what the dumped programs said of their objects and
// types, and to the registers of their threads.
func TestFacts(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() || !d.HasHeap() {
			t.Skip("no runtime with its heap")
		}
		ctx := t.Context()
		for i, f := range d.Manifest.Objects() {
			if i%8 != 0 {
				continue // each looks around in the heap
			}
			a := d.Resolve(ctx, f.Addr)
			assert.Equal(t, answer.AddressObject, a.Kind, f.Name)
			assert.Equal(t, testdump.ManagedName(f.Type), a.Name.String(), f.Name)
			inside := d.Resolve(ctx, f.Addr+8)
			assert.Equal(t, answer.AddressInObject, inside.Kind, f.Name)
			assert.Equal(t, f.Addr, inside.Start, f.Name)
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		for _, f := range d.Manifest.Types() {
			if _, err := rt.MethodTable(f.Addr); err != nil {
				continue // a TypeDesc
			}
			a := d.Resolve(ctx, f.Addr)
			assert.Equal(t, answer.AddressMethodTable, a.Kind, f.Name)
			assert.Equal(t, testdump.ManagedName(f.Name), a.Name.String())
			// The second word of a MethodTable is no MethodTable.
			assert.NotEqual(t, answer.AddressMethodTable, d.Resolve(ctx, f.Addr+8).Kind, f.Name)
		}
	})
}

func TestThreads(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	list, err := d.Threads()
	require.NoError(t, err)
	methods, frames := 0, 0
	for i := range list {
		th := &list[i]
		if th.OS == nil {
			continue
		}
		sp, ok := th.OS.Registers.SP()
		require.True(t, ok)
		a := d.Resolve(t.Context(), sp)
		assert.Contains(t, []answer.AddressKind{answer.AddressStack, answer.AddressFrame}, a.Kind)
		require.NotNil(t, a.Thread)
		assert.Equal(t, th.ID(), a.Thread.OSID)
		ip, _ := th.OS.Registers.IP()
		assert.Equal(t, answer.AddressModule, d.Resolve(t.Context(), ip).Kind, "a waiting thread is in the C library")
		for f := range d.Walk(t.Context(), th, stackwalk.WalkOptions{}) {
			switch f.Kind {
			case stackwalk.FrameManaged:
				methods++
				a := d.Resolve(t.Context(), f.IP)
				assert.Equal(t, answer.AddressCode, a.Kind)
				md, err := f.Method()
				require.NoError(t, err)
				assert.Equal(t, md.Addr, a.MethodDesc)
				m := d.Resolve(t.Context(), md.Addr)
				assert.Equal(t, answer.AddressMethodDesc, m.Kind)
				assert.Equal(t, a.Name, m.Name)
			case stackwalk.FrameExplicit:
				frames++
				a := d.Resolve(t.Context(), f.Explicit.Addr)
				assert.Equal(t, answer.AddressFrame, a.Kind)
				assert.Equal(t, f.Explicit.Class, a.Name.S)
			}
		}
	}
	assert.Positive(t, methods)
	assert.Positive(t, frames)
}

// TestNothing: of what nothing proves nothing is said.
func TestNothing(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	assert.Equal(t, answer.AddressUnknown, d.Resolve(t.Context(), 0).Kind)
	assert.Equal(t, answer.AddressUnknown, d.Resolve(t.Context(), ^testdump.Address("0x0")).Kind)
	clr := d.Runtimes()[0].Module
	a := d.Resolve(t.Context(), clr.Base)
	assert.Equal(t, answer.AddressModule, a.Kind)
	assert.Equal(t, clr.Path, a.Name.S)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, d.Resolve(ctx, clr.Base).Failure(), context.Canceled)
}

func Example() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	a := d.Resolve(context.Background(), 0x7efbcd80b558)
	fmt.Println(a.Kind, a.Start, a.Name)
	// Output:
	// inside object 00007efbcd80b550 Debuggee.Zoo.Dog
}
