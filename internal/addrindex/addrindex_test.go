package addrindex_test

import (
	"fmt"
	"testing"

	"github.com/sosgo/sosgo/internal/addrindex"
	"github.com/sosgo/sosgo/target"
)

// Two items, and an address that none has.
func Example() {
	items := []target.Addr{0x1000, 0x2000}
	at := func(i int) target.Addr { return items[i] }
	x := addrindex.New(len(items), at)
	fmt.Println(x.Find(0x2000, at), x.Find(0x3000, at))
	// Output: 1 -1
}

// Every item is found by its address and nothing else is, of no items too.
func TestFind(t *testing.T) {
	at := func(i int) target.Addr { return 0x7f00_0000_0000 + target.Addr(i)*72 }
	for _, n := range []int{0, 1, 2, 3, 1000, 4096} {
		x := addrindex.New(n, at)
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

// TestZero: the zero Index is that of no items.
func TestZero(t *testing.T) {
	var x addrindex.Index
	if got := x.Find(8, nil); got != -1 {
		t.Errorf("an item was found: %d", got)
	}
}
