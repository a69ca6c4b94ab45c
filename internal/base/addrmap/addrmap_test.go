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

// The first value that is added is kept.
func Example() {
	var names Map[string]
	names.Add(0x1000, "first")
	fmt.Println(*names.Add(0x1000, "second"), *names.Get(0x1000), names.Get(0x2000) == nil)
	// Output: first first true
}

// TestRace: a lookup that runs while another address is added must not return the value of that
// address. When find loaded a slot twice, it did, and a walk took an object for one of another
// type.
func TestRace(t *testing.T) {
	const wanted = target.Addr(0x7f00_0000_0000)
	added := sameSlot(t, wanted)
	for range 3_000 {
		m := &Map[target.Addr]{}
		m.Add(8, 8) // there is a table
		var looking, done atomic.Bool
		var wrong atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			for !done.Load() {
				if v := m.Get(wanted); v != nil {
					wrong.Add(1)
				}
				looking.Store(true)
			}
		})
		for !looking.Load() {
			runtime.Gosched() // on a busy machine each round would take a while
		}
		m.Add(added, added)
		done.Store(true)
		wg.Wait()
		require.Zero(t, wrong.Load(), "an address that nobody added has a value")
	}
}

// sameSlot returns another address with the same first slot as a.
func sameSlot(t *testing.T, a target.Addr) target.Addr {
	tab := (*table[target.Addr])(nil).grow()
	at, _ := tab.find(a)
	for b := a + 8; b < a+1<<20; b += 8 {
		if slot, _ := tab.find(b); slot == at {
			return b
		}
	}
	require.Fail(t, "no such address")
	return 0
}

// TestMap finds all entries while the table grows.
func TestMap(t *testing.T) {
	var m Map[int]
	require.Nil(t, m.Get(8))
	const n = 10 * minSlots
	for i := range n {
		m.Add(target.Addr(8*i), i)
	}
	require.Equal(t, 3, *m.Add(24, 4), "the first stays")
	for i := range n {
		require.Equal(t, i, *m.Get(target.Addr(8 * i)))
	}
	require.Nil(t, m.Get(8*n))
}
