package digraph

import (
	"context"
	"math/bits"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// A sparse holds the rows of a few of many nodes. It takes n/8 + n/16 bytes, and 4 for each row and
// each target.
//
// It is filled in steps: add nodes to has; call index to number their rows; count the targets of
// each row in ends[row+1]; call room to allocate targets. After that, ends[row+1] is the position
// of the row's next target.
type sparse struct {
	has     bitmap
	before  []uint32 // number of rows before each word of has
	ends    []uint32 // ends of the rows in targets, after a 0
	targets []uint32

	arrays [3]*offheap.Array[uint32]
}

func newSparse(budget *offheap.Budget, n int) (*sparse, error) {
	has, err := newBitmap(budget, n)
	return &sparse{has: has}, err
}

func (s *sparse) Free() {
	if s != nil {
		s.has.Free()
		freeAll(s.arrays[:]...)
	}
}

func (s *sparse) array(i int, budget *offheap.Budget, n int) (_ []uint32, err error) {
	s.arrays[i], err = offheap.Make[uint32](budget, n)
	return s.arrays[i].Slice(), err
}

func (s *sparse) index(budget *offheap.Budget) (err error) {
	words := s.has.words
	if s.before, err = s.array(0, budget, len(words)); err != nil {
		return err
	}
	rows := uint32(0)
	for w, word := range words {
		s.before[w] = rows
		rows += uint32(bits.OnesCount64(word))
	}
	s.ends, err = s.array(1, budget, int(rows)+1)
	return err
}

func (s *sparse) room(ctx context.Context, budget *offheap.Budget) (err error) {
	sum := uint32(0)
	for lo := 1; lo < len(s.ends); lo += stride {
		for k := lo; k < min(len(s.ends), lo+stride); k++ {
			s.ends[k], sum = sum, sum+s.ends[k]
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	s.targets, err = s.array(2, budget, int(sum))
	return err
}

// rank returns the number of the row of u, which must have one.
func (s *sparse) rank(u uint32) uint32 {
	return s.before[u/64] + uint32(bits.OnesCount64(s.has.words[u/64]&(1<<(u%64)-1)))
}

// row returns the row of u, or nil.
func (s *sparse) row(u uint32) []uint32 {
	if !s.has.has(u) {
		return nil
	}
	k := s.rank(u)
	return s.targets[s.ends[k]:s.ends[k+1]]
}
