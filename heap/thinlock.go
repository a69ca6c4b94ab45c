package heap

import (
	"context"

	"github.com/sosgo/sosgo/dac"
)

// A LockedObject is an object with a thin lock in its header.
type LockedObject struct {
	Object Object
	Lock   dac.ThinLock
}

// ThinLocks returns the objects selected by f that have a thin lock, by address, and the Stats of all selected objects.
func (h *Heap) ThinLocks(ctx context.Context, f *Filter, o ScanOptions) ([]LockedObject, Stats, error) {
	if err := h.Runtime().Check(dac.FeatureObjectHeaders); err != nil {
		return nil, Stats{}, err
	}
	total := NewCounter(h, f)
	var locked []LockedObject
	err := Scan(ctx, h, f, o, func() *lockCollector {
		return &lockCollector{Counter: NewCounter(h, f)}
	}, func(c *lockCollector) error {
		total.Add(c.Counter)
		locked = append(locked, c.locked...)
		return nil
	})
	return locked, total.Stats(), err
}

type lockCollector struct {
	*Counter
	locked []LockedObject
}

func (c *lockCollector) Objects(s *Segment, batch []Object) {
	for i := range batch {
		o := &batch[i]
		if o.Free || !c.sieve.Pass(o) {
			continue
		}
		c.countOne(s, o)
		// The header of a segment's first object may not be stored; it is not locked.
		if header, err := c.h.Runtime().ObjectHeader(o.Addr); err == nil {
			if lock, ok := c.h.Runtime().ThinLock(header); ok {
				c.locked = append(c.locked, LockedObject{Object: *o, Lock: lock})
			}
		}
	}
}

func (c *lockCollector) Reset() {
	c.Counter.Reset()
	c.locked = c.locked[:0]
}
