package waste

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// A pinKey groups pinned objects by generation, handle type and type.
type pinKey struct {
	generation heap.Generation
	handle     heap.HandleType
	table      target.Addr // the MethodTable
}

// reportFree lists the free blocks of generations, with the pinned objects beside them.
func (f *finder) reportFree(ctx context.Context) error {
	var free uint64
	for g := range f.counts.free {
		free += f.counts.free[g].blocks
	}
	if free == 0 {
		return nil
	}
	pins, err := f.pins(ctx)
	if err != nil {
		return err
	}
	for g := range f.counts.free {
		t := &f.counts.free[g]
		if t.blocks == 0 {
			continue
		}
		row := answer.FreeSpace{Generation: heap.Generation(g).String(), Objects: t.objects, Free: t.free, Share: share(t.free, t.free+t.objects), Blocks: t.blocks, Largest: t.largest}
		row.Pins, row.MorePins = f.pinRows(pins, heap.Generation(g))
		f.a.Free = append(f.a.Free, row)
	}
	return nil
}

// pins counts the pinned objects with a free block before or after them.
func (f *finder) pins(ctx context.Context) (map[pinKey]*answer.FreePin, error) {
	pins := map[pinKey]*answer.FreePin{}
	seen := map[pinKey]map[target.Addr]bool{}
	ends := f.freeEnds.Marker()
	for e, err := range f.h.Handles() {
		if cerr := ctx.Err(); cerr != nil {
			return nil, cerr
		}
		if err != nil {
			f.a.Note(fmt.Errorf("pinned objects beside free blocks: %w", err))
			continue
		}
		if e.Type != heap.HandlePinned && e.Type != heap.HandleAsyncPinned {
			continue
		}
		s := f.h.Segment(e.Object)
		if s == nil {
			continue // frozen, or lost and noted
		}
		o, err := f.h.ObjectAt(e.Object)
		if err != nil {
			f.a.Note(fmt.Errorf("object of handle %016x: %w", uint64(e.Addr), err))
			continue
		}
		if !ends.Has(o.Addr) && !f.isFree(s, o.Next()) {
			continue
		}
		k := pinKey{s.Generation(o.Addr), e.Type, o.Type.Addr}
		if pins[k] == nil {
			pins[k], seen[k] = &answer.FreePin{Handle: e.Type.String(), Example: o.Addr}, map[target.Addr]bool{}
		}
		if pins[k].Handles++; !seen[k][o.Addr] {
			seen[k][o.Addr] = true
			pins[k].Objects, pins[k].Size = pins[k].Objects+1, pins[k].Size+o.Size
		}
	}
	return pins, nil
}

// isFree reports whether a free block begins at a.
func (f *finder) isFree(s *heap.Segment, a target.Addr) bool {
	if !s.Objects.Contains(a) {
		return false
	}
	o, err := f.h.ObjectAt(a)
	return err == nil && o.Free
}

// pinRows lists the pinned objects of a generation, the most bytes first.
func (f *finder) pinRows(pins map[pinKey]*answer.FreePin, g heap.Generation) (list []answer.FreePin, more int) {
	var keys []pinKey
	for k := range pins {
		if k.generation == g {
			keys = append(keys, k)
		}
	}
	slices.SortStableFunc(keys, func(x, y pinKey) int {
		return cmp.Or(cmp.Compare(pins[y].Size, pins[x].Size), cmp.Compare(x.handle, y.handle), cmp.Compare(x.table, y.table))
	})
	if n := f.o.Top; n > 0 && len(keys) > n {
		keys, more = keys[:n], len(keys)-n
	}
	for _, k := range keys {
		pins[k].Type = f.a.Text(f.h.Runtime().TypeName(k.table, dac.NameManaged))
		list = append(list, *pins[k])
	}
	return list, more
}
