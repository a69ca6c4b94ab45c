//go:build linux || darwin

package offheap_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// made returns an array of n bytes. It checks that they are zero and sets them.
func made(t *testing.T, b *offheap.Budget, n int) *offheap.Array[byte] {
	a, err := offheap.Make[byte](b, n)
	require.NoError(t, err)
	s := a.Slice()
	require.Len(t, s, n)
	require.Negative(t, bytes.IndexByte(s, 0xff))
	for i := range s {
		s[i] = 0xff
	}
	return a
}

func TestRecycle(t *testing.T) {
	const size = 1 << 20
	b := offheap.NewBudget(0)
	release := b.Recycle()
	defer release()
	a := made(t, b, size)
	first := &a.Slice()[0]
	a.Free()
	require.Zero(t, b.InUse())
	require.EqualValues(t, size, offheap.Spare(b))

	// Recycled memory is divided: the new arrays are at its beginning and after it.
	low, high := made(t, b, size/4), made(t, b, size/2)
	require.Same(t, first, &low.Slice()[0])
	require.EqualValues(t, size/4, offheap.Spare(b))
	require.EqualValues(t, size*3/4, b.InUse())

	// Neighbors are joined again, in any order of freeing.
	high.Free()
	low.Free()
	require.EqualValues(t, size, offheap.Spare(b))
	whole := made(t, b, size)
	require.Same(t, first, &whole.Slice()[0])
	require.Zero(t, offheap.Spare(b))
	require.EqualValues(t, size, b.Peak())
	whole.Free()

	// An array that may stay smaller than its room gets no recycled memory.
	room, err := offheap.Reserve[byte](b, size)
	require.NoError(t, err)
	require.EqualValues(t, size, offheap.Spare(b))
	require.NoError(t, room.Grow(10_000))
	require.LessOrEqual(t, offheap.Spare(b)+b.InUse(), b.Peak())
	room.Free()
}

// TestRecycleWithinPeak: kept memory counts like used memory.
func TestRecycleWithinPeak(t *testing.T) {
	const size = 1 << 20
	b := offheap.NewBudget(3 * size)
	release := b.Recycle()
	defer release()
	a, c := made(t, b, size), made(t, b, size/2)
	a.Free()
	more := made(t, b, 2*size) // too large for what is kept
	require.EqualValues(t, 2*size+size/2, b.Peak())
	require.Zero(t, offheap.Spare(b))
	more.Free()
	require.EqualValues(t, 2*size, offheap.Spare(b))
	_, err := offheap.Make[byte](b, 3*size)
	require.ErrorAs(t, err, new(*offheap.LimitError))
	require.EqualValues(t, size/2, b.InUse())
	b.ResetPeak()
	require.Zero(t, offheap.Spare(b))
	c.Free()
}

func TestRecycleEnds(t *testing.T) {
	const size = 1 << 20
	b := offheap.NewBudget(0)
	made(t, b, size).Free()
	require.Zero(t, offheap.Spare(b), "nothing is kept before")
	outer, inner := b.Recycle(), b.Recycle()
	inner()
	inner()
	a := made(t, b, size)
	made(t, b, size).Free()
	require.EqualValues(t, size, offheap.Spare(b))
	outer()
	require.Zero(t, offheap.Spare(b))
	a.Free()
	require.Zero(t, offheap.Spare(b))
	(*offheap.Budget)(nil).Recycle()()
}

func TestRecycleConcurrently(t *testing.T) {
	b := offheap.NewBudget(0)
	release := b.Recycle()
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 100 {
				a, err := offheap.Make[uint32](b, 5000*(1+(i+w)%5))
				if err != nil {
					t.Error(err)
					return
				}
				for k, v := range a.Slice() {
					if v != 0 {
						t.Errorf("element %d is %d", k, v)
						return
					}
					a.Slice()[k] = uint32(w + 1)
				}
				a.Free()
			}
		})
	}
	group.Wait()
	require.Zero(t, b.InUse())
	release()
	require.Zero(t, offheap.Spare(b))
}
