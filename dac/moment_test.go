package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

func setWord(mem *testcase.Overlay, at target.Addr, w uint64) {
	mem.Set(testcase.Damage{At: at, Bytes: binary.LittleEndian.AppendUint64(nil, w)})
}

// TestAssemblyBeingLoaded takes an assembly out of the list, where it is before it has a module. If it has types and precompiled code, it can't be
// in the making.
func TestAssemblyBeingLoaded(t *testing.T) {
	rt, mem := overlaid(t, "net10-zoo")
	require.NotEqual(t, layout.Absent, rt.off.DomainAssembly.Assembly)
	domain, err := rt.GlobalPointer("AppDomain")
	require.NoError(t, err)
	list := domain + target.Addr(rt.off.AppDomain.Assemblies)
	count, err := target.Uint32(mem, list+target.Addr(rt.off.ArrayList.Count))
	require.NoError(t, err)
	whole, err := rt.readModules()
	require.NoError(t, err)
	precompiled := map[target.Addr]bool{}
	for _, s := range CodeOf(rt).knownSections() {
		precompiled[s.Image] = s.Kind == CodeReadyToRun
	}
	full := 0
	for i := range target.Addr(count) {
		da, err := target.Pointer(mem, list+target.Addr(rt.off.ArrayList.First+rt.off.ArrayListBlock.Items)+8*i)
		if err != nil || da == 0 {
			break // the next block
		}
		m, err := rt.domainModule(list + target.Addr(rt.off.ArrayList.First+rt.off.ArrayListBlock.Items) + 8*i)
		require.NoError(t, err)
		root, err := rt.RootAssembly()
		require.NoError(t, err)
		setWord(mem, da+target.Addr(rt.off.DomainAssembly.Assembly), 0)
		rest, err := rt.readModules()
		require.Len(t, rest, len(whole)-1)
		if m.Assembly == root || precompiled[m.Addr] && len(m.definedRows()) > 0 {
			full++
			require.ErrorIs(t, err, target.ErrCorrupt)
		} else {
			require.NoError(t, err)
		}
		mem.Set()
	}
	require.NotZero(t, full)
}

// TestModuleBeingMade takes the module of an assembly away: the domain is described without it, and the assembly is noted as one that was being loaded.
func TestModuleBeingMade(t *testing.T) {
	rt, mem := overlaid(t, "net10-zoo")
	mods, err := rt.Modules()
	require.NoError(t, err)
	root, err := rt.RootAssembly()
	require.NoError(t, err)
	m := mods[len(mods)-1]
	require.NotEqual(t, root, m.Assembly)
	domain, err := rt.domain()
	require.NoError(t, err)
	require.Empty(t, rt.describeAppDomain(domain, answer.Text{}, nil).Noted())
	setWord(mem, m.Assembly+target.Addr(rt.off.Assembly.Module), 0)
	noted := rt.describeAppDomain(domain, answer.Text{}, nil).Noted()
	require.Len(t, noted, 1)
	require.Equal(t, target.ErrNotInDump, target.Kind(noted[0]))
	require.ErrorContains(t, noted[0], "was being loaded")
}

// TestLockBeingTaken has held locks with one of the two ids of their holders, and with ids of two threads.
func TestLockBeingTaken(t *testing.T) {
	rt, mem := overlaid(t, "net10-zoo")
	require.NotEqual(t, layout.Absent, rt.off.SyncBlock.HoldingOSID)
	tried := 0
	for b, err := range rt.SyncBlocks() {
		require.NoError(t, err)
		if !b.Held {
			continue
		}
		at := b.Addr + target.Addr(rt.off.SyncBlock.HoldingOSID)
		id, err := target.Uint64(mem, at)
		require.NoError(t, err)
		require.NotZero(t, id)
		require.NoError(t, rt.deniesHolder(&b))
		setWord(mem, at, 0)
		require.NoError(t, rt.deniesHolder(&b))
		setWord(mem, at, id+1)
		require.ErrorIs(t, rt.deniesHolder(&b), target.ErrCorrupt)
		mem.Set()
		tried++
	}
	require.NotZero(t, tried)
}

// TestStubsBeingMade has an allocator that is not the global one, without a manager of stubs.
func TestStubsBeingMade(t *testing.T) {
	rt, mem := overlaid(t, "net10-zoo")
	o, err := rt.loaderLayout()
	require.NoError(t, err)
	global, err := rt.GlobalLoaderAllocator()
	require.NoError(t, err)
	stubs := heapMember{kind: IndirectionCellHeap, off: o.CallStubs.Indcell, stub: true}
	at, err := rt.heapPointer(o, global, stubs)
	require.NoError(t, err)
	require.NotZero(t, at)
	other := global + 0x1000
	setWord(mem, other+target.Addr(o.callStubs()), 0)
	at, err = rt.heapPointer(o, other, stubs)
	require.NoError(t, err)
	require.Zero(t, at)
	setWord(mem, global+target.Addr(o.callStubs()), 0)
	_, err = rt.heapPointer(o, global, stubs)
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// TestCodeHeapBeingMade takes one or more code heaps out of the list.
func TestCodeHeapBeingMade(t *testing.T) {
	rt, _ := overlaid(t, "net10-stacks")
	heaps, err := rt.CodeHeaps()
	require.NoError(t, err)
	require.Greater(t, len(heaps), 1)
	require.Equal(t, target.ErrNotInDump, target.Kind(rt.deniesCodeHeaps(heaps[1:])))
	require.Equal(t, target.ErrCorrupt, target.Kind(rt.deniesCodeHeaps(heaps[2:])))
}

// TestObjectBeingMoved has a thread with two managed objects while a collection moves one, and otherwise.
func TestObjectBeingMoved(t *testing.T) {
	rt, mem := overlaid(t, "net10-zoo")
	list, err := rt.Threads()
	require.NoError(t, err)
	tried := 0
	for i := range list {
		th := &list[i]
		strong, err := rt.ptr(th.Addr, rt.off.Thread.StrongHandle, "Thread.StrongGCHandle")
		require.NoError(t, err)
		if kept, err := target.Pointer(mem, strong); err != nil || kept == 0 {
			continue
		}
		require.NoError(t, rt.denyObject(th))
		setWord(mem, th.ExposedHandle, 0x1000)
		require.Equal(t, target.ErrNotInDump, target.Kind(rt.denyObject(th)))
		mem.Set()
		tried++
	}
	require.NotZero(t, tried)
}

// TestFinalizerThreadBeingMade has the runtime without a finalizer thread when it has made the first two threads, and later.
func TestFinalizerThreadBeingMade(t *testing.T) {
	rt, mem := overlaid(t, "net10-zoo")
	at, err := rt.GlobalPointer("FinalizerThread")
	require.NoError(t, err)
	l := &threadList{threads: []Thread{{Addr: 0x1000}, {Addr: at}}}
	require.NoError(t, rt.denyFinalizer(l))
	place, err := rt.layout.Variable("FinalizerThread")
	require.NoError(t, err)
	setWord(mem, place, 0)
	require.Equal(t, target.ErrNotInDump, target.Kind(rt.denyFinalizer(l)))
	l.threads = append(l.threads, Thread{Addr: 0x2000})
	require.Equal(t, target.ErrCorrupt, target.Kind(rt.denyFinalizer(l)))
}
