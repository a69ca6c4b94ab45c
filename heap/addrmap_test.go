package heap

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestAddrMapRace: who looks for an address while another is added gets none. It got what
// the other maps to, if that came into the empty slot between two looks at it, so that a walk
// took an object for one of another type: corruption that was none.
func TestAddrMapRace(t *testing.T) {
	const wanted = target.Addr(0x7f00_0000_0000)
	added := sameSlot(t, wanted)
	for range 3_000 {
		m := &addrMap[target.Addr]{}
		m.add(8, 8) // there is a table
		var looking, done atomic.Bool
		var wrong atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			for !done.Load() {
				if v := m.get(wanted); v != nil {
					wrong.Add(1)
				}
				looking.Store(true)
			}
		})
		for !looking.Load() {
			runtime.Gosched() // else a machine with other work to do takes a while for each round
		}
		m.add(added, added)
		done.Store(true)
		wg.Wait()
		require.Zero(t, wrong.Load(), "an address that nobody added has a value")
	}
}

// sameSlot is another address that belongs into the slot of a.
func sameSlot(t *testing.T, a target.Addr) target.Addr {
	table := (*addrTable[target.Addr])(nil).grown()
	at, _ := table.find(a)
	for b := a + 8; b < a+1<<20; b += 8 {
		if slot, _ := table.find(b); slot == at {
			return b
		}
	}
	require.Fail(t, "no such address")
	return 0
}
