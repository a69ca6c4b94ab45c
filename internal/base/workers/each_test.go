package workers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/workers"
)

func TestEach(t *testing.T) {
	for _, jobs := range []int{0, 1, 3, 100} {
		calls := make([]atomic.Int32, 37)
		require.NoError(t, workers.Each(t.Context(), jobs, len(calls), func(i int) { calls[i].Add(1) }))
		for i := range calls {
			assert.EqualValues(t, 1, calls[i].Load(), "%d of %d jobs", i, jobs)
		}
	}
	require.NoError(t, workers.Each(t.Context(), 4, 0, func(int) { t.Error("called") }))
}

func TestEachEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	calls := 0
	err := workers.Each(ctx, 1, 10, func(i int) {
		calls++
		if i == 3 {
			stop()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 4, calls)

	defer func() {
		p, ok := recover().(*workers.Panic)
		require.True(t, ok, "the panic reaches the caller")
		require.ErrorIs(t, p, errEach)
	}()
	_ = workers.Each(t.Context(), 2, 10, func(int) { panic(errEach) })
}

var errEach = errors.New("each")
