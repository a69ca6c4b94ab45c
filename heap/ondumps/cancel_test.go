package ondumps_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestCancel checks that every long walk ends with the context's error soon.
func TestCancel(t *testing.T) {
	const soon = 50 * time.Millisecond
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	_, err = h.Stats(context.Background(), nil, heap.ScanOptions{}) // opens lazily opened parts
	require.NoError(t, err)
	o := heap.ScanOptions{}
	for name, walk := range map[string]func(context.Context) error{
		"Stats":          func(ctx context.Context) error { _, err := h.Stats(ctx, nil, o); return err },
		"Strings":        func(ctx context.Context) error { _, _, err := h.Strings(ctx, nil, o); return err },
		"ThinLocks":      func(ctx context.Context) error { _, _, err := h.ThinLocks(ctx, nil, o); return err },
		"Verify":         func(ctx context.Context) error { _, err := h.Verify(ctx, nil, o); return err },
		"Sizes":          func(ctx context.Context) error { _, err := h.Sizes(ctx, o); return err },
		"SizeHistograms": func(ctx context.Context) error { _, err := h.SizeHistograms(ctx, o); return err },
		"Graph": func(ctx context.Context) error {
			_, err := h.Graph(ctx, nil, heap.GraphOptions{ScanOptions: o}, func(*heap.Node) error { return nil })
			return err
		},
		"Walk": func(ctx context.Context) (last error) {
			for _, last = range h.Walk(ctx, nil) {
			}
			return last
		},
		"Roots": func(ctx context.Context) (last error) {
			for _, last = range v.Roots(ctx) {
			}
			return last
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			testcase.Soon(t, soon, func() { require.ErrorIs(t, walk(ctx), context.Canceled) })
		})
	}
}

// TestWalk checks that Walk returns the objects of Objects that the filter selects, and ends when it is
// canceled.
func TestWalk(t *testing.T) {
	h, err := testdump.Open(t, "net10-zoo").Heap()
	require.NoError(t, err)
	var all []heap.Object
	for o, err := range h.Objects() {
		require.NoError(t, err)
		all = append(all, o)
	}
	var walked []heap.Object
	for o, err := range h.Walk(context.Background(), nil) {
		require.NoError(t, err)
		walked = append(walked, o)
	}
	require.Equal(t, all, walked)
	large := &heap.Filter{MinSize: 1000, Generations: []heap.Generation{heap.Generation0, heap.Generation2}}
	for o, err := range h.Walk(context.Background(), large) {
		require.NoError(t, err)
		require.GreaterOrEqual(t, o.Size, uint64(1000))
		require.Contains(t, large.Generations, h.Segment(o.Addr).Generation(o.Addr))
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	for o, err := range h.Walk(ctx, nil) {
		if n++; n == 10 {
			cancel()
		}
		if n == 11 {
			require.Zero(t, o)
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Equal(t, 11, n)
	cancel()
	for range h.Walk(context.Background(), nil) {
		break // must not be called again
	}
}
