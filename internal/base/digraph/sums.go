package digraph

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

// Sums holds a number below 1<<48 for each node. A number takes 4 bytes, and 2 more if any may be
// 1<<32 or more.
type Sums struct {
	Low  []uint32
	High []uint16 // bits 32 to 47; nil if all are 0

	low  *offheap.Array[uint32]
	high *offheap.Array[uint16]
}

// Len returns the number of nodes.
func (s *Sums) Len() int {
	if s == nil {
		return 0
	}
	return len(s.Low)
}

// At returns the number of a node.
func (s *Sums) At(u uint32) uint64 {
	if s.High == nil {
		return uint64(s.Low[u])
	}
	return uint64(s.Low[u]) | uint64(s.High[u])<<32
}

func (s *Sums) add(u uint32, low uint32, high uint16) {
	sum, carry := bits.Add32(s.Low[u], low, 0)
	s.Low[u] = sum
	s.High[u] += high + uint16(carry)
}

// Free releases the arrays.
func (s *Sums) Free() {
	if s != nil {
		s.low.Free()
		s.high.Free()
		s.Low, s.High = nil, nil
	}
}

// Retained returns, for each node, the total size of the nodes that it dominates, including itself:
// the memory that would be freed with it. It is 0 for unreached nodes. The last of n+1 elements
// belongs to the pseudo root. sizes are by node, in any unit; nodes past its end count 0. more is
// added to the sizes of some nodes. The result takes 4n bytes, or 6n if all sizes together are
// 1<<32 or more; the caller frees it.
func (d *Dominators) Retained(ctx context.Context, sizes []uint32, more map[uint32]uint64, opt Options) (_ *Sums, err error) {
	if err := opt.Budget.Need("the retained sizes", 4*int64(len(d.Idom))); err != nil {
		return nil, err
	}
	s := &Sums{}
	defer func() {
		if err != nil {
			s.Free()
		}
	}()
	if s.low, err = offheap.Make[uint32](opt.Budget, len(d.Idom)); err != nil {
		return nil, err
	}
	s.Low = s.low.Slice()
	j := opt.job("retained sizes")
	// The sizes are stored first, in order and by all workers. Order is then read backwards, so
	// that a node follows everything that it dominates.
	var total atomic.Uint64
	err = j.spans(ctx, min(len(sizes), len(s.Low)), func(_, lo, hi int) {
		sum := uint64(0)
		for u := lo; u < hi; u++ {
			if d.Idom[u] != None {
				s.Low[u] = sizes[u]
				sum += uint64(sizes[u])
			}
		}
		total.Add(sum)
	})
	if err != nil {
		return nil, err
	}
	all := total.Load()
	for _, size := range more {
		if all >= 1<<48 {
			break // size may overflow it
		}
		all += size
	}
	if all >= 1<<48 {
		return nil, target.Limitf("sizes of %d bytes and more", all)
	}
	if all >= 1<<32 {
		if s.high, err = offheap.Make[uint16](opt.Budget, len(d.Idom)); err != nil {
			return nil, err
		}
		s.High = s.high.Slice()
		for u, size := range more {
			if d.Idom[u] != None {
				s.add(u, uint32(size), uint16(size>>32))
			}
		}
	} else {
		for u, size := range more {
			if d.Idom[u] != None {
				s.Low[u] += uint32(size)
			}
		}
	}
	for hi := len(d.Order); hi > 0; hi -= min(hi, stride) {
		part := d.Order[max(0, hi-stride):hi]
		if s.High == nil {
			s.climb(d, part)
		} else {
			s.climbWide(d, part)
		}
		if err := j.step(ctx, stride, uint64(len(d.Order))); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// climb adds the numbers of nodes to their dominators, the last node first.
func (s *Sums) climb(d *Dominators, nodes []uint32) {
	for i := len(nodes) - 1; i >= 0; i-- {
		u := nodes[i]
		if p := d.Idom[u]; p != u {
			s.Low[p] += s.Low[u]
		}
	}
}

func (s *Sums) climbWide(d *Dominators, nodes []uint32) {
	for i := len(nodes) - 1; i >= 0; i-- {
		u := nodes[i]
		if p := d.Idom[u]; p != u {
			s.add(p, s.Low[u], s.High[u])
		}
	}
}

// SumByClass sums values by class, over the topmost nodes of each class in the dominator tree below
// top, including top. A node does not count if a node of the same class dominates it, because that
// node's retained size includes it. classes are by node, each below count; nodes past its end have
// no class. With the values of Retained, the sums are the retained sizes of the classes. With nil
// values each topmost node counts 1.
//
// The function takes n/8 bytes, 4 for each node on the longest path of the tree, 4 for each
// postponed one, and 12 for each class.
func SumByClass[C uint8 | uint16 | uint32](ctx context.Context, t *Children, top uint32, classes []C, count int, values *Sums, opt Options) ([]uint64, error) {
	w, err := newTreeWalk(t, top, opt)
	if err != nil {
		return nil, err
	}
	defer w.free()
	path, err := offheap.Reserve[uint32](opt.Budget, len(t.idom))
	if err != nil {
		return nil, err
	}
	defer path.Free()
	sums, open := make([]uint64, count), make([]uint32, count)
	class := func(u uint32) (int, bool) {
		if int64(u) >= int64(len(classes)) {
			return 0, false
		}
		return int(classes[u]), true
	}
	j := opt.job("sums of classes")
	depth := 0
	for i := 1; ; i++ {
		u, inner, err := w.next()
		if err != nil {
			return nil, err
		}
		if u == None {
			return sums, ctx.Err()
		}
		// In preorder, the path to a node is a prefix of the path to the previous one.
		for depth > 0 && path.Slice()[depth-1] != t.idom[u] {
			depth--
			if c, ok := class(path.Slice()[depth]); ok {
				open[c]--
			}
		}
		if c, ok := class(u); ok {
			if open[c] == 0 {
				if values == nil {
					sums[c]++
				} else {
					sums[c] += values.At(u)
				}
			}
			if inner {
				open[c]++
			}
		}
		if inner {
			if depth == len(path.Slice()) {
				if err := path.Grow(min(path.Cap(), 2*depth+1024)); err != nil {
					return nil, err
				}
			}
			path.Slice()[depth] = u
			depth++
		}
		if i%stride == 0 {
			if err := j.step(ctx, stride, uint64(len(t.idom))); err != nil {
				return nil, err
			}
		}
	}
}
