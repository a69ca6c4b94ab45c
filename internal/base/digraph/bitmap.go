package digraph

import (
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// A bitmap is a set of nodes, one bit for each.
type bitmap struct {
	words []uint64
	array *offheap.Array[uint64]
}

func newBitmap(budget *offheap.Budget, n int) (bitmap, error) {
	a, err := offheap.Make[uint64](budget, (n+63)/64)
	return bitmap{a.Slice(), a}, err
}

func (b bitmap) has(u uint32) bool { return b.words[u/64]&(1<<(u%64)) != 0 }
func (b bitmap) add(u uint32)      { b.words[u/64] |= 1 << (u % 64) }
func (b bitmap) remove(u uint32)   { b.words[u/64] &^= 1 << (u % 64) }

// addShared adds u while other goroutines add nodes. It reports whether u was in the set.
func (b bitmap) addShared(u uint32) bool {
	w, bit := &b.words[u/64], uint64(1)<<(u%64)
	return atomic.LoadUint64(w)&bit != 0 || atomic.OrUint64(w, bit)&bit != 0
}

func (b bitmap) Free() { b.array.Free() }
