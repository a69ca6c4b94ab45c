package digraph

import (
	"context"

	"github.com/sosgo/sosgo/internal/offheap"
)

// Retained returns, for each node, the sum of the sizes of the nodes that it dominates, itself included: what would be
// freed with it. It is 0 for unreached nodes. There are n+1 elements; the last is the pseudo root's. sizes are by node,
// in any unit; nodes past its end have none. The result takes 8n bytes, which the caller frees.
func (d *Dominators) Retained(ctx context.Context, sizes []uint32, opt Options) (*offheap.Array[uint64], error) {
	if err := opt.Budget.Need("the retained sizes", 8*int64(len(d.Idom))); err != nil {
		return nil, err
	}
	array, err := offheap.Make[uint64](opt.Budget, len(d.Idom))
	if err != nil {
		return nil, err
	}
	sums := array.Slice()
	j := opt.job("retained sizes")
	// Backwards, everything that a node dominates precedes it, the children of one node close
	// together. The sizes are stored before, in order and by all workers.
	err = j.spans(ctx, min(len(sizes), len(sums)), func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			if d.Idom[u] != None {
				sums[u] = uint64(sizes[u])
			}
		}
	})
	if err != nil {
		array.Free()
		return nil, err
	}
	for hi := len(d.Order); hi > 0; hi -= min(hi, stride) {
		for i := hi - 1; i >= max(0, hi-stride); i-- {
			u := d.Order[i]
			if p := d.Idom[u]; p != u {
				sums[p] += sums[u]
			}
		}
		if err := j.step(ctx, stride, uint64(len(d.Order))); err != nil {
			array.Free()
			return nil, err
		}
	}
	return array, nil
}

// Children returns the dominator tree as rows: the nodes that each immediately dominates, in ascending order. There are n+1
// nodes; the last is the pseudo root. It takes 8n bytes, all of them the result, which the caller frees.
func (d *Dominators) Children(ctx context.Context, opt Options) (*Graph, error) {
	n := len(d.Idom)
	if err := opt.Budget.Need("the rows of the dominator tree", 8*int64(n)); err != nil {
		return nil, err
	}
	offsets, err := offheap.Make[uint32](opt.Budget, n+1)
	if err != nil {
		return nil, err
	}
	targets, err := offheap.Make[uint32](opt.Budget, n)
	if err != nil {
		offsets.Free()
		return nil, err
	}
	count, err := d.childrenInto(ctx, opt.job("children"), offsets.Slice(), targets.Slice())
	if err != nil {
		freeAll(offsets, targets)
		return nil, err
	}
	targets.Shrink(count)
	return &Graph{Offsets: offsets.Slice(), Targets: targets.Slice(), owned: [2]*offheap.Array[uint32]{offsets, targets}}, nil
}

// childrenInto returns a counting sort. The offset after each node is first its number of children, then where the next one goes.
func (d *Dominators) childrenInto(ctx context.Context, j *job, offsets, targets []uint32) (int, error) {
	n := len(d.Idom)
	total := 3 * uint64(n)
	for lo := 0; lo < n; lo += stride {
		for i, p := range d.Idom[lo:min(n, lo+stride)] {
			if p != None && int(p) != lo+i {
				offsets[p+1]++
			}
		}
		if err := j.step(ctx, stride, total); err != nil {
			return 0, err
		}
	}
	sum := uint32(0)
	for lo := 1; lo <= n; lo += stride {
		for i := lo; i < min(n+1, lo+stride); i++ {
			c := offsets[i]
			offsets[i] = sum
			sum += c
		}
		if err := j.step(ctx, stride, total); err != nil {
			return 0, err
		}
	}
	for lo := 0; lo < n; lo += stride {
		for i, p := range d.Idom[lo:min(n, lo+stride)] {
			if p != None && int(p) != lo+i {
				targets[offsets[p+1]] = uint32(lo + i)
				offsets[p+1]++
			}
		}
		if err := j.step(ctx, stride, total); err != nil {
			return 0, err
		}
	}
	return int(sum), nil
}

// SumByClass sums values by class over the topmost nodes of each class in the dominator tree. A node counts for its class unless a node of
// the same class dominates it, since that one's retained size includes it. classes are by node, numbers below count; nodes past the end of
// classes have none. The sums of Retained's values are the retained sizes of the classes; with nil values each topmost node counts 1.
//
// nodes is Order or a part of it that is a tree: Order[:Live] is alive, Order[Live:] is the rest. The
// function takes 4 bytes for each node on the longest path of the tree, and 12 for each class.
func SumByClass[C uint8 | uint16 | uint32](ctx context.Context, d *Dominators, nodes []uint32, classes []C, count int, values []uint64,
	opt Options) ([]uint64, error) {
	path, err := offheap.Reserve[uint32](opt.Budget, len(nodes))
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
	for lo := 0; lo < len(nodes); lo += stride {
		for _, u := range nodes[lo:min(len(nodes), lo+stride)] {
			// In preorder, the path to a node is a prefix of the path to the previous one.
			for depth > 0 && path.Slice()[depth-1] != d.Idom[u] {
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
						sums[c] += values[u]
					}
				}
				open[c]++
			}
			if depth == len(path.Slice()) {
				if err := path.Grow(min(path.Cap(), 2*depth+1024)); err != nil {
					return nil, err
				}
			}
			path.Slice()[depth] = u
			depth++
		}
		if err := j.step(ctx, stride, uint64(len(nodes))); err != nil {
			return nil, err
		}
	}
	return sums, nil
}
