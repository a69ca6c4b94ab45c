package tasks

import (
	"testing"

	"github.com/sosgo/sosgo/target"
)

// TestAddressIndex finds every item by its address and nothing else, also in an empty index.
func TestAddressIndex(t *testing.T) {
	at := func(i int) target.Addr { return 0x7f00_0000_0000 + target.Addr(i)*72 }
	for _, n := range []int{0, 1, 2, 3, 1000, 4096} {
		x := newAddressIndex(n, at)
		for i := range n {
			if got := x.Find(at(i), at); got != i {
				t.Errorf("of %d items, item %d is number %d", n, i, got)
			}
			if got := x.Find(at(i)+8, at); got != -1 {
				t.Errorf("of %d items, number %d is at an address that none has", n, got)
			}
		}
		if got := x.Find(0, at); got != -1 {
			t.Errorf("of %d items, number %d is at 0", n, got)
		}
	}
}

// TestZeroAddressIndex checks that the zero addressIndex is empty.
func TestZeroAddressIndex(t *testing.T) {
	var x addressIndex
	if got := x.Find(8, nil); got != -1 {
		t.Errorf("an item was found: %d", got)
	}
}
