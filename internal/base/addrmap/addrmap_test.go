package addrmap

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// The first who adds something has it kept.
func Example() {
	var names Map[string]
	Add(&names, 0x1000, "first")
	fmt.Println(*Add(&names, 0x1000, "second"), *Get(&names, 0x1000), Get(&names, 0x2000) == nil)
	// Output: first first true
}

// TestRace: who looks for an address while another is added gets none. It got what
// the other maps to, if that came into the empty slot between two looks at it, so that a walk
// took an object for one of another type: corruption that was none.
func TestRace(t *testing.T) {
	const wanted = target.Addr(0x7f00_0000_0000)
	added := sameSlot(t, wanted)
	for range 3_000 {
		m := &Map[target.Addr]{}
		Add(m, 8, 8) // there is a table
		var looking, done atomic.Bool
		var wrong atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			for !done.Load() {
				if v := Get(m, wanted); v != nil {
					wrong.Add(1)
				}
				looking.Store(true)
			}
		})
		for !looking.Load() {
			runtime.Gosched() // else a machine with other work to do takes a while for each round
		}
		Add(m, added, added)
		done.Store(true)
		wg.Wait()
		require.Zero(t, wrong.Load(), "an address that nobody added has a value")
	}
}

// sameSlot is another address that belongs into the slot of a.
func sameSlot(t *testing.T, a target.Addr) target.Addr {
	tab := grown[target.Addr](nil)
	at, _ := find(tab, a)
	for b := a + 8; b < a+1<<20; b += 8 {
		if slot, _ := find(tab, b); slot == at {
			return b
		}
	}
	require.Fail(t, "no such address")
	return 0
}

// TestMap: what was added is found while the table grows.
func TestMap(t *testing.T) {
	var m Map[int]
	require.Nil(t, Get(&m, 8))
	const n = 10 * minSlots
	for i := range n {
		Add(&m, target.Addr(8*i), i)
	}
	require.Equal(t, 3, *Add(&m, 24, 4), "the first stays")
	for i := range n {
		require.Equal(t, i, *Get(&m, target.Addr(8*i)))
	}
	require.Nil(t, Get(&m, 8*n))
}
