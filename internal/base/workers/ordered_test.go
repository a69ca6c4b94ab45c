package workers_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/workers"
)

// TestOrdered: the pieces arrive in order for any number of workers, and their memory is reused.
func TestOrdered(t *testing.T) {
	for jobs := range 5 {
		for _, n := range []int{0, 1, 2, 100} {
			var got []int
			var fresh atomic.Int32
			err := workers.Ordered(t.Context(), jobs, n, func() int { return 0 }, func(_ int, piece int, reuse []int) ([]int, error) {
				if reuse == nil {
					fresh.Add(1)
				}
				return append(reuse[:0], piece), nil
			}, func(b []int) error { got = append(got, b...); return nil })
			require.NoError(t, err)
			require.Len(t, got, n)
			for i := range got {
				require.Equal(t, i, got[i])
			}
			assert.LessOrEqual(t, int(fresh.Load()), 2*max(jobs, 1))
		}
	}
}

// TestOrderedEnds: Ordered ends with an error of produce or take, with the context, and with a
// panic.
func TestOrderedEnds(t *testing.T) {
	none := func() struct{} { return struct{}{} }
	broken := errors.New("broken")
	run := func(ctx context.Context, make func(int) error, take func(int) error) error {
		return workers.Ordered(ctx, 3, 1000, none, func(_ struct{}, piece, _ int) (int, error) { return piece, make(piece) }, take)
	}
	fine := func(int) error { return nil }
	at := func(n int) func(int) error {
		return func(piece int) error {
			if piece == n {
				return broken
			}
			return nil
		}
	}
	require.ErrorIs(t, run(t.Context(), at(7), fine), broken)
	require.ErrorIs(t, run(t.Context(), fine, at(7)), broken)
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, run(ctx, fine, func(piece int) error {
		if piece == 5 {
			cancel()
		}
		return nil
	}), context.Canceled)
	assert.Panics(t, func() {
		_ = run(t.Context(), func(piece int) error {
			if piece == 9 {
				panic("no")
			}
			return nil
		}, fine)
	})
}

func ExampleOrdered() {
	none := func() struct{} { return struct{}{} }
	err := workers.Ordered(context.Background(), 2, 3, none,
		func(_ struct{}, piece int, _ string) (string, error) { return fmt.Sprint("piece ", piece), nil },
		func(s string) error { fmt.Println(s); return nil })
	fmt.Println(err)
	// Output:
	// piece 0
	// piece 1
	// piece 2
	// <nil>
}
