package lazy_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/lazy"
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

// TestPanicStays: Get panics again instead of returning a zero value.
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

// TestGetStopped: a computation that a context stopped is repeated.
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

// TestTake: a taken value is computed again; a missing value can't be taken.
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

// TestTakeWaits: Take waits for a computation in progress, because nobody else would release its
// value.
func TestTakeWaits(t *testing.T) {
	var l lazy.Value[int]
	begun, end := make(chan struct{}), make(chan struct{})
	go func() { _, _ = l.Get(func() (int, error) { close(begun); <-end; return 7, nil }) }()
	<-begun
	time.AfterFunc(time.Millisecond, func() { close(end) })
	v, ok := l.Take()
	assert.True(t, ok)
	assert.Equal(t, 7, v)
}

// TestWaiterLeaves: a waiter may leave a computation that another caller started. The computation
// continues as long as somebody waits, even after its first caller has left.
func TestWaiterLeaves(t *testing.T) {
	var l lazy.Value[int]
	begun, end := make(chan struct{}), make(chan struct{})
	compute := func(ctx context.Context) (int, error) {
		close(begun)
		select {
		case <-end:
			return 7, ctx.Err()
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	first, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := l.GetContext(first, compute); left <- err }()
	<-begun
	got := make(chan int)
	for range 2 {
		waits := make(chan struct{}, 1)
		go func() {
			v, err := l.GetContext(noted{t.Context(), waits}, compute)
			assert.NoError(t, err)
			got <- v
		}()
		<-waits
	}
	waiter, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	_, err := l.GetContext(waiter, compute)
	assert.ErrorIs(t, err, context.Canceled)
	leave()
	assert.ErrorIs(t, <-left, context.Canceled)
	_, known := l.Known()
	assert.False(t, known)
	close(end)
	assert.Equal(t, 7, <-got)
	assert.Equal(t, 7, <-got)
}

// noted is a context that signals when somebody waits for its end.
type noted struct {
	context.Context
	waits chan<- struct{}
}

func (a noted) Done() <-chan struct{} {
	a.waits <- struct{}{}
	return a.Context.Done()
}

// TestLastLeaves: when the last waiter leaves, the computation is stopped and has ended; the next
// caller computes again.
func TestLastLeaves(t *testing.T) {
	var l lazy.Value[int]
	ctx, cancel := context.WithCancel(t.Context())
	ended := false
	_, err := l.GetContext(ctx, func(ctx context.Context) (int, error) {
		cancel()
		assert.ErrorIs(t, ctx.Err(), context.Canceled, "before anybody was told")
		<-ctx.Done()
		ended = true
		return 0, ctx.Err()
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, ended)
	_, err = l.GetContext(ctx, func(context.Context) (int, error) { return 0, nil })
	assert.ErrorIs(t, err, context.Canceled)
	v, err := l.GetContext(t.Context(), func(context.Context) (int, error) { return 8, nil })
	assert.NoError(t, err)
	assert.Equal(t, 8, v)
	v, err = l.GetContext(ctx, nil)
	assert.NoError(t, err, "what is there costs no time")
	assert.Equal(t, 8, v)
}

// TestPanicOfOthers: a panic reaches all callers that wait.
func TestPanicOfOthers(t *testing.T) {
	var l lazy.Value[int]
	for range 2 {
		assert.Panics(t, func() {
			_, _ = l.GetContext(t.Context(), func(context.Context) (int, error) { panic("broken") })
		})
	}
}

// TestLeaveTwice: a waiter that joins and leaves a computation being stopped does not stop it
// again.
func TestLeaveTwice(t *testing.T) {
	var l lazy.Value[int]
	begun, end := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := l.GetContext(ctx, func(ctx context.Context) (int, error) {
			close(begun)
			<-ctx.Done()
			<-end // stopping takes a while
			return 0, ctx.Err()
		})
		assert.ErrorIs(t, err, context.Canceled)
	})
	<-begun
	cancel()
	for range 8 {
		wg.Go(func() {
			short, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer stop()
			_, err := l.GetContext(short, func(context.Context) (int, error) { return 7, nil })
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	time.Sleep(60 * time.Millisecond)
	close(end)
	wg.Wait()
}

// TestFaults checks that a fault in a mapped file that was truncated is a panic in computations, too.
func TestFaults(t *testing.T) {
	var v lazy.Value[bool]
	isPanic, err := v.GetContext(t.Context(), func(context.Context) (bool, error) { return debug.SetPanicOnFault(true), nil })
	assert.NoError(t, err)
	assert.True(t, isPanic)
}
