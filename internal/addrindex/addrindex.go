// Package addrindex finds the items of a list by their addresses.
package addrindex

import (
	"math/bits"

	"github.com/sosgo/sosgo/target"
)

// An Index is a table of the numbers of items, each at the first free place from that of its address on, one more than
// the number, 0 if there is none. It is at most half full, and takes 8 to 16 bytes per item. The list is not in it: who asks
// says what address an item has. No two have one.
type Index []uint32

// New returns the index of n items, fewer than 2^31, which have the addresses that at says.
func New(n int, at func(item int) target.Addr) Index {
	x := make(Index, 1<<bits.Len(uint(2*n)))
	for i := range n {
		place := x.place(at(i))
		for x[place] != 0 {
			place = (place + 1) & (len(x) - 1)
		}
		x[place] = uint32(i) + 1
	}
	return x
}

// place returns where the search for an address begins.
func (x Index) place(a target.Addr) int {
	return int(uint64(a) * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(x)-1))))
}

// Find returns the number of the item at an address, -1 if there is none.
func (x Index) Find(a target.Addr, at func(item int) target.Addr) int {
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
