package graph

import (
	"context"
	"runtime"
	"sort"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// parallel calls f for pieces of 0 to n, each of at most size, in several goroutines. create returns the data of one
// goroutine. parallel fails only with the error of ctx.
func parallel[T any](ctx context.Context, jobs, n, size int, create func() T, f func(with T, from, to int)) error {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var group workers.Group
	for range min(jobs, (n+size-1)/size) {
		group.Go(func() {
			with := create()
			for ctx.Err() == nil {
				to := int(next.Add(int64(size)))
				if to-size >= n {
					return
				}
				f(with, to-size, min(to, n))
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// fill reads the references of the deferred pieces.
func (b *builder) fill() error {
	targets, high := b.arrays.targets.Slice(), b.arrays.high.Slice()
	create := func() *collector { return newCollector(b) }
	return parallel(b.ctx, b.o.Jobs, len(b.deferred), 1, create, func(c *collector, i, _ int) {
		d := &b.deferred[i]
		c.Reset()
		refs, _, _ := c.edges.Append(c.scratch[:0], &d.object, d.from, d.to) // counted when it was deferred
		c.scratch = refs
		at := d.behind
		for _, a := range refs {
			if g, ok := b.x.granule(uint64(a)); ok && at < d.behind+int(d.n) {
				targets[at] = uint32(g)
				if b.wide {
					high[at] = uint8(g >> 32)
				}
				at++
			}
		}
	})
}

// numberPiece is the number of references that a worker numbers at a time, in less than a millisecond between two
// checks of ctx.
const numberPiece = 1 << 15

// number replaces granules by nodes in place, or by None if no object starts at the granule.
func (b *builder) number() error {
	targets, high := b.arrays.targets.Slice(), b.arrays.high.Slice()
	create := func() *free { return &free{b: b, mem: target.NewWindow(b.h.Memory())} }
	return parallel(b.ctx, b.o.Jobs, len(targets), numberPiece, create, func(f *free, from, to int) {
		x := b.x
		row := targets[from:to]
		for i, t := range row {
			g := uint64(t)
			if b.wide {
				g |= uint64(high[from+i]) << 32
			}
			if g >= b.granules {
				row[i] = uint32(b.objects) + uint32(b.inTable[g-b.granules])
				continue
			}
			n, ok := x.rank(g)
			if !ok {
				fault := f.fault(x.address(g))
				b.faults[fault].Add(1)
				b.lost.add(from+i, fault)
				n = digraph.None
			}
			row[i] = n
		}
	})
}

// A free distinguishes free blocks from the inside of objects.
type free struct {
	b   *builder
	mem *target.Window
}

// fault returns why a reference into the heap leads to no object.
func (f *free) fault(a target.Addr) Fault {
	if f.b.h.Segment(a) == nil {
		return f.b.fault(uint64(a)) // a chunk may be larger than its segments
	}
	v, err := f.mem.Uint64(a)
	switch {
	case err != nil:
		return FaultAbsent
	case target.Addr(v)&^7 == f.b.h.Runtime().WellKnown().Free:
		return FaultFree
	case f.b.inObject(a):
		return FaultInside
	case f.b.corrupt(a):
		return FaultAbsent
	}
	return FaultFree
}

func (b *builder) inObject(a target.Addr) bool {
	n, ok := b.x.lastAt(a)
	if !ok {
		return false
	}
	size := uint64(b.arrays.sizes.Slice()[n])
	if size == hugeSize {
		size = b.huge[n]
	}
	return uint64(a-b.x.address(b.x.granuleOf(n))) < size
}

// corrupt reports whether a lies in a place where the walk could not continue.
func (b *builder) corrupt(a target.Addr) bool {
	list := b.stats.Corruptions
	i := sort.Search(len(list), func(i int) bool { return list[i].Addr > a }) - 1
	return i >= 0 && a < list[i].Next || i == len(list)-1 && len(list) < b.stats.Corrupt
}

// compact removes the references that lead to no object.
func (b *builder) compact() error {
	lost := false
	for f := range b.faults {
		lost = lost || b.faults[f].Load() != 0
	}
	if !lost {
		return nil
	}
	offsets, targets := b.arrays.offsets.Slice(), b.arrays.targets.Slice()
	b.lost.find(offsets)
	to := uint32(0)
	from := offsets[0]
	for n := range b.objects {
		if n%numberPiece == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		end := offsets[n+1]
		for ; from < end; from++ {
			if t := targets[from]; t != digraph.None {
				targets[to] = t
				to++
			}
		}
		offsets[n+1] = to
	}
	b.edges = uint64(to)
	return nil
}
