package digraph

import (
	"context"
	"math/bits"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// Entries returns the entry points of the nodes outside a closed set, ascending. A set is closed if
// it contains everything that its nodes lead to (Reach.Bits). The entries are the fewest nodes from
// which all others outside can be reached. These are the nodes without incoming edges from other
// nodes outside and, for each cycle (strongly connected component) without such edges, its lowest
// number. Dominators builds its second tree from them.
//
// The result takes 4 bytes for each entry; the caller frees it. The function takes another n/4 + 4
// bytes for each node outside the set.
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
	entries.Shrink(e.n)
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
	e.entries.Free()
	if e.reach != nil {
		e.reach.Free()
	}
}

// outside calls f for each node outside the set, ascending.
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

// find marks the nodes outside with an edge from outside, and appends the others as entries.
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
		_, _, err = e.reach.add(ctx, e.entries.Slice()[:e.n], nil, e.closed.words)
	}
	return err
}

func (e *entrySearch) append(u uint32) error {
	if e.n == len(e.entries.Slice()) {
		if err := e.entries.Grow(min(e.entries.Cap(), 2*e.n+1024)); err != nil {
			return err
		}
	}
	e.entries.Slice()[e.n] = u
	e.n++
	return nil
}

// cycles finds an entry for each cycle that nothing outside of it holds. It repeatedly marks
// everything that the lowest unmarked node reaches; together these starting nodes reach everything
// that is left. The last one is not reached from the others, so it is the lowest node of a cycle
// that nothing holds. Without the nodes that it reaches, the same holds for the one before it, and
// so on back to the first.
func (e *entrySearch) cycles(ctx context.Context) error {
	open, reached := e.n, e.reach.n
	err := e.outside(ctx, func(u uint32) error {
		if e.reach.Has(u) {
			return nil
		}
		if err := e.append(u); err != nil {
			return err
		}
		_, _, err := e.reach.add(ctx, e.entries.Slice()[e.n-1:e.n], nil, e.closed.words)
		return err
	})
	if err != nil {
		return err
	}
	e.reach.truncate(reached)
	candidates := e.entries.Slice()[open:e.n]
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

// sort sorts the entries with a bitmap.
func (e *entrySearch) sort(ctx context.Context) error {
	clear(e.held.words)
	for _, u := range e.entries.Slice()[:e.n] {
		e.held.add(u)
	}
	n := 0
	return e.outside(ctx, func(u uint32) error {
		if e.held.has(u) {
			e.entries.Slice()[n] = u
			n++
		}
		return nil
	})
}
