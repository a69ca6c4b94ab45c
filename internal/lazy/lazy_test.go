package lazy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/lazy"
)

func TestGet(t *testing.T) {
	var (
		l     lazy.Value[int]
		calls atomic.Int32
		wg    sync.WaitGroup
	)
	broken := errors.New("only half of it")
	for range 8 {
		wg.Go(func() {
			v, err := l.Get(func() (int, error) { calls.Add(1); return 21, broken })
			assert.Equal(t, 21, v)
			assert.ErrorIs(t, err, broken)
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, calls.Load())
}

// TestPanicStays: nobody is given the zero value of what was never computed.
func TestPanicStays(t *testing.T) {
	var l lazy.Value[*int]
	broken := errors.New("broken")
	for range 3 {
		func() {
			defer func() {
				err, _ := recover().(error)
				assert.ErrorIs(t, err, broken)
			}()
			v, err := l.Get(func() (*int, error) { panic(broken) })
			t.Errorf("got %v, %v", v, err)
		}()
	}
}

// TestGetStopped: a computation that a context stopped is done again.
func TestGetStopped(t *testing.T) {
	var l lazy.Value[int]
	_, err := l.Get(func() (int, error) { return 0, fmt.Errorf("stopped: %w", context.Canceled) })
	assert.ErrorIs(t, err, context.Canceled)
	for range 2 {
		v, err := l.Get(func() (int, error) { return 7, nil })
		assert.NoError(t, err)
		assert.Equal(t, 7, v)
	}
}

// TestTake: what was taken is computed again, and what there isn't can't be taken.
func TestTake(t *testing.T) {
	var l lazy.Value[int]
	_, ok := l.Take()
	assert.False(t, ok)
	n := 0
	count := func() (int, error) { n++; return n, nil }
	for want := 1; want <= 2; want++ {
		v, err := l.Get(count)
		assert.NoError(t, err)
		assert.Equal(t, want, v)
		v, ok = l.Take()
		assert.True(t, ok)
		assert.Equal(t, want, v)
	}
	_, _ = l.Get(func() (int, error) { return 0, errors.New("broken") })
	_, ok = l.Take()
	assert.False(t, ok, "an error stays")
}
