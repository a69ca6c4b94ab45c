package ondumps_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// namedThreads returns the managed threads by the names that the program printed.
func namedThreads(t *testing.T, d *testdump.Dump, rt *dac.Runtime) map[string]*dac.Thread {
	all, err := rt.Threads()
	require.NoError(t, err)
	out := map[string]*dac.Thread{}
	for i := range all {
		if fact, ok := d.Case.Manifest.Fact("thread " + strconv.Itoa(int(all[i].ManagedID))); ok {
			name, _, _ := strings.Cut(fact, ":")
			out[name] = &all[i]
		}
	}
	return out
}

// blockedThreads checks the runtime's list of waits for the threads of the program "stacks".
func blockedThreads(t *testing.T, d *testdump.Dump, rt *dac.Runtime) int {
	named := namedThreads(t, d, rt)
	one, two := named["deadlock one"], named["deadlock two"]
	if one == nil || two == nil {
		return 0
	}
	for _, pair := range [][2]*dac.Thread{{one, two}, {two, one}} {
		items, err := rt.BlockingItems(pair[0])
		require.NoError(t, err)
		require.Len(t, items, 1)
		assert.Equal(t, dac.BlockedEnter, items[0].Kind)
		assert.Equal(t, int32(-1), items[0].Timeout)
		assert.True(t, items[0].Block.Held)
		if owner := items[0].Block.OwnerThread; owner != 0 {
			assert.Equal(t, pair[1].Addr, owner)
		} else {
			assert.Equal(t, pair[1].ManagedID, items[0].Block.OwnerID)
		}
	}
	items, err := rt.BlockingItems(named["monitor wait"])
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, dac.BlockedWait, items[0].Kind)
	items, err = rt.BlockingItems(named["deep"])
	assert.NoError(t, err)
	assert.Empty(t, items, "it sleeps")
	return 4
}

// TestBlockingItems checks the runtime's list of waits on all runtimes and systems.
func TestBlockingItems(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-stacks-withheap", "*-stacks-full"), func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		return blockedThreads(t, d, rt)
	})
}

// TestBlockingItemsOfTriage checks that missing sync blocks are an error and not an empty list.
func TestBlockingItemsOfTriage(t *testing.T) {
	testdump.Corpus(t, testcase.Named("*-stacks-triage"), func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		_, err = rt.BlockingItems(namedThreads(t, d, rt)["deadlock one"])
		assert.ErrorIs(t, err, target.ErrNotInDump)
		return 1
	})
}

// TestBlockingItemsCanned is TestBlockingItems without the corpus. It also checks damaged lists.
func TestBlockingItemsCanned(t *testing.T) {
	d := testdump.Open(t, "net10-stacks")
	rt, err := d.Runtime()
	require.NoError(t, err)
	require.NotZero(t, blockedThreads(t, d, rt))
	one := namedThreads(t, d, rt)["deadlock one"]
	offset, err := rt.Layout().Offset("Thread", "DebugBlockingInfo")
	require.NoError(t, err)
	at := one.Addr + target.Addr(offset)
	item, err := target.Pointer(d.Memory(), at)
	require.NoError(t, err)
	for what, damage := range map[string]testdump.Damage{
		"outside of the stack": testdump.Words(at, uint64(one.Addr)),
		"no lock":              testdump.Words(item, uint64(one.Addr)),
		"a circle":             testdump.Words(item+24, uint64(item)),
		"another kind":         testdump.Words(item+16, 77),
	} {
		rt, err := d.Damaged(t, damage).Runtime()
		require.NoError(t, err)
		_, err = rt.BlockingItems(one)
		assert.ErrorIs(t, err, target.ErrCorrupt, what)
	}
}

// TestNativePool compares the runtime's own thread pool with SOS.
func TestNativePool(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net31-*"), func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		p, err := rt.NativePool()
		require.NoError(t, err)
		text := d.Case.SOS(t, "threadpool.txt")
		for label, n := range map[string]int{"CPU utilization": int(p.CPU), "Workers Total": int(p.Workers.Active + p.Workers.Retired),
			"Workers Running": int(p.Workers.Working), "Worker Min Limit": int(p.MinWorkers), "Worker Max Limit": int(p.MaxWorkers),
			"Completion Total": int(p.Ports.Active + p.Ports.Retired), "Completion MaxFree": int(p.MaxFreePorts),
			"Completion Min Limit": int(p.MinPorts), "Completion Max Limit": int(p.MaxPorts)} {
			_, after, ok := strings.Cut(text, label+":")
			require.True(t, ok, label)
			assert.Equal(t, strconv.Itoa(n), strings.TrimSuffix(strings.Fields(after)[0], "%"), label)
		}
		log, err := rt.HillClimbing()
		require.NoError(t, err)
		require.NotEmpty(t, log)
		assert.NotZero(t, log[0].Ticks)
		assert.EqualValues(t, p.Workers.MaxWorking, log[len(log)-1].Threads)
		return 9
	})
}
