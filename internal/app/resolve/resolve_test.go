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
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestFacts compares answers with what the dumped programs printed about their objects and types, and with the
// registers of their threads.
func TestFacts(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() || !d.HasHeap() {
			t.Skip("no runtime with its heap")
		}
		ctx := t.Context()
		for i, f := range d.Manifest.Objects() {
			if i%8 != 0 {
				continue // each walks a part of the heap
			}
			a := resolve.Address(ctx, d.Default(), f.Addr)
			assert.Equal(t, answer.AddressObject, a.Kind, f.Name)
			assert.Equal(t, testdump.ManagedName(f.Type), a.Name.String(), f.Name)
			inside := resolve.Address(ctx, d.Default(), f.Addr+8)
			assert.Equal(t, answer.AddressInObject, inside.Kind, f.Name)
			assert.Equal(t, f.Addr, inside.Start, f.Name)
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		for _, f := range d.Manifest.Types() {
			if _, err := rt.MethodTable(f.Addr); err != nil {
				continue // a TypeDesc
			}
			a := resolve.Address(ctx, d.Default(), f.Addr)
			assert.Equal(t, answer.AddressMethodTable, a.Kind, f.Name)
			assert.Equal(t, testdump.ManagedName(f.Name), a.Name.String())
			// The second word of a MethodTable is not a MethodTable.
			assert.NotEqual(t, answer.AddressMethodTable, resolve.Address(ctx, d.Default(), f.Addr+8).Kind, f.Name)
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
		a := resolve.Address(t.Context(), d.Default(), sp)
		assert.Contains(t, []answer.AddressKind{answer.AddressStack, answer.AddressFrame}, a.Kind)
		require.NotNil(t, a.Thread)
		assert.Equal(t, th.ID(), a.Thread.OSID)
		ip, _ := th.OS.Registers.IP()
		assert.Equal(t, answer.AddressModule, resolve.Address(t.Context(), d.Default(), ip).Kind, "a waiting thread is in the C library")
		for f := range d.Default().Walk(t.Context(), th, stackwalk.WalkOptions{}) {
			switch f.Kind {
			case stackwalk.FrameManaged:
				methods++
				a := resolve.Address(t.Context(), d.Default(), f.IP)
				assert.Equal(t, answer.AddressCode, a.Kind)
				md, err := f.Method()
				require.NoError(t, err)
				assert.Equal(t, md.Addr, a.MethodDesc)
				m := resolve.Address(t.Context(), d.Default(), md.Addr)
				assert.Equal(t, answer.AddressMethodDesc, m.Kind)
				assert.Equal(t, a.Name, m.Name)
			case stackwalk.FrameExplicit:
				frames++
				a := resolve.Address(t.Context(), d.Default(), f.Explicit.Addr)
				assert.Equal(t, answer.AddressFrame, a.Kind)
				assert.Equal(t, f.Explicit.Class, a.Name.S)
			}
		}
	}
	assert.Positive(t, methods)
	assert.Positive(t, frames)
}

// TestStructures resolves the entries of the runtime's own lists (domains, loader allocators, fields), and the gaps of
// the heap.
func TestStructures(t *testing.T) {
	var fields, allocators, domains, free int
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() || !d.HasHeap() {
			t.Skip("no runtime with its heap")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		kind := func(a target.Addr) answer.AddressKind { return resolve.Address(t.Context(), d.Default(), a).Kind }
		if app, err := rt.AppDomain(); err == nil {
			assert.Equal(t, answer.AddressDomain, kind(app.Addr))
			domains++
		}
		system, err := rt.SystemDomain()
		if err == nil {
			assert.Equal(t, answer.AddressDomain, kind(system))
			domains++
		}
		if a, err := rt.GlobalLoaderAllocator(); err == nil && a != system { // before .NET 8 that domain has its address
			assert.Equal(t, answer.AddressAllocator, kind(a))
			allocators++
		}
		text, err := rt.MethodTable(rt.WellKnown().String)
		require.NoError(t, err)
		list, err := rt.Fields(text)
		require.NoError(t, err)
		for _, f := range list {
			a := resolve.Address(t.Context(), d.Default(), f.Addr)
			name, err := rt.FieldName(&f)
			require.NoError(t, err)
			assert.Equal(t, answer.AddressFieldDesc, a.Kind)
			assert.Equal(t, name, a.Name.String())
			assert.Equal(t, text.Addr, a.MethodTable)
			fields++
		}
		free += freeObjects(t, d)
	})
	assert.Positive(t, fields)
	assert.Positive(t, allocators)
	assert.Positive(t, domains)
	assert.Positive(t, free)
}

// freeObjects resolves some of a heap's gaps and counts them.
func freeObjects(t *testing.T, d *testdump.Dump) (n int) {
	h, err := d.Heap()
	require.NoError(t, err)
	for o, err := range h.Objects() {
		if err != nil || !o.Free {
			continue
		}
		a := resolve.Address(t.Context(), d.Default(), o.Addr)
		assert.Equal(t, answer.AddressFree, a.Kind)
		assert.Equal(t, o.Size, a.Size)
		if n++; n == 3 {
			break
		}
	}
	return n
}

// TestNothing checks that an unproved address is unknown.
func TestNothing(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	assert.Equal(t, answer.AddressUnknown, resolve.Address(t.Context(), d.Default(), 0).Kind)
	assert.Equal(t, answer.AddressUnknown, resolve.Address(t.Context(), d.Default(), ^testdump.Address("0x0")).Kind)
	clr := d.Runtimes()[0].Module
	a := resolve.Address(t.Context(), d.Default(), clr.Base)
	assert.Equal(t, answer.AddressModule, a.Kind)
	assert.Equal(t, clr.Path, a.Name.S)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, resolve.Address(ctx, d.Default(), clr.Base).Failure(), context.Canceled)
}

func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	a := resolve.Address(context.Background(), d.Default(), 0x7efbcd80b558)
	fmt.Println(a.Kind, a.Start, a.Name)
	// Output:
	// inside object 00007efbcd80b550 Debuggee.Zoo.Dog
}

// TestStackIndex compares the threads of addresses with a search through all stacks, at the bounds of each stack.
func TestStackIndex(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		p := d.Default()
		list, _ := p.Threads() // threads that can't be read have no stack
		var stacks []stackwalk.ThreadStack
		for i := range list {
			s, _ := list[i].Stack(p.Target())
			stacks = append(stacks, s)
		}
		first := func(a target.Addr) int {
			for i, s := range stacks {
				for _, part := range s.Ranges {
					if part.Contains(a) {
						return i
					}
				}
			}
			return -1
		}
		tried := 0
		for _, s := range stacks {
			for _, part := range s.Ranges {
				for _, a := range []target.Addr{part.Start, part.Start - 8, part.End - 8, part.End} {
					at, want := resolve.Address(t.Context(), p, a), first(a)
					if at.Runtime != nil {
						continue // another runtime of the process knows the stack
					}
					if at.Kind != answer.AddressStack && at.Kind != answer.AddressFrame {
						assert.Equal(t, -1, want, "%#x is %v", uint64(a), at.Kind)
						continue
					}
					require.NotEqual(t, -1, want, "%#x", uint64(a))
					assert.Equal(t, list[want].ID(), at.Thread.OSID, "%#x", uint64(a))
					tried++
				}
			}
		}
		if tried == 0 {
			t.Skip("no stacks")
		}
	})
}
