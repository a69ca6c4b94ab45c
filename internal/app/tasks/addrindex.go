package tasks

import (
	"math/bits"

	"github.com/sosgo/sosgo/target"
)

// An addressIndex is a hash table of item numbers with open addressing. A slot holds an item's number plus one, or 0.
// The table is at most half full and takes 8 to 16 bytes per item. Callers supply the addresses of the items, which
// must be distinct.
type addressIndex []uint32

// newAddressIndex returns the index of n items, fewer than 2^31. at returns an item's address.
func newAddressIndex(n int, at func(item int) target.Addr) addressIndex {
	x := make(addressIndex, 1<<bits.Len(uint(2*n)))
	for i := range n {
		place := x.place(at(i))
		for x[place] != 0 {
			place = (place + 1) & (len(x) - 1)
		}
		x[place] = uint32(i) + 1
	}
	return x
}

// place returns the slot where the search for an address begins.
func (x addressIndex) place(a target.Addr) int {
	return int(uint64(a) * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(x)-1))))
}

// Find returns the number of the item at an address, or -1.
func (x addressIndex) Find(a target.Addr, at func(item int) target.Addr) int {
	if len(x) < 2 {
		return -1
	}
	for place := x.place(a); x[place] != 0; place = (place + 1) & (len(x) - 1) {
		if i := int(x[place] - 1); at(i) == a {
			return i
		}
	}
	return -1
}
