package digraph

import (
	"context"
	"math/bits"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// Entries returns where the nodes outside of a set are entered, if the set is closed (Reach.Bits: it contains
// everything that its nodes lead to). They are the fewest nodes from which all others outside can be reached: the nodes
// without incoming edges from other nodes outside and, for each cycle (strongly connected component) without such
// edges, its lowest number; ascending. With them Dominators builds a second tree of what is outside.
//
// The result takes 4 bytes for each entry, which the caller frees. The function takes another n/4 + 4 bytes for each node outside the set.
func (g *Graph) Entries(ctx context.Context, closed []uint64, opt Options) (*offheap.Array[uint32], error) {
	e := &entrySearch{g: g, closed: bitmap{words: closed}, job: opt.job("entries"), left: stride}
	defer e.free()
	var err error
	if e.reach, err = g.NewReach(Options{Budget: opt.Budget}); err != nil {
		return nil, err
	}
	if e.held, err = newBitmap(opt.Budget, g.Nodes()); err != nil {
		return nil, err
	}
	if e.entries, err = offheap.Reserve[uint32](opt.Budget, g.Nodes()); err != nil {
		return nil, err
	}
	for _, phase := range []func(context.Context) error{e.find, e.cycles, e.sort} {
		if err := phase(ctx); err != nil {
			return nil, err
		}
	}
	entries := e.entries
	offheap.Shrink(entries, e.n)
	e.entries = nil
	return entries, nil
}

type entrySearch struct {
	g       *Graph
	closed  bitmap
	held    bitmap // nodes outside the set with an edge from outside; finally the entries
	reach   *Reach // reached from the entries so far
	entries *offheap.Array[uint32]
	n       int // number of entries
	job     *job
	left    int
}

func (e *entrySearch) free() {
	e.held.Free()
	offheap.Free(e.entries)
	if e.reach != nil {
		e.reach.Free()
	}
}

// outside calls f with all nodes that are not in the set, ascending.
func (e *entrySearch) outside(ctx context.Context, f func(u uint32) error) error {
	n := uint32(e.g.Nodes())
	for w, word := range e.closed.words {
		for rest := ^word; rest != 0; rest &= rest - 1 {
			u := uint32(w)*64 + uint32(bits.TrailingZeros64(rest))
			if u >= n {
				break
			}
			if err := f(u); err != nil {
				return err
			}
		}
		if e.left--; e.left <= 0 {
			e.left = stride
			if err := e.job.step(ctx, stride, 4*uint64(len(e.closed.words))); err != nil {
				return err
			}
		}
	}
	return nil
}

// find marks the nodes that an edge from outside leads to, and takes the others.
func (e *entrySearch) find(ctx context.Context) error {
	err := e.outside(ctx, func(u uint32) error {
		row := e.g.Row(u)
		for len(row) > 0 {
			piece := row[:min(len(row), stride)]
			row = row[len(piece):]
			for _, v := range piece {
				if v != u && !e.closed.has(v) {
					e.held.add(v)
				}
			}
			if e.left -= len(piece); len(row) > 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = e.outside(ctx, func(u uint32) error {
		if e.held.has(u) {
			return nil
		}
		return e.append(u)
	})
	if err == nil {
		_, _, err = e.reach.add(ctx, offheap.Slice(e.entries)[:e.n], nil, e.closed.words)
	}
	return err
}

func (e *entrySearch) append(u uint32) error {
	if e.n == len(offheap.Slice(e.entries)) {
		if err := offheap.Grow(e.entries, min(offheap.Cap(e.entries), 2*e.n+1024)); err != nil {
			return err
		}
	}
	offheap.Slice(e.entries)[e.n] = u
	e.n++
	return nil
}

// cycles finds an entry for each cycle that nothing outside of it holds. It marks what is reachable from the lowest unmarked node, and
// repeats; these starting nodes hold everything that is left. The last of them is not reached from the others, so it is the lowest node of
// a cycle that nothing holds. Without what it reaches, the same holds for the last but one, and so on back to the first.
func (e *entrySearch) cycles(ctx context.Context) error {
	open, reached := e.n, e.reach.n
	err := e.outside(ctx, func(u uint32) error {
		if e.reach.Has(u) {
			return nil
		}
		if err := e.append(u); err != nil {
			return err
		}
		_, _, err := e.reach.add(ctx, offheap.Slice(e.entries)[e.n-1:e.n], nil, e.closed.words)
		return err
	})
	if err != nil {
		return err
	}
	e.reach.truncate(reached)
	candidates := offheap.Slice(e.entries)[open:e.n]
	kept := len(candidates)
	for i := kept - 1; i >= 0; i-- {
		u := candidates[i]
		if e.reach.Has(u) {
			continue
		}
		if _, _, err := e.reach.add(ctx, candidates[i:i+1], nil, e.closed.words); err != nil {
			return err
		}
		kept--
		candidates[kept] = u
	}
	e.n = open + copy(candidates, candidates[kept:])
	return nil
}

// sort orders the entries by means of a bitmap.
func (e *entrySearch) sort(ctx context.Context) error {
	clear(e.held.words)
	for _, u := range offheap.Slice(e.entries)[:e.n] {
		e.held.add(u)
	}
	n := 0
	return e.outside(ctx, func(u uint32) error {
		if e.held.has(u) {
			offheap.Slice(e.entries)[n] = u
			n++
		}
		return nil
	})
}
