package waste

import (
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// CollectionOf returns the number of arrays and the place of the count of a collection type; ok is false for other types.
func CollectionOf(r *objects.Reader, t *objects.Type) (arrays int, count target.Addr, ok bool, err error) {
	c, err := collectionOf(newPlans(r).collections, t)
	if c == nil {
		return 0, 0, false, err
	}
	return len(c.arrays), c.count, true, err
}

// NewMarks returns functions that mark an address and report whether one is marked.
func NewMarks() (set func(target.Addr), has func(target.Addr) bool) {
	m := newMarks()
	s, h := marker{m: m}, marker{m: m}
	return s.set, h.has
}
