package ondumps_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestNilFilter checks that a nil Filter selects the same as the zero one.
func TestNilFilter(t *testing.T) {
	h, err := testdump.Open(t, "net10-zoo").Heap()
	require.NoError(t, err)
	ctx, o := context.Background(), heap.ScanOptions{}
	type answer struct {
		what  any
		stats heap.Stats
	}
	for name, ask := range map[string]func(*heap.Filter) answer{
		"Spans": func(f *heap.Filter) answer { return answer{what: h.Spans(f)} },
		"Stats": func(f *heap.Filter) answer {
			s, err := h.Stats(ctx, f, o)
			require.NoError(t, err)
			return answer{stats: s}
		},
		"Strings": func(f *heap.Filter) answer {
			l, s, err := h.Strings(ctx, f, o)
			require.NoError(t, err)
			return answer{l, s}
		},
		"ThinLocks": func(f *heap.Filter) answer {
			l, s, err := h.ThinLocks(ctx, f, o)
			require.NoError(t, err)
			return answer{l, s}
		},
		"Verify": func(f *heap.Filter) answer {
			v, err := h.Verify(ctx, f, o)
			require.NoError(t, err)
			return answer{what: v.Objects}
		},
		"Graph": func(f *heap.Filter) answer {
			n := 0
			s, err := h.Graph(ctx, f, heap.GraphOptions{ScanOptions: o}, func(node *heap.Node) error {
				n += len(node.References)
				return nil
			})
			require.NoError(t, err)
			require.NotZero(t, n)
			return answer{n, s}
		},
		"Sieve": func(f *heap.Filter) answer { return answer{what: heap.NewSieve(f).Pass(&heap.Object{Size: 24})} },
	} {
		t.Run(name, func(t *testing.T) {
			got, want := ask(nil), ask(&heap.Filter{})
			require.Equal(t, want.what, got.what)
			require.Equal(t, want.stats.Count, got.stats.Count)
			require.Equal(t, want.stats.Size, got.stats.Size)
		})
	}
}
