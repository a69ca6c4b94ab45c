package inuse_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/inuse"
)

var errGone = errors.New("it is closed")

// A book is returned when nobody reads it any more.
func Example() {
	gate := inuse.New(errors.New("the book is closed"))
	ctx, done, _ := gate.Use(context.Background())
	go func() {
		<-ctx.Done()
		fmt.Println("reader:", ctx.Err())
		done()
	}()
	gate.Close()
	fmt.Println("nobody reads")
	_, _, err := gate.Use(context.Background())
	fmt.Println("late reader:", err)
	// Output:
	// reader: the book is closed
	// nobody reads
	// late reader: the book is closed
}

// TestManyUsers: the resource exists while any admitted user works; Close admits no more users.
func TestManyUsers(t *testing.T) {
	gate, there := inuse.New(errGone), true
	var wg sync.WaitGroup
	started := make(chan struct{}, 8)
	for range 8 {
		wg.Go(func() {
			started <- struct{}{}
			for {
				_, done, err := gate.Use(t.Context())
				if err != nil {
					assert.ErrorIs(t, err, errGone)
					return
				}
				assert.True(t, there)
				done()
				done() // the second time it does nothing
			}
		})
	}
	for range 8 {
		<-started
	}
	assert.True(t, gate.Close())
	there = false // -race detects a user that still reads
	assert.False(t, gate.Close())
	wg.Wait()
}

// TestWhoEnds: when the caller's context ends, the use ends with its error, not with the gate's.
func TestWhoEnds(t *testing.T) {
	gate := inuse.New(errGone)
	outer, cancel := context.WithCancel(t.Context())
	ctx, done, err := gate.Use(outer)
	require.NoError(t, err)
	require.NoError(t, ctx.Err())
	cancel()
	<-ctx.Done()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	done()
	_, done, err = gate.Use(t.Context())
	require.NoError(t, err)
	done()
	require.True(t, gate.Close())
}

// TestDerived: contexts derived from a user's context end with the gate's error, too.
func TestDerived(t *testing.T) {
	gate := inuse.New(errGone)
	ctx, done, err := gate.Use(t.Context())
	require.NoError(t, err)
	derived, cancel := context.WithCancel(ctx)
	defer cancel()
	left := make(chan error)
	go func() {
		<-derived.Done()
		left <- derived.Err()
		done()
	}()
	assert.NoError(t, ctx.Err())
	go gate.Close()
	assert.ErrorIs(t, <-left, errGone)
}

// TestEndsAtOnce: a context has ended when its outer context has, though nothing has run yet.
func TestEndsAtOnce(t *testing.T) {
	outer, cancel := context.WithCancel(t.Context())
	ctx, done, err := inuse.New(errGone).Use(outer)
	require.NoError(t, err)
	cancel()
	assert.ErrorIs(t, ctx.Err(), context.Canceled)
	<-ctx.Done()
	done()
}
