package tasks

import (
	"testing"

	"github.com/sosgo/sosgo/target"
)

// Every item is found by its address and nothing else is, of no items too.
func TestIndex(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000, 4096} {
		items := make([]item, n)
		for i := range items {
			items[i].addr = 0x7f00_0000_0000 + target.Addr(i)*72
		}
		x := newIndex(items)
		for i := range items {
			if got := x.of(items, items[i].addr); got != int32(i) {
				t.Errorf("of %d items, item %d is number %d", n, i, got)
			}
			if got := x.of(items, items[i].addr+8); got != -1 {
				t.Errorf("of %d items, number %d is at an address that none has", n, got)
			}
		}
		if got := x.of(items, 0); got != -1 {
			t.Errorf("of %d items, number %d is at 0", n, got)
		}
	}
}
